import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Answer, ObjectReader } from '../../../hub/git/objects.ts';
import { makeGitRepository } from '../../../hub/git/repository.ts';

/** Objects by id; a test may put another content under an id. */
class Objects implements ObjectReader {
  readonly known = new Map<string, Answer>();
  put(type: string, content: Buffer): string {
    const id = createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
    this.known.set(id, { kind: 'object', type, content });
    return id;
  }
  read(id: string): Promise<Answer> {
    return Promise.resolve(this.known.get(id) ?? { kind: 'missing' });
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

const WHO = 'A <a@b> 1 +0000';

function written(): { readonly objects: Objects; readonly ids: Record<'blob' | 'tree' | 'commit', string> } {
  const objects = new Objects();
  const blob = objects.put('blob', Buffer.from('one'));
  const tree = objects.put('tree', Buffer.concat([Buffer.from('100644 a\0'), Buffer.from(blob, 'hex')]));
  const commit = objects.put('commit', Buffer.from(`tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\nOne\n`));
  return { objects, ids: { blob, tree, commit } };
}

test('content that is not what its id says is damage, whatever it is the content of', async () => {
  for (const what of ['blob', 'tree', 'commit'] as const) {
    const { objects, ids } = written();
    const other = written();
    const { [what]: id } = ids;
    const right = objects.known.get(id);
    assert.ok(right?.kind === 'object');
    const content = Buffer.from(right.content);
    content[content.length - 1] = (content.at(-1) ?? 0) ^ 1;
    objects.known.set(id, { ...right, content });
    const repository = makeGitRepository({ name: 'r', objects });
    const opened = await repository.open(ids.commit, 'refs/heads/main');
    if (what === 'blob') {
      assert.ok(opened.kind === 'opened');
      await assert.rejects(opened.tree.blob(id), /not what its id says/);
      assert.ok(repository.damaged());
    } else assert.ok(opened.kind === 'failed' && opened.state === 'Corrupt', what);
    const whole = makeGitRepository({ name: 'r', objects: other.objects });
    assert.equal((await whole.open(ids.commit, 'refs/heads/main')).kind, 'opened');
  }
});

test('a listing reads only the folders that changed', async () => {
  const { objects, ids } = written();
  const folder = (name: string, tree: string): Buffer =>
    Buffer.concat([Buffer.from(`40000 ${name}\0`), Buffer.from(tree, 'hex')]);
  const commitOf = (...folders: readonly Buffer[]): string => {
    const tree = objects.put('tree', Buffer.concat(folders));
    return objects.put('commit', Buffer.from(`tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\nx\n`));
  };
  const second = objects.put(
    'tree',
    Buffer.concat([Buffer.from('100755 b\0'), Buffer.from(ids.blob, 'hex')]),
  );
  const first = commitOf(folder('x', ids.tree), folder('y', ids.tree));
  const next = commitOf(folder('x', ids.tree), folder('y', second));
  const read: string[] = [];
  const counting: ObjectReader = {
    read: (id) => (read.push(id), objects.read(id)),
    close: () => objects.close(),
  };
  const repository = makeGitRepository({ name: 'r', objects: counting });
  const before = await repository.open(first, 'r');
  read.length = 0;
  const after = await repository.open(next, 'r');
  assert.ok(before.kind === 'opened' && after.kind === 'opened');
  assert.equal(read.length, 3, 'the commit, its root, and y');
  const [old, now] = [await before.tree.entries(), await after.tree.entries()];
  assert.deepEqual(
    now.map(({ path }) => path),
    ['x/a', 'y/b'],
  );
  assert.equal(now[0], old[0], 'what did not change is the same entry');
});
