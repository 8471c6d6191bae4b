/** What Git LFS keeps, from a commit to the contents of an artifact, by the real git-lfs. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { buildArtifact, UnbuildableError } from '../../../hub/artifact.ts';
import { readCatalog } from '../../../hub/catalog/read.ts';
import { makeAccess, type Access } from '../../../hub/git/access.ts';
import type { Credentials } from '../../../hub/git/credentials.ts';
import { QUOTA } from '../../../hub/git/folder.ts';
import { makeLarge } from '../../../hub/git/large.ts';
import type { RepositorySettings, Tree } from '../../../hub/git/source.ts';
import { makeMeasure, type Measure } from '../../../hub/measure.ts';
import type { Wanted } from '../../../hub/placement.ts';
import type { Measured } from '../../../hub/survey.ts';
import { limits } from '../../../shared/limits.ts';
import { gitEnvironment, makeRepository, type Changes, type Repository } from '../../harness/git.ts';
import { makeLfs, type LfsServer } from '../../harness/lfs.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { serveGit, type GitServer } from '../../harness/serve.ts';
import { tempFolder } from '../../harness/temp.ts';
import { gitLfs } from '../../harness/tools.ts';
import { until } from '../../harness/until.ts';
import { makePlacement, NOW } from '../make.ts';
import { first, rigOf, settings, type Rig } from './rig.ts';

const PROJECT = 'name: web\nruntime: yaml\n';
const ATTRIBUTES = '*.bin filter=lfs diff=lfs merge=lfs -text\n';

interface Place {
  readonly repository: Repository;
  readonly server: GitServer;
  readonly lfs: LfsServer;
}

/** A repository with a server of Git LFS where git-lfs looks for it. */
async function placeOf(owner: Owner): Promise<Place> {
  const repository = await makeRepository(owner);
  const server = await serveGit(owner, repository);
  const lfs = makeLfs(`${server.url}.git/info/lfs`);
  server.delegate(`${new URL(server.url).pathname}.git/info/lfs/`, lfs.handler);
  return { repository, server, lfs };
}

const commit = ({ repository }: Place, changes: Changes): Promise<string> =>
  repository.commit('Change', {
    'stacks/web/Pulumi.yaml': PROJECT,
    'stacks/web/.gitattributes': ATTRIBUTES,
    ...changes,
  });

interface Seen extends Measured {
  readonly tree: Tree;
  readonly measure: Measure;
}

/** `lfs`: a program that says this of its version is git-lfs; without output: it fails. Default: the real one. */
const sourcesOf = async (
  owner: Owner,
  url: string,
  { lfs, ...more }: Partial<RepositorySettings> & { readonly lfs?: string } = {},
): Promise<Rig> => {
  const programs = lfs === undefined ? await gitLfs() : await pretended(owner, lfs);
  const PATH = [programs, process.env['PATH']].join(delimiter);
  const git = { program: 'git', environment: { PATH, TOKEN: 'canary-token' } };
  return rigOf(owner, [settings(url, more)], { git });
};

async function pretended(owner: Owner, version: string): Promise<string> {
  const folder = await tempFolder(owner, 'programs');
  const script = `#!/bin/sh\n[ -n "${version}" ] && echo "${version}"\n`;
  await writeFile(join(folder, 'git-lfs'), script, { mode: 0o755 });
  return folder;
}

/** What the stack of the newest commit comes to. */
async function measured(rig: Rig, measure = makeMeasure()): Promise<Seen> {
  const { tree, message } = await first(rig);
  assert.ok(tree !== undefined, message);
  const content = Buffer.from(PROJECT);
  const project = { repository: 'fleet', trust: 'fleet', path: 'stacks/web/Pulumi.yaml', content } as const;
  const catalog = readCatalog([project], NOW);
  return { ...(await measure.all([makePlacement({})], catalog, new Map([['fleet', tree]]))), tree, measure };
}

function theOne({ wanted, refused }: Measured): Wanted {
  assert.ok(wanted[0] !== undefined, refused[0]?.reason.text);
  return wanted[0];
}

/** The contents of the artifact by path. */
async function shipped(seen: Seen): Promise<Record<string, string>> {
  const wanted = theOne(seen);
  const contents = seen.measure.blobsOf(seen.tree, wanted);
  await buildArtifact(contents, wanted.files, Buffer.alloc(32));
  const read = wanted.files
    .filter(({ mode }) => mode !== '160000')
    .map(async ({ path, id }) => [path, (await contents.blob(id)).toString()] as const);
  return Object.fromEntries(await Promise.all(read));
}

const reasonOf = ({ refused }: Measured): string => refused[0]?.reason.text ?? '';

