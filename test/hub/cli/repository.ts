/** Repositories with stacks, as the commands without a hub see them. */
import { makeRepository, type Changes, type Repository } from '../../harness/git.ts';
import type { Owner } from '../../harness/owned.ts';
import { runTowline } from './run.ts';

/** A stack with its project; `program` follows in the project file. */
export const stackFiles = (
  folder: string,
  { name = folder.replaceAll('/', '-'), spec = '', program = '' } = {},
): Record<string, string> => ({
  [`${folder}/Pulumi.yaml`]: `name: ${name}\nruntime: yaml\n${program}`,
  [`${folder}/stack.yaml`]: `apiVersion: towline.dev/v1
kind: Stack
metadata: { name: ${name}, namespace: shop }
spec:
  pulumiStack: organization/${name}/{cluster}
${spec}`,
});

export const clusterFile = (...names: readonly string[]): string =>
  names
    .map((name) => `---\napiVersion: towline.dev/v1\nkind: Cluster\nmetadata: { name: ${name} }\n`)
    .join('');

/** A program that reads a file. */
export const reads = (path: string): string => `variables: { x: { fn::readFile: ${path} } }\n`;

export interface Told {
  readonly from: string;
  readonly to: string;
  readonly affected: readonly {
    readonly stack: string;
    readonly cluster: string;
    readonly decision: string;
    readonly reasons: readonly {
      readonly code: string;
      readonly inputs: readonly { readonly path: string }[];
    }[];
  }[];
  readonly unaffected: number;
  readonly errors: readonly { readonly file: string; readonly line: number; readonly message: string }[];
}

export interface Asked {
  readonly code: number;
  readonly told: Told;
  /** `decision stack on cluster: codes`, in the order of the answer. */
  readonly lines: readonly string[];
}

/** Asks which stacks a change affects. */
export async function askAffected(
  { folder }: Repository,
  [from, to]: readonly [from: string, to: string],
  ...more: readonly string[]
): Promise<Asked> {
  const { code, output } = await runTowline([
    'affected',
    '--repo',
    folder,
    '--from',
    from,
    '--to',
    to,
    '--json',
    ...more,
  ]);
  const told = JSON.parse(output) as Told;
  const lines = told.affected.map(
    ({ stack, cluster, decision, reasons }) =>
      `${decision} ${stack} on ${cluster}: ${reasons.map((reason) => reason.code).join()}`,
  );
  return { code, told, lines };
}

/** A repository with one commit, and the id of that. */
export async function repositoryOf(
  owner: Owner,
  files: Changes,
): Promise<{ readonly repository: Repository; readonly first: string }> {
  const repository = await makeRepository(owner, 'fleet');
  return { repository, first: await repository.commit('First', files) };
}
