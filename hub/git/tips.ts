/** Asks where a ref points now, without bringing anything here. */
import { limits } from '../../shared/limits.ts';
import type { Access } from './access.ts';
import { gitEnvironment, runGit, type GitProgram } from './command.ts';
import type { Tip } from './driver.ts';
import { failed, fetchFailure, type Failure } from './failure.ts';
import { HttpRefusal, makeRefsClient } from './http.ts';
import { localTags, localTip } from './local.ts';
import type { Remote } from './remote.ts';
import { highestTag, type NamedRef } from './tags.ts';

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
  /** The highest version in this range is meant instead. */
  readonly range?: string | undefined;
  /** The host wants to be left alone until then, ms. */
  readonly onQuiet?: (until: number) => void;
}

/** HTTP and local paths are asked in this process; ssh by `git ls-remote`. */
export function makeTipReader({ git, remote, access, ref, range, onQuiet }: TipOptions): TipReader {
  const stop = new AbortController();
  const signal = stop.signal;
  const close = (): void => stop.abort();
  // A commit does not move: whether it is there, the fetch finds out.
  if (/^[0-9a-f]{40,}$/.test(ref)) return { tip: () => Promise.resolve({ kind: 'tip', id: ref }), close };
  const wanted: Wanted = { ref, range };
  switch (remote.kind) {
    case 'local': {
      const { path } = remote;
      const tags = async (): Promise<Tip | Failure> => {
        const refs = await localTags({ git, path, signal });
        return 'kind' in refs ? refs : choose(refs, wanted);
      };
      return { tip: () => (range === undefined ? localTip({ git, path, ref, signal }) : tags()), close };
    }
    case 'ssh':
      return { tip: () => sshTip({ git, url: remote.url, access, wanted, signal }), close };
    case 'http':
      return httpTips({ url: remote.url, access, wanted, onQuiet }, stop);
  }
}

/** One ref, or the highest version in a range. */
interface Wanted {
  readonly ref: string;
  readonly range: string | undefined;
}

/** How the names begin that a server is asked for. */
const prefixOf = ({ ref, range }: Wanted): string => (range === undefined ? ref : 'refs/tags/');

function choose(refs: readonly NamedRef[], { ref, range }: Wanted): Tip | Failure {
  if (range === undefined) {
    const found = refs.find((candidate) => candidate.ref === ref);
    return found === undefined ? missing(ref) : { kind: 'tip', id: found.id };
  }
  const found = highestTag(refs, range);
  return found === undefined
    ? failed('RefMissing', `no tag is a version in ${range}`)
    : { kind: 'tip', id: found.id, ref: found.ref };
}

interface HttpTips {
  readonly url: string;
  readonly access: Access;
  readonly wanted: Wanted;
  readonly onQuiet: TipOptions['onQuiet'];
}

function httpTips({ url, access, wanted, onQuiet }: HttpTips, stop: AbortController): TipReader {
  const http = makeRefsClient(stop.signal, onQuiet);
  return {
    async tip() {
      const login = await access.login();
      if (login.kind === 'failed') return login;
      const headers = login.authorization === undefined ? {} : { Authorization: login.authorization };
      try {
        // Loaded by the first HTTP repository: it costs memory that a fleet of local paths does not need.
        const { listServerRefs } = await import('isomorphic-git');
        const request = { http, url, prefix: prefixOf(wanted), protocolVersion: 2 as const };
        const refs = await listServerRefs({ ...request, headers });
        const found = choose(
          refs.map(({ ref, oid }) => ({ ref, id: oid })),
          wanted,
        );
        const landed = http.landed(url);
        return found.kind === 'failed' || landed === undefined ? found : { ...found, url: landed };
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
  readonly wanted: Wanted;
  readonly signal: AbortSignal;
}

/** `--heads` and `--tags` reach the server as a prefix; a pattern alone would not. */
async function sshTip({ git, url, access, wanted, signal }: SshTip): Promise<Tip | Failure> {
  const login = await access.login();
  if (login.kind === 'failed') return login;
  const prefix = prefixOf(wanted);
  const only = ['heads', 'tags'].filter((folder) => prefix.startsWith(`refs/${folder}/`));
  const end = await runGit(git, {
    args: [
      ...['ls-remote', '--quiet', ...only.map((folder) => `--${folder}`), '--', url],
      ...(wanted.range === undefined ? [wanted.ref] : []),
    ],
    env: { ...gitEnvironment(git), ...login.environment, GIT_ALLOW_PROTOCOL: 'ssh' },
    timeoutMs: limits.gitTimeoutMs,
    maxBytes: limits.refsBytes,
    signal,
  });
  if (end.kind === 'failed') {
    const failure = fetchFailure(end.stderr);
    return end.interrupted || failure.state === 'Corrupt' ? { ...failure, state: 'Unreachable' } : failure;
  }
  const lines = end.stdout.toString('utf8').split('\n');
  return choose(
    lines.map((line) => ({ ref: line.slice(line.indexOf('\t') + 1), id: line.slice(0, line.indexOf('\t')) })),
    wanted,
  );
}
