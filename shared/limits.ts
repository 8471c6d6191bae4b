/**
 * Every bound and time limit, with its unit and where the number comes from. Relations between them are asserted at
 * the end: a change that breaks one fails at start, not in production.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const KIB = 1024;
const MIB = 1024 * KIB;

export const limits = {
  /** Bytes of one manifest file. Larger ones are refused before they are parsed. */
  manifestBytes: 1 * MIB,
  /** Bytes of one order; NATS allows 1 MiB a message by default, and headers need room. */
  orderBytes: 512 * KIB,
  /** Bytes of one artifact chunk, below the default message limit of NATS. */
  chunkBytes: 512 * KIB,
  /** Bytes of one artifact's tar. Above it the ten biggest files are named. */
  artifactBytes: 256 * MIB,
  /** Content of files whose parse is kept, in all repositories together: each stands for about three times as much memory. */
  parsedBytes: 64 * MIB,
  /** Names of one folder that an order tells of what lies around an artifact. */
  surroundingFolderNames: 200,
  /** The same of all folders. */
  surroundingNames: 1_000,
  /** Bytes of them: a tenth of a message on top of an order. */
  surroundingBytes: 16 * KIB,
  /** Bytes of all that an order tells of its surroundings, the folders that are only named among it. */
  surroundingsBytes: 64 * KIB,
  /** Hops of a chain of symlinks, as in Linux. */
  symlinkHops: 40,

  /** Ack wait of an order: only recording happens in it. */
  ackWaitMs: 5 * SECOND,
  /** One pull for orders; the server forgets it afterwards. */
  pullExpiryMs: 10 * SECOND,
  /** Wait between reconnects, jittered (measured: delivery resumes 3–119 ms after a server listens). */
  reconnectWaitMs: 250,
  /** Ping of the NATS connection: two missed ones close a half-open link. */
  pingIntervalMs: 3 * SECOND,
  /** One request to the broker. */
  requestTimeoutMs: 5 * SECOND,

  /** Beat of an agent, jittered by a tenth. */
  beatMs: 15 * SECOND,
  /** An agent without a beat for so long is shown as offline. */
  offlineAfterMs: 45 * SECOND,
  /** Hello without any cause. */
  helloMs: 10 * MINUTE,
  /** A difference in hashes must last so long before anything is done about it. */
  helloConfirmMs: 15 * SECOND,
  /** How long a started agent waits for its orders before it starts runs with what it has. */
  startDrainMs: 20 * SECOND,

  /** Lease of the leading hub. */
  leaseTtlMs: 10 * SECOND,
  /** Renewal of the lease. */
  leaseRenewMs: 3 * SECOND,
  /** The leader stops on its own clock when it could not renew for so long. */
  leaseGiveUpMs: 7 * SECOND,

  /** Poll of a repository unless configured. */
  pollIntervalMs: 15 * SECOND,
  /** One Git operation against a remote. */
  gitTimeoutMs: 2 * MINUTE,
  /** Longest pause between polls of a repository that fails. */
  pollBackoffMaxMs: 5 * MINUTE,
  /** Longest wait that a remote may ask for. */
  retryAfterMaxMs: 60 * MINUTE,
  /** Remotes that are asked at once, over all hosts. */
  pollsAtOnce: 16,
  /** Connections to one host at once: a host that hangs leaves most of the others' room. */
  hostConnections: 4,
  /** Requests to one host a minute: 150 repositories at the default interval. */
  hostRequestsPerMinute: 600,
  /** One question for a remote's refs (measured: 12–50 ms near by). */
  refsTimeoutMs: 15 * SECOND,
  /** How long a pass waits for polls before it goes on with what there is (measured: a fetch takes 0.1–2 s). */
  pollGraceMs: 3 * SECOND,
  /** Bytes of an answer about refs: without a prefix, 10,000 refs are 0.6 MiB. */
  refsBytes: 32 * MIB,
  /** Bytes that one question to git may answer with. */
  gitOutputBytes: 16 * MIB,
  /** Files and folders of one tree: a million are 0.3 GiB in memory. */
  treeEntries: 1_000_000,
  /** Bytes of one path, as in Linux (PATH_MAX). */
  pathBytes: 4_096,
  /** Characters of all paths of one tree. */
  listingCharacters: 256 * MIB,
  /** Asking the git program for its version (measured: 3 ms). */
  gitProbeMs: 10 * SECOND,
  /** One fetch or clone of a remote, in all. */
  fetchTimeoutMs: 15 * MINUTE,
  /** A fetch that brings fewer than {@link limits.fetchSlowBytes} in so long is stopped. */
  fetchStallMs: 60 * SECOND,
  /** Bytes; servers that prepare a pack say so more often than this. */
  fetchSlowBytes: 1 * KIB,
  /** Bytes of a pack that is read without the git program (measured: a pack of 62 MiB takes 539 MiB of memory). */
  gitPackBytes: 128 * MIB,
  /** Bytes of a fetch without the git program; what takes more is read anew from its newest commit only. */
  gitIncrementBytes: 32 * MIB,
  /** Bytes of memory of the thread that reads one repository without the git program. */
  gitThreadBytes: 1024 * MIB,
  /** One read of one object in that thread; the first one reads the pack's index. */
  objectReadMs: 60 * SECOND,
  /** Objects asked for at once of one repository. */
  objectReadsAtOnce: 32,
  /** The process that reads objects of a repository ends when nothing was read for so long. */
  objectReaderIdleMs: 60 * SECOND,
  /** Submodules within submodules. */
  submoduleDepth: 5,
  /** Submodules of one commit whose content is fetched. */
  submodules: 50,
  /** Files that are fetched from the Git LFS of one repository at once. */
  lfsAtOnce: 3,
  /** How long an artifact waits for what comes from Git LFS; the fetch goes on, and the next pass has it. */
  lfsGraceMs: 10 * SECOND,
  /** Bytes of what was fetched from the Git LFS of one repository and is kept, the newest. */
  lfsCacheBytes: 1024 * MIB,
  /** A token of a GitHub App is renewed so long before it ends: a fetch that has begun must be able to end. */
  appTokenRenewMs: 5 * MINUTE,
  /** Bytes of one mirror on disk. One commit of a repository of 44,000 files takes 0.03 GiB (measured). */
  mirrorBytes: 4096 * MIB,
  /** Bytes that stay free on the disk of the mirrors. */
  diskReserveBytes: 256 * MIB,
  /** Next try for a commit that was refused, or did not fit. */
  refusedRetryMs: 30 * MINUTE,
  /** A poll gives up its place among those of {@link limits.pollsAtOnce} after so long, and goes on. */
  pollPlaceMs: 10 * SECOND,
  /** Packs of a mirror, one a fetch, before they are made one. */
  mirrorPacks: 50,

  /** Default of `run.timeout`. */
  runTimeoutMs: 60 * MINUTE,
  /** After the first SIGINT, for creates in flight (seen: a provider's create of 20 s ends in 19 s). */
  stopGraceMs: 60 * SECOND,
  /** After the second SIGINT, before SIGKILL. */
  stopSecondGraceMs: 10 * SECOND,
  /** Bytes of output or events kept in memory for one run. */
  outputBufferBytes: 1 * MIB,
  /** Longest line that is kept whole; the rest of it is cut with a mark. */
  lineBytes: 16 * KIB,
  /** Lines of a log chunk. */
  logChunkLines: 200,
  /** Lines of output in a report. */
  tailLines: 20,
  /** Characters of each of them: a character may be six bytes of JSON, and a report must stay below a message's 1 MiB. */
  tailLineCharacters: 2_000,
  /** How often a run's files are read while it works. */
  followMs: 200,
  /** Bytes of one run's output that are handed on; its newest lines are kept in any case. */
  runOutputBytes: 32 * MIB,
  /** After SIGTERM, before SIGKILL, for processes that outlived their run (each dies at once on SIGTERM, seen). */
  survivorGraceMs: 5 * SECOND,
  /** One short call of the CLI that runs no program: init, export, cancel (seen: 0.1–0.4 s on a local backend). */
  callTimeoutMs: 2 * MINUTE,
  /** One install of dependencies (seen: 36 s for 131 MB over a slow link). */
  installTimeoutMs: 15 * MINUTE,
  /** Encrypted artifacts kept on an agent's disk; those of last successes stay in any case. */
  artifactStoreBytes: 1024 * MIB,
  /** Installed dependency sets kept on an agent's disk, besides those used within the last day. */
  keptDependencies: 20,
  /** Processes kept in mind whose locks may still lie in a backend. */
  keptHolders: 200,
  /** How long a cut-off run waits for its state to be readable before it is held. */
  stateReadMs: 10 * MINUTE,
  /** Next try for an artifact that the broker does not have yet. */
  artifactRetryMs: 5 * SECOND,
  /** Attempts to take a lock whose holder is alive or unknown, before the next order. */
  lockRetryMs: 5 * SECOND,

  /** Planned commits whose decisions are kept. */
  keptCommits: 100,
  /** Finished runs kept per placement. */
  keptRuns: 50,
  /** Unused artifacts stay so long. */
  artifactKeepMs: 24 * 60 * MINUTE,
  /** Logs stay so long. */
  logKeepMs: 7 * 24 * 60 * MINUTE,
} as const;

