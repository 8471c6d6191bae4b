/** Which files of this project may do what; the rules themselves are beside it. */

/** Programs of a sample repository that the demo writes: they follow their own project's settings. */
export const SAMPLES = /^deploy\/local\/demo\/port\//;

const files = (folder: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `${folder}/${name}.ts`);

/**
 * Files that touch the world: disk, network, processes, timers, clocks, chance. Everything else is a function of its
 * arguments and is tested with tables. A new line here is a decision.
 */
export const WORLD: readonly string[] = [
  // The hub: Git, broker and disk at its edges, and what turns its loops.
  ...files('hub', 'batch', 'follow', 'gather', 'lease', 'loop', 'main', 'start', 'statefollow', 'storefiles'),
  ...files('hub/api', 'api', 'sse', 'watch'),
  ...files('hub/cli', 'affected', 'compiled', 'validate'),
  ...files('hub/offline', 'revision', 'worktree'),
  ...files(
    'hub/git',
    'accepted',
    'access',
    'command',
    'configfile',
    'descent',
    'download',
    'folder',
    'gitfetch',
    'githubapp',
    'gitlfs',
    'http',
    'isomorphic',
    'large',
    'largestore',
    'local',
    'members',
    'native',
    'objects',
  ),
  ...files('hub/cli/audit', 'declared', 'main', 'preview'),
  ...files('hub/git', 'obtain', 'poller', 'readobject', 'thread', 'tips', 'watch', 'worker'),
  // The agent: the cluster's files and processes, the broker, and what turns its loops.
  ...files(
    'agent',
    'artifacts',
    'build',
    'finish',
    'folders',
    'gatekeeper',
    'health',
    'holders',
    'key',
    'line',
    'machine',
  ),
  ...files(
    'agent',
    'lay',
    'outbox',
    'poison',
    'receive',
    'reclaim',
    'reconcile',
    'recover',
    'secrets',
    'speak',
    'start',
  ),
  ...files('agent', 'sweep', 'transcript', 'waker', 'workspace'),
  ...files('agent/dependencies', 'cache', 'links', 'lock', 'programs', 'stage', 'start', 'python'),
  ...files('agent/ledger', 'cell', 'file'),
  ...files('agent/pulumi', 'cli', 'version'),
  ...files('agent/runner', 'gate', 'processes', 'stop', 'watch'),
  // A fleet on one machine.
  ...files('deploy/local', 'api', 'broker', 'child', 'fleet', 'follow', 'input', 'keys', 'place'),
  ...files('deploy/local', 'processes', 'pulse', 'reach', 'session', 'wait', 'watch'),
  ...files('deploy/local/demo', 'play', 'repository'),
  // The project's own tools.
  ...files('crds', 'generate'),
  ...files('deploy', 'build'),
  ...files('deploy/tools', 'build', 'cache', 'look', 'provide'),
  ...files('shared', 'durable', 'pidfile', 'process'),
];