test('the content of a pointer is shipped in its place, with the credentials of the repository', async (t) => {
  const place = await placeOf(t);
  place.server.protect({ username: 'x-access-token', password: 'canary-token' });
  await commit(place, { 'stacks/web/big.bin': place.lfs.add('the content') });
  const rig = await sourcesOf(t, place.server.url, { auth: { token: { env: 'TOKEN' } } });
  const seen = await measured(rig);
  assert.equal((await shipped(seen))['stacks/web/big.bin'], 'the content');
  const asked = place.lfs.requests.length;
  assert.equal((await shipped(seen))['stacks/web/big.bin'], 'the content');
  assert.equal(place.lfs.requests.length, asked, 'what was fetched is kept');
  for (const entry of await readdir(rig.folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      assert.doesNotMatch(await readFile(join(entry.parentPath, entry.name), 'latin1'), /canary/, entry.name);
});

test('another content is another digest; the same content behind another pointer is not', async (t) => {
  const place = await placeOf(t);
  const rig = await sourcesOf(t, place.server.url);
  const digest = async (pointer: string): Promise<string> => {
    await commit(place, { 'stacks/web/big.bin': pointer });
    return theOne(await measured(rig)).inputDigest;
  };
  const one = await digest(place.lfs.add('one'));
  assert.notEqual(await digest(place.lfs.add('two')), one);
  assert.equal(await digest(place.lfs.add('one').replaceAll('\n', '\r\n')), one);
});

test('a pointer that is marked from now on is a change, wherever the mark stands', async (t) => {
  const place = await placeOf(t);
  const pointer = place.lfs.add('the content');
  const rig = await sourcesOf(t, place.server.url);
  const measure = makeMeasure();
  await commit(place, { 'stacks/web/.gitattributes': null, 'stacks/web/big.bin': pointer });
  const before = await measured(rig, measure);
  assert.equal((await shipped(before))['stacks/web/big.bin'], pointer, 'it is shipped as it is');
  const warned = await measured(rig, measure);
  assert.match(warned.warnings[0]?.text ?? '', /stacks\/web\/big\.bin is a Git LFS pointer, but no/);
  await commit(place, { 'stacks/web/.gitattributes': null, '.gitattributes': ATTRIBUTES });
  const after = await measured(rig, measure);
  assert.deepEqual(after.warnings, []);
  assert.notEqual(theOne(after).inputDigest, theOne(before).inputDigest);
  assert.equal((await shipped(after))['stacks/web/big.bin'], 'the content');
});

test('a content that is not what its pointer says is never shipped', async (t) => {
  const place = await placeOf(t);
  const rig = await sourcesOf(t, place.server.url);
  for (const instead of ['the Content', 'the content and more', '']) {
    const content = `the content ${instead.length}`;
    await commit(place, { 'stacks/web/big.bin': place.lfs.add(content) });
    place.lfs.spoil(content, instead);
    await assert.rejects(shipped(await measured(rig)), /stacks\/web\/big\.bin/);
  }
});

test('a content that the server does not have is said with its path', async (t) => {
  const place = await placeOf(t);
  await commit(place, { 'stacks/web/big.bin': makeLfs('').add('elsewhere') });
  const seen = await measured(await sourcesOf(t, place.server.url));
  await assert.rejects(shipped(seen), /Git LFS does not give stacks\/web\/big\.bin: .*not exist/);
});

test('what is too large by its pointer alone is named and not asked for', async (t) => {
  const place = await placeOf(t);
  const pointer = place.lfs.add('x').replace('size 1', `size ${limits.artifactBytes + 1}`);
  await commit(place, { 'stacks/web/big.bin': pointer });
  await assert.rejects(shipped(await measured(await sourcesOf(t, place.server.url))), (error) => {
    assert.ok(error instanceof UnbuildableError);
    assert.match(error.message, /the biggest: stacks\/web\/big\.bin \(256\.0 MiB\)/);
    return true;
  });
  assert.deepEqual(place.lfs.requests, []);
});

async function damage(file: string): Promise<void> {
  await chmod(file, 0o600);
  await writeFile(file, 'the Content');
}

test('a damaged content on disk is fetched anew', async (t) => {
  const place = await placeOf(t);
  await commit(place, { 'stacks/web/big.bin': place.lfs.add('the content') });
  const rig = await sourcesOf(t, place.server.url);
  const seen = await measured(rig);
  await shipped(seen);
  for (const entry of await readdir(rig.folder, { recursive: true, withFileTypes: true }))
    if (/^[0-9a-f]{64}$/.test(entry.name)) await damage(join(entry.parentPath, entry.name));
  assert.equal((await shipped(seen))['stacks/web/big.bin'], 'the content');
});

test('without git-lfs, and without the git program, a pointer is refused with the remedy', async (t) => {
  const place = await placeOf(t);
  await commit(place, { 'stacks/web/big.bin': place.lfs.add('the content') });
  const without = await measured(await sourcesOf(t, place.server.url, { lfs: '' }));
  assert.match(reasonOf(without), /web\/big\.bin is a Git LFS pointer; .*: install git-lfs there/);
  const old = await measured(await sourcesOf(t, place.server.url, { lfs: 'git-lfs/2.13.3 (GitHub)' }));
  assert.match(reasonOf(old), /git-lfs is version 2\.13\.3, older than 3\.0\.0 where the hub runs/);
  const isomorphic = await measured(await sourcesOf(t, place.server.url, { driver: 'isomorphic' }));
  assert.match(reasonOf(isomorphic), /web\/big\.bin is a Git LFS pointer; .* install git and git-lfs/);
});

test('a committed address on another host is refused, and is not asked', async (t) => {
  const [place, other] = [await placeOf(t), await placeOf(t)];
  place.server.protect({ username: 'x-access-token', password: 'canary-token' });
  const pointer = other.lfs.add('the content');
  const config = (url: string): string => `[lfs]\n\turl = ${url}\n`;
  const elsewhere = `${other.server.url}.git/info/lfs`;
  await commit(place, { 'stacks/web/big.bin': pointer, '.lfsconfig': config(elsewhere) });
  const auth = { token: { env: 'TOKEN' } };
  const rig = await sourcesOf(t, place.server.url, { auth });
  assert.match(
    reasonOf(await measured(rig)),
    /\.lfsconfig sends Git LFS to http:.* take it out of \.lfsconfig/,
  );
  assert.deepEqual(other.server.requests, []);

  const allow = [other.server.url];
  const allowed = await sourcesOf(t, place.server.url, { auth, submodules: { allow } });
  assert.equal((await shipped(await measured(allowed)))['stacks/web/big.bin'], 'the content');
  assert.ok(other.server.requests.every(({ authorization }) => authorization === undefined));

  const own = new URL('/kept', place.server.url).href;
  const lfs = makeLfs(own);
  place.server.delegate('/kept/', lfs.handler);
  lfs.add('the content');
  await commit(place, { '.lfsconfig': config(own) });
  assert.equal((await shipped(await measured(rig)))['stacks/web/big.bin'], 'the content');
});

test('the Git LFS of a repository on this machine is read in place', async (t) => {
  const place = await placeOf(t);
  await commit(place, { 'stacks/web/big.bin': place.lfs.add('the content') });
  const seen = await measured(await sourcesOf(t, place.repository.folder, { lfs: '' }));
  await assert.rejects(
    shipped(seen),
    /stacks\/web\/big\.bin is not in the Git LFS of .*: run “git lfs fetch”/,
  );
  await place.repository.git('config', 'lfs.url', `${place.server.url}.git/info/lfs`);
  const PATH = [await gitLfs(), process.env['PATH']].join(delimiter);
  const cwd = place.repository.folder;
  await promisify(execFile)('git-lfs', ['fetch'], { cwd, env: { ...gitEnvironment(), PATH } });
  assert.equal((await shipped(seen))['stacks/web/big.bin'], 'the content');
});

test('a content in an allowed submodule is asked for where the submodule is', async (t) => {
  const [place, library] = [await placeOf(t), await placeOf(t)];
  const pointer = library.lfs.add('of the library');
  const id = await library.repository.commit('Lib', { '.gitattributes': ATTRIBUTES, 'big.bin': pointer });
  const modules = `[submodule "m"]\n\tpath = stacks/web/lib\n\turl = ${library.server.url}\n`;
  await commit(place, { '.gitmodules': modules, 'stacks/web/big.bin': place.lfs.add('of the program') });
  const { git } = place.repository;
  await git('update-index', '--add', '--cacheinfo', `160000,${id},stacks/web/lib`);
  await git('commit', '--quiet', '--message', 'Link');
  const submodules = { allow: [library.server.url] };
  const contents = await shipped(await measured(await sourcesOf(t, place.server.url, { submodules })));
  assert.equal(contents['stacks/web/lib/big.bin'], 'of the library');
  assert.equal(contents['stacks/web/big.bin'], 'of the program');
});

test('a slow server keeps nobody waiting, and what it brings later is there', async (t) => {
  const place = await placeOf(t);
  const folder = await tempFolder(t, 'lfs');
  const git = {
    program: 'git',
    environment: { PATH: [await gitLfs(), process.env['PATH']].join(delimiter) },
  };
  const accessFor = (credentials: Credentials): Access =>
    makeAccess({ credentials, environment: {}, folder: join(folder, 'keys') });
  const remote = { kind: 'http', url: place.server.url } as const;
  const large = makeLarge({
    ...{ git, remote, accessFor, quota: QUOTA, graceMs: 1 },
    access: accessFor({ kind: 'none' }),
    folder: join(folder, 'one.lfs'),
    file: join(folder, 'lfsconfig'),
    leave: () => assert.fail('no address is committed'),
    onFetch: () => undefined,
  });
  atEnd(t, () => large.close());
  const size = 'the content'.length;
  const oid = /sha256:(\w+)/.exec(place.lfs.add('the content'))?.[1] ?? '';
  const file = { path: 'big.bin', oid, size };
  const release = place.lfs.hold();
  const files = await large.of(NO_TREE);
  await assert.rejects(files.begin([file])(file), /big\.bin is on its way from Git LFS \(11 bytes\)/);
  release();
  const content = await until('the content', () => files.begin([file])(file));
  assert.equal(content.toString(), 'the content');
  assert.equal(place.lfs.requests.filter((request) => request.startsWith('content')).length, 1);
});

const NO_TREE: Tree = {
  repository: 'fleet',
  ref: 'refs/heads/main',
  commit: { id: 'c'.repeat(40), subject: '', author: '', time: 0 },
  entries: async () => [],
  blob: () => assert.fail('nothing is read'),
};
