/** The programs that Towline starts but does not contain, as data. */

export type ToolName =
  | 'git-lfs'
  | 'nats-server'
  | 'pulumi'
  | 'pulumi-language-nodejs'
  | 'pulumi-language-python'
  | 'pulumi-language-yaml';

/** A program that is built from the Go module in the folder of its name, which pins it and all that it needs. */
export interface Tool {
  readonly name: ToolName;
  /** Go package of the program. */
  readonly source: string;
  readonly linkerFlags: string;
  /** Scripts of the same module that lie beside the folder of the package, and have to lie beside the program. */
  readonly scripts?: readonly string[];
}

/** A program that is looked up, with what must lie beside it. */
export interface Wanted {
  readonly name: 'nats-server' | 'pulumi';
  /** Environment variable with the path of the program; wins over everything else. */
  readonly variable: string;
  /** Prints the version as the first number with dots. */
  readonly versionArgs: readonly string[];
  /** Oldest version that will do. */
  readonly atLeast: string;
  /** Files in the same folder, without which the program is of no use. */
  readonly beside: readonly string[];
}

/** The shortest form that still says where a crash happened. */
const STRIPPED = '-s -w';

/** A Pulumi program without a version is refused by every library that drives it. */
const PULUMI_VERSION = '3.274.1';
const VERSION_SYMBOL = 'github.com/pulumi/pulumi/sdk/v3/go/common/version.Version';

/** Starts the provider of dynamic resources for Node.js; a script of ours, copied beside pulumi. */
export const DYNAMIC_PROVIDER = 'pulumi-resource-pulumi-nodejs';

/** The same for Python. */
export const PYTHON_PROVIDER = 'pulumi-resource-pulumi-python';

/** Starts a Python program; the language host looks for it beside itself. */
const PYTHON_EXEC = 'pulumi-language-python-exec';

export const tools: Readonly<Record<ToolName, Tool>> = {
  /** Only tests start it; a hub takes the one on its PATH. */
  'git-lfs': {
    name: 'git-lfs',
    source: 'github.com/git-lfs/git-lfs/v3',
    linkerFlags: STRIPPED,
  },
  'nats-server': {
    name: 'nats-server',
    source: 'github.com/nats-io/nats-server/v2',
    linkerFlags: STRIPPED,
  },
  pulumi: {
    name: 'pulumi',
    source: 'github.com/pulumi/pulumi/pkg/v3/cmd/pulumi',
    linkerFlags: `${STRIPPED} -X ${VERSION_SYMBOL}=v${PULUMI_VERSION}`,
  },
  'pulumi-language-nodejs': {
    name: 'pulumi-language-nodejs',
    source: 'github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs',
    linkerFlags: STRIPPED,
  },
  'pulumi-language-python': {
    name: 'pulumi-language-python',
    source: 'github.com/pulumi/pulumi/sdk/v3/python/cmd/pulumi-language-python',
    linkerFlags: STRIPPED,
    scripts: [PYTHON_EXEC],
  },
  'pulumi-language-yaml': {
    name: 'pulumi-language-yaml',
    source: 'github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml',
    linkerFlags: STRIPPED,
  },
};

/** Pulumi finds language hosts and plugins in the folder of its own program, symbolic links resolved. */
export const wanted = {
  natsServer: {
    name: 'nats-server',
    variable: 'TOWLINE_NATS_SERVER',
    versionArgs: ['--version'],
    /** 2.11 has per-message time to live and consumers with several filters. */
    atLeast: '2.11.0',
    beside: [],
  },
  pulumi: {
    name: 'pulumi',
    variable: 'TOWLINE_PULUMI',
    versionArgs: ['version'],
    /** The version that the tests run: older ones may lack an option that a run uses. */
    atLeast: PULUMI_VERSION,
    beside: [
      'pulumi-language-nodejs',
      'pulumi-language-python',
      PYTHON_EXEC,
      'pulumi-language-yaml',
      DYNAMIC_PROVIDER,
      PYTHON_PROVIDER,
    ],
  },
} as const satisfies Readonly<Record<string, Wanted>>;
