/**
 * A gate: a shell, leader of a session of its own, that does nothing until it reads `go` and then runs the CLI. When the
 * agent dies before that, it reads the end of its input and exits. Afterwards it needs the agent no more: output goes to
 * a file, and what the agent wants to know stands in files that appear by rename.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type ProcessIdentity, identityOf, parseStat } from '../../shared/process.ts';
import type { Gate } from '../executor.ts';
import { readIfThere, type RunUser } from '../folders.ts';

/** What is to be run behind a gate. */
export interface Launch {
  /** Folder for the files about it, owned by the run user. */
  readonly marks: string;
  /** First part of the names of those files. */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: RunUser | undefined;
  /** Standard input of the CLI; without it, it reads nothing. */
  readonly input?: string;
}

/** Files about a launch. */
export const marksOf = (launch: Pick<Launch, 'marks' | 'name'>) => {
  const at = (kind: string): string => join(launch.marks, `${launch.name}.${kind}`);
  // `cli`: /proc/PID/stat, boot id and host of the CLI, written before it begins; `exit`: its exit code
  return { output: at('output'), events: at('events'), cli: at('cli'), exit: at('exit') };
};

/** $1: the CLI's mark, $2: the mark of its end; then the command. The CLI is a foreground child: SIGINT reaches it. */
const SCRIPT = `
cli=$1; end=$2; shift 2
IFS= read -r word <&3 || exit 0
[ "$word" = go ] || exit 0
exec 3<&-
/bin/sh -c '
  mark=$1; shift
  IFS= read -r stat <"/proc/$$/stat" && IFS= read -r boot </proc/sys/kernel/random/boot_id &&
    IFS= read -r host </proc/sys/kernel/hostname && printf "%s\\n" "$stat" "$boot" "$host" >"$mark.new" &&
    command -p mv "$mark.new" "$mark" && exec "$@"
' sh "$cli" "$@"
code=$?
printf "%s\\n" "$code" >"$end.new" && command -p mv "$end.new" "$end"
`;

/** A gate of this process. */
export interface OwnGate extends Gate {
  /** Settles when the shell has ended. */
  readonly ended: Promise<void>;
}

/** Starts the shell. Rejects when it cannot be started. */
export async function startGate(launch: Launch): Promise<OwnGate> {
  const marks = marksOf(launch);
  const { child, ended } = await spawnShell(launch, marks);
  const process = child.pid === undefined ? undefined : identityOf(child.pid);
  if (process === undefined) throw new Error('the gate ended before it was told to go');
  const line = child.stdio[3] as Writable;
  // the shell may be gone when it is told to go: its end says so
  line.on('error', () => undefined);
  return {
    process,
    ended,
    go: () => {
      child.unref();
      line.end('go\n');
    },
    abandon: async () => {
      line.destroy();
      await ended;
    },
  };
}

interface Shell {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
}

async function spawnShell(launch: Launch, marks: ReturnType<typeof marksOf>): Promise<Shell> {
  const output = await open(marks.output, 'w', 0o600);
  try {
    if (launch.user !== undefined) await chown(marks.output, launch.user.uid, launch.user.gid);
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', marks.cli, marks.exit, ...launch.command], {
      cwd: launch.cwd,
      env: launch.env,
      detached: true,
      stdio: [launch.input === undefined ? 'ignore' : 'pipe', output.fd, output.fd, 'pipe'],
      ...launch.user,
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    await once(child, 'spawn');
    child.stdin?.on('error', () => undefined).end(launch.input);
    return { child, ended };
  } finally {
    await output.close();
  }
}

/** A CLI by its mark: who it was, and on which machine. */
export interface CliProcess extends ProcessIdentity {
  readonly host: string;
}

/** The CLI behind a gate, once it began. */
export async function readCli(marks: { readonly cli: string }): Promise<CliProcess | undefined> {
  const [line = '', bootId = '', host = ''] = ((await readIfThere(marks.cli)) ?? '').split('\n');
  const stat = parseStat(line);
  return stat === undefined ? undefined : { pid: stat.pid, startTime: stat.startTime, bootId, host };
}

/** The CLI's exit code, once it ended. */
export async function readExit(marks: { readonly exit: string }): Promise<number | undefined> {
  const text = await readIfThere(marks.exit);
  const code = text === undefined ? Number.NaN : Number.parseInt(text, 10);
  return Number.isNaN(code) ? undefined : code;
}