/** Pairs that must hold: the left is smaller than the right. */
const RELATIONS: readonly (readonly [keyof typeof limits, keyof typeof limits])[] = [
  ['beatMs', 'offlineAfterMs'],
  ['leaseRenewMs', 'leaseGiveUpMs'],
  ['leaseGiveUpMs', 'leaseTtlMs'],
  ['requestTimeoutMs', 'leaseGiveUpMs'],
  ['chunkBytes', 'artifactBytes'],
  ['surroundingFolderNames', 'surroundingNames'],
  ['surroundingBytes', 'surroundingsBytes'],
  ['surroundingsBytes', 'orderBytes'],
  ['ackWaitMs', 'pullExpiryMs'],
  ['pullExpiryMs', 'startDrainMs'],
  ['stopSecondGraceMs', 'stopGraceMs'],
  ['pollGraceMs', 'refsTimeoutMs'],
  ['refsTimeoutMs', 'gitTimeoutMs'],
  ['gitTimeoutMs', 'appTokenRenewMs'],
  ['fetchStallMs', 'fetchTimeoutMs'],
  ['pollGraceMs', 'pollPlaceMs'],
  ['diskReserveBytes', 'mirrorBytes'],
  ['artifactBytes', 'lfsCacheBytes'],
  ['gitIncrementBytes', 'gitPackBytes'],
  ['gitPackBytes', 'gitThreadBytes'],
  ['hostConnections', 'pollsAtOnce'],
];

/** The relations that do not hold, in words; empty when all is well. */
export const brokenRelations = (values: Readonly<Record<string, number>> = limits): string[] =>
  RELATIONS.filter(([small, large]) => (values[small] ?? 0) >= (values[large] ?? 0)).map(
    ([small, large]) => `limits.${small} must be below limits.${large}`,
  );

const broken = brokenRelations();
if (broken.length > 0) throw new Error(broken.join('; '));
