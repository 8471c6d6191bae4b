import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Lockfile, ReadLockfile } from '../../../hub/lockfiles/lockfile.ts';
import { uvLock } from '../../../hub/lockfiles/uv.ts';
import { yarnLock } from '../../../hub/lockfiles/yarn.ts';
import {
  berryLock,
  closureOf,
  folderOf,
  RANGES,
  repositories,
  uvLockText,
  viewOf,
  yarn1Lock,
  type Repository,
} from './estates.ts';

const KINDS: Readonly<
  Record<string, { text(repository: Repository): string; read(content: Buffer): ReadLockfile }>
> = {
  'yarn 1': { text: yarn1Lock, read: yarnLock.parse },
  'yarn 2 and later': { text: berryLock, read: yarnLock.parse },
  uv: { text: uvLockText, read: uvLock.parse },
};

function lockfileOf(read: ReadLockfile): Lockfile {
  if (read.kind === 'whole') throw new Error(read.why);
  return read.lockfile;
}

for (const [name, { text, read }] of Object.entries(KINDS)) {
  const lockfile = (repository: Repository): Lockfile => lockfileOf(read(Buffer.from(text(repository))));

  test(`a lockfile of ${name} with every workspace is what it was`, () => {
    fc.assert(
      fc.property(repositories, (repository) => {
        const also = repository.workspaces.map((_, one) => folderOf(one));
        const slice = lockfile(repository).slice('.', viewOf(repository), also);
        assert.deepEqual(slice.problems, []);
        assert.equal(slice.text(), text(repository));
      }),
    );
  });

  test(`a cut lockfile of ${name} holds what its workspace installs, and nothing else`, () => {
    fc.assert(
      fc.property(repositories, fc.nat(), (repository, chosen) => {
        const from = chosen % repository.workspaces.length;
        const { packages, workspaces } = closureOf(repository, from);
        const slice = lockfile(repository).slice(folderOf(from), viewOf(repository));
        const linked = [...workspaces].filter((one) => one !== 0 && one !== from);
        assert.deepEqual(slice.workspaces, linked.map(folderOf).sort());
        const names = [...slice.packages].filter((one) => /^p\d+$/.test(one));
        assert.deepEqual(names.sort(), Array.from(packages, (one) => `p${one}`).sort());
        const again = lockfileOf(read(Buffer.from(slice.text()))).slice(folderOf(from), viewOf(repository));
        assert.equal(again.text(), slice.text());
      }),
    );
  });

  test(`a package that a workspace installs changes the cut lockfile of ${name}, any other changes nothing`, () => {
    fc.assert(
      fc.property(repositories, fc.nat(), fc.nat(), (repository, chosen, bumped) => {
        const from = chosen % repository.workspaces.length;
        const at = bumped % repository.packages.length;
        const packages = repository.packages.map((patch, one) => (one === at ? patch + 1 : patch));
        const [before, after] = [repository, { ...repository, packages }].map((one) =>
          lockfile(one).slice(folderOf(from), viewOf(one)),
        );
        const changed = closureOf(repository, from).packages.has(at);
        assert.equal(before?.text() !== after?.text(), changed);
        assert.equal(before?.key !== after?.key, changed);
      }),
    );
  });

  test(`what a workspace depends on changes no lockfile of ${name} that is cut for others`, () => {
    fc.assert(
      fc.property(
        repositories,
        fc.tuple(fc.nat(), fc.nat(), fc.nat()),
        (repository, [chosen, other, more]) => {
          const from = chosen % repository.workspaces.length;
          const changed = other % repository.workspaces.length;
          fc.pre(!closureOf(repository, from).workspaces.has(changed));
          const packages = [{ to: more % repository.packages.length, range: RANGES[more % 2] ?? '' }];
          const workspaces = repository.workspaces.map((one, at) =>
            at === changed ? { ...one, packages } : one,
          );
          const [before, after] = [repository, { ...repository, workspaces }].map((one) =>
            lockfile(one).slice(folderOf(from), viewOf(one)),
          );
          assert.equal(after?.text(), before?.text());
          assert.equal(after?.key, before?.key);
        },
      ),
    );
  });
}
