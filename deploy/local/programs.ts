/** Command lines of the parts of a fleet, and the list of repositories that its hub reads. Pure. */
import type { Program } from './child.ts';
import type { Folders } from './folders.ts';
import { refOf } from './settings.ts';

export interface Setup {
  readonly folders: Folders;
  /** Node.js and the file of the `towline` command. */
  readonly towline: readonly [string, string];
  readonly natsServer: string;
  readonly pulumi: string;
  readonly repository: {
    readonly url: string;
    readonly ref: string;
    /** Only for a repository on this machine, where a look costs next to nothing. */
    readonly interval?: string;
  };
  readonly natsPort: number;
  /** `host:port` */
  readonly listen: string;
  readonly allowEnv: readonly string[];
  readonly allowFiles: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** More variables for the agents alone. */
  readonly agentEnvironment: Readonly<Record<string, string>>;
}

const natsUrl = ({ natsPort }: Setup): string => `nats://127.0.0.1:${natsPort}`;

/** JSON, which is YAML as well. */
export const repositoriesFile = ({ repository: { url, ref, interval } }: Setup): string =>
  `${JSON.stringify(
    {
      repositories: [
        {
          name: 'fleet',
          url,
          ref: refOf(ref),
          trust: 'fleet',
          ...(interval === undefined ? {} : { interval }),
        },
      ],
    },
    null,
    2,
  )}\n`;

/** The hub. */
export function hubProgram(setup: Setup): Program {
  const { folders, towline, listen, environment } = setup;
  const [command, entry] = towline;
  const flags = {
    'data-dir': folders.hubData,
    repositories: folders.repositories,
    nats: natsUrl(setup),
    'nats-seed-file': folders.hubSeed,
    'secret-file': folders.hubSecret,
    listen,
  };
  return {
    name: 'hub',
    command,
    args: [entry, 'hub', ...words(flags)],
    environment,
    logFile: folders.log('hub'),
  };
}

/** The agent of a cluster. */
export function agentProgram(setup: Setup, cluster: string): Program {
  const { folders, towline, environment, agentEnvironment } = setup;
  const [command, entry] = towline;
  const name = `agent-${cluster}`;
  return {
    name,
    command,
    args: [entry, 'agent', ...agentFlags(setup, cluster)],
    environment: { ...environment, ...agentEnvironment },
    logFile: folders.log(name),
  };
}

/** Makes the agent's key where there is none, and prints its public half. */
export const publicKeyArgs = (setup: Setup, cluster: string): readonly string[] => [
  setup.towline[1],
  'agent',
  ...agentFlags(setup, cluster),
  '--print-public-key',
];

function agentFlags(setup: Setup, cluster: string): readonly string[] {
  const { folders, pulumi, allowEnv, allowFiles } = setup;
  return [
    ...words({
      cluster,
      nats: natsUrl(setup),
      'key-file': folders.agentKey(cluster),
      'data-dir': folders.agent(cluster),
      pulumi,
      // No agent follows that could go on with a run.
      'on-stop': 'cancel',
    }),
    ...allowEnv.flatMap((name) => ['--allow-env', name]),
    ...allowFiles.flatMap((path) => ['--allow-files', path]),
  ];
}

const words = (flags: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
