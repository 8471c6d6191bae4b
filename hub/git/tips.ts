/** Asks where a ref points now, without bringing anything here. */
import { limits } from '../../shared/limits.ts';
import type { Access } from './access.ts';
import { gitEnvironment, runGit, type GitProgram } from './command.ts';
import type { Tip } from './driver.ts';
import { failed, fetchFailure, type Failure } from './failure.ts';
import { HttpRefusal, makeRefsClient } from './http.ts';
import { localTip } from './local.ts';
import type { Remote } from './remote.ts';

export interface TipReader {
  tip(): Promise<Tip | Failure>;
  close(): void;
}

export interface TipOptions {
  readonly git: GitProgram;
  readonly remote: Remote;
  readonly access: Access;
  /** Full name, `HEAD`, or the id of a commit. */
  readonly ref: string;
}

/** HTTP and local paths are asked in this process; ssh by `git ls-remote`. */
export function makeTipReader({ git, remote, access, ref }: TipOptions): TipReader {
  const stop = new AbortController();
  const signal = stop.signal;
  const close = (): void => stop.abort();
  // A commit does not move: whether it is there, the fetch finds out.
  if (/^[0-9a-f]{40,}$/.test(ref)) return { tip: () => Promise.resolve({ kind: 'tip', id: ref }), close };
  switch (remote.kind) {
    case 'local':
      return { tip: () => localTip({ git, path: remote.path, ref, signal }), close };
    case 'ssh':
      return { tip: () => sshTip({ git, url: remote.url, access, ref, signal }), close };
    case 'http':
      return httpTips({ url: remote.url, access, ref }, stop);
  }
}

interface HttpTips {
  readonly url: string;
  readonly access: Access;
  readonly ref: string;
}

function httpTips({ url, access, ref }: HttpTips, stop: AbortController): TipReader {
  const http = makeRefsClient(stop.signal);
  return {
    async tip() {
      const login = await access.login();
      if (login.kind === 'failed') return login;
      const headers = login.authorization === undefined ? {} : { Authorization: login.authorization };
      try {
        // Loaded by the first HTTP repository: it costs memory that a fleet of local paths does not need.
        const { listServerRefs } = await import('isomorphic-git');
        const request = { http, url, prefix: ref, protocolVersion: 2 as const };
        const refs = await listServerRefs({ ...request, headers });
        const found = refs.find((candidate) => candidate.ref === ref);
        const landed = http.landed(url);
        if (found === undefined) return missing(ref);
        return { kind: 'tip', id: found.oid, ...(landed === undefined ? {} : { url: landed }) };
      } catch (error) {
        return error instanceof HttpRefusal ? error.failure : failed('Unreachable', wordsOf(error));
      }
    },
    close() {
      stop.abort();
      http.close();
    },
  };
}

/** Node hides the cause of a failed connection in an aggregate, one for each address that was tried. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  return error.name === 'TimeoutError' || error.name === 'AbortError'
    ? `no answer within ${limits.refsTimeoutMs} ms`
    : error.message;
}

const missing = (ref: string): Failure => failed('RefMissing', `the remote has no ${ref}`);

interface SshTip {
  readonly git: GitProgram;
  readonly url: string;
  readonly access: Access;
  readonly ref: string;
  readonly signal: AbortSignal;
}

/** `--heads` and `--tags` reach the server as a prefix; a pattern alone would not. */
async function sshTip({ git, url, access, ref, signal }: SshTip): Promise<Tip | Failure> {
  const login = await access.login();
  if (login.kind === 'failed') return login;
  const only = ref.startsWith('refs/heads/') ? ['--heads'] : ref.startsWith('refs/tags/') ? ['--tags'] : [];
  const end = await runGit(git, {
    args: ['ls-remote', '--quiet', ...only, '--', url, ref],
    env: { ...gitEnvironment(git), ...login.environment, GIT_ALLOW_PROTOCOL: 'ssh' },
    timeoutMs: limits.gitTimeoutMs,
    maxBytes: limits.refsBytes,
    signal,
  });
  if (end.kind === 'failed') {
    const failure = fetchFailure(end.stderr);
    return end.interrupted || failure.state === 'Corrupt' ? { ...failure, state: 'Unreachable' } : failure;
  }
  const line = end.stdout
    .toString('utf8')
    .split('\n')
    .find((candidate) => candidate.endsWith(`\t${ref}`));
  return line === undefined ? missing(ref) : { kind: 'tip', id: line.slice(0, line.indexOf('\t')) };
}
