/** Small repositories for fleets under test: YAML programs on a file backend. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Changes } from '../harness/git.ts';

export const cluster = (name: string, labels = '{}'): string =>
  `apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: ${name}, labels: ${labels}}\n`;

/** Every stack's backend and passphrase; the agents' environment has `PASSPHRASE`. */
export const defaults = (state: string): string => `apiVersion: towline.dev/v1
kind: Defaults
metadata: {name: all}
spec:
  backend: {url: "file://${state}"}
  env:
    - {name: PULUMI_CONFIG_PASSPHRASE, valueFrom: {env: PASSPHRASE}}
`;

export interface StackText {
  readonly name: string;
  readonly clusters?: string;
  readonly more?: string;
}

export const stack = ({
  name,
  clusters = '{all: true}',
  more = '',
}: StackText): string => `apiVersion: towline.dev/v1
kind: Stack
metadata: {name: ${name}}
spec:
  clusters: ${clusters}
${more}`;

/** A program whose only effect is its output `value`. */
export const program = (name: string, value: string): string =>
  `name: ${name}\nruntime: yaml\noutputs:\n  value: ${JSON.stringify(value)}\n`;

/** Files of one stack in a folder of its own. */
export const stackFiles = (text: StackText, value: string): Changes => ({
  [`stacks/${text.name}/stack.yaml`]: stack(text),
  [`stacks/${text.name}/Pulumi.yaml`]: program(text.name, value),
});

export interface Applied {
  /** The output `value` that the state holds. */
  readonly value: unknown;
  /** Updates that ended well or badly and were written down by Pulumi itself: killed ones are not among them. */
  readonly updates: number;
}

/** What Pulumi's own state says of a stack `organization/<name>/<cluster>`. */
export async function applied(state: string, name: string, clusterName: string): Promise<Applied> {
  const root = join(state, '.pulumi');
  const text = await readFile(join(root, 'stacks', name, `${clusterName}.json`), 'utf8').catch(() => '{}');
  const checkpoint = JSON.parse(text) as {
    checkpoint?: { latest?: { resources?: { type: string; outputs?: { value?: unknown } }[] } };
  };
  const stackResource = checkpoint.checkpoint?.latest?.resources?.find(
    ({ type }) => type === 'pulumi:pulumi:Stack',
  );
  const history = await readdir(join(root, 'history', name, clusterName)).catch(() => []);
  return {
    value: stackResource?.outputs?.value,
    updates: history.filter((file) => file.endsWith('.history.json')).length,
  };
}
