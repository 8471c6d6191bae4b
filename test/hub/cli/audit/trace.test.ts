import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsOf, printFindings } from '../../../../hub/cli/audit/findings.ts';
import { readTrace } from '../../../../hub/cli/audit/trace.ts';

const TRACE = new Map([
  [
    10,
    `execve("/usr/bin/pulumi", ["pulumi"], 0x7ff /* 3 vars */) = 0
openat(AT_FDCWD</repo/apps/web>, "../own", O_RDONLY) = 3</repo/apps/own>
clone3({flags=CLONE_VM}, 88) = 11
+++ exited with 0 +++
`,
  ],
  [
    11,
    `getdents64(4</repo/apps>, 0x55 /* 4 entries */, 32768) = 96
vfork() = 12
`,
  ],
  [
    12,
    `execve("/usr/bin/node", ["node"], 0x7ff /* 3 vars */) = 0
access("../../README.md", F_OK) = 0
newfstatat(3</repo>, "", {st_mode=S_IFDIR|0755, ...}, AT_EMPTY_PATH) = 0
newfstatat(5</repo/services>, "a \\"b\\"", {st_mode=S_IFREG|0644, ...}, 0) = 0
chdir("/repo/services") = 0
stat("\\303\\244.txt", {st_mode=S_IFREG|0644, ...}) = 0
statx(AT_FDCWD</repo/apps/web>, "index.js", 0, STATX_MODE, {}) = 0
getdents64(4</repo/services>, 0x55 /* 4 entries */, 32768) = 96
--- SIGCHLD {si_signo=SIGCHLD} ---
`,
  ],
]);

test('a trace tells what programs looked at, from where each of them was, and not what Pulumi does for itself', () => {
  const asked = readTrace(TRACE, '/repo/apps/web').map(({ path, list }) => `${path}${list ? ' list' : ''}`);
  assert.deepEqual(asked.sort(), [
    '/repo/README.md',
    '/repo/apps/web/index.js',
    '/repo/services list',
    '/repo/services/a "b"',
    '/repo/services/ä.txt',
  ]);
});

test('findings are what is undeclared among it, with the lines that add it', () => {
  const asked = readTrace(TRACE, '/repo/apps/web');
  const findings = (surroundings: Parameters<typeof findingsOf>[1]['surroundings']) =>
    findingsOf(asked, { root: '/repo', surroundings });
  assert.deepEqual(findings({}), []);
  assert.deepEqual(findings({ '.': { undeclared: ['README.md', 'services/'] } }), [
    { path: 'README.md', include: '/README.md' },
    { path: 'services/', include: '/services/' },
  ]);
  assert.deepEqual(findings({ services: { closed: true } }), [{ path: 'services/', include: '/services/' }]);
  const [manifest] = findings({ 'apps/web': { withheld: ['index.js'] } });
  assert.deepEqual(manifest, { path: 'apps/web/index.js' });
  assert.match(printFindings(findings({ '.': { undeclared: ['README.md'] } })), /\n {2}- "\/README\.md"\n$/);
  assert.match(printFindings([]), /nothing that is not declared/);
});
