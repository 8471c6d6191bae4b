import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { extract } from 'tar-stream';
import { buildArtifact, UnbuildableError } from '../../hub/artifact.ts';
import { OversizedBlobError, type FileMode, type TreeEntry } from '../../hub/git/source.ts';
import type { Contents } from '../../hub/large.ts';
import { limits } from '../../shared/limits.ts';
import { open } from '../../shared/seal.ts';

const SECRET = Buffer.alloc(32, 7);

interface File {
  readonly path: string;
  readonly mode: FileMode;
  readonly content: string;
}

function storeOf(files: readonly File[]): {
  tree: Contents;
  entries: TreeEntry[];
} {
  const idOf = (content: string): string => createHash('sha1').update(content).digest('hex');
  const contents = new Map(files.map(({ content }) => [idOf(content), Buffer.from(content)]));
  const blob = (id: string): Promise<Buffer> => {
    const found = contents.get(id);
    return found === undefined
      ? Promise.reject(new Error(`object ${id} is missing`))
      : Promise.resolve(found);
  };
  return {
    tree: { blob, sizeOf: () => undefined },
    entries: files.map(({ path, mode, content }) => ({ path, mode, id: idOf(content) })),
  };
}

async function tarOf(files: readonly File[]): Promise<Buffer> {
  const { tree, entries } = storeOf(files);
  const sealed = await buildArtifact(tree, entries, SECRET);
  return open(sealed.stored, sealed.ref);
}

async function listed(tar: Buffer): Promise<string[]> {
  const reading = extract();
  const rows: string[] = [];
  reading.end(tar);
  for await (const entry of reading) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    const { name, type, mode, linkname, uid, gid, mtime } = entry.header;
    assert.deepEqual([uid, gid, mtime.getTime()], [0, 0, 0]);
    rows.push([name, type, mode.toString(8), linkname ?? Buffer.concat(chunks).toString()].join(' '));
  }
  return rows;
}

const LONG = `${'folder/'.repeat(40)}file`;
const FILES: readonly File[] = [
  { path: 'b', mode: '100755', content: '#!/bin/sh' },
  { path: 'a/ü 🚀\n', mode: '100644', content: 'ü' },
  { path: 'empty', mode: '100644', content: '' },
  { path: 'l', mode: '120000', content: '../x' },
  { path: LONG, mode: '100644', content: 'deep' },
  { path: 'long link', mode: '120000', content: LONG },
];

test('files come out as they went in', async () => {
  assert.deepEqual(
    (await listed(await tarOf(FILES))).sort(),
    [
      'a/ü 🚀\n file 644 ü',
      'b file 755 #!/bin/sh',
      'empty file 644 ',
      `l symlink 777 ../x`,
      `${LONG} file 644 deep`,
      `long link symlink 777 ${LONG}`,
    ].sort(),
  );
});

test('a submodule is an empty folder, and its pointer is in the bytes', async () => {
  const entry = (id: string): TreeEntry => ({ path: 'v', mode: '160000', id: id.repeat(40) });
  const { tree } = storeOf([]);
  const one = await buildArtifact(tree, [entry('1')], SECRET);
  const two = await buildArtifact(tree, [entry('2')], SECRET);
  assert.notEqual(one.ref.sha256, two.ref.sha256);
  assert.deepEqual(await listed(open(one.stored, one.ref)), ['v directory 755 ']);
});

const name = fc.constantFrom('a', 'b', 'c/d', 'c/e', 'ü', LONG);
const file = fc.record({
  path: name,
  mode: fc.constantFrom<FileMode[]>('100644', '100755', '120000'),
  content: fc.constantFrom('x', 'y', 'x\n'),
});
const lists = fc.uniqueArray(file, { selector: (each) => each.path, maxLength: 5 });

test('equal lists give equal bytes, and only they', async () => {
  const key = (list: readonly File[]): string =>
    JSON.stringify(
      [...list]
        .sort((a, b) => (a.path < b.path ? -1 : 1))
        .map((each) => [each.path, each.mode, each.content]),
    );
  await fc.assert(
    fc.asyncProperty(lists, lists, async (one, other) => {
      const tar = await tarOf(one);
      assert.ok(tar.equals(await tarOf([...one].reverse())));
      assert.equal(tar.equals(await tarOf(other)), key(one) === key(other));
    }),
    { numRuns: 200 },
  );
});

test('what cannot be read is an error, never a file less', async () => {
  const { entries } = storeOf(FILES);
  await assert.rejects(buildArtifact(storeOf([]).tree, entries, SECRET), /is missing/);
});

test('too large: the ten biggest are named', async () => {
  const huge = limits.artifactBytes + 1;
  const tree = {
    blob: (id: string): Promise<Buffer> =>
      id === 'huge'
        ? Promise.reject(new OversizedBlobError(id, huge))
        : Promise.resolve(Buffer.alloc(Number(id))),
    sizeOf: () => undefined,
  };
  const entries = [
    ...Array.from({ length: 12 }, (_, n): TreeEntry => ({
      path: `f${n}`,
      mode: '100644',
      id: String(n * 1024 * 1024),
    })),
    { path: 'huge', mode: '100644', id: 'huge' } as const,
  ];
  await assert.rejects(buildArtifact(tree, entries, SECRET), (error) => {
    assert.ok(error instanceof UnbuildableError);
    assert.match(
      error.message,
      /more than 256\.0 MiB; the biggest: huge \(256\.0 MiB\), f11 \(11\.0 MiB\), .*f3 \(3\.0 MiB\)$/,
    );
    return true;
  });
});

test('a link without a usable target cannot be carried', async () => {
  await assert.rejects(tarOf([{ path: 'l', mode: '120000', content: '' }]), UnbuildableError);
});
