/** A repository with stacks that need no packages: clusters, and programs that only have outputs. */
import type { Changes } from '../../harness/git.ts';

export const cluster = (name: string): string =>
  `apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: { name: ${name} }\n`;

/** The manifest and the program of a stack on all clusters, with its state in `state`. */
export const stack = (name: string, state: string, output: string): Changes => ({
  [`${name}/stack.yaml`]: JSON.stringify({
    apiVersion: 'towline.dev/v1',
    kind: 'Stack',
    metadata: { name, namespace: 'port' },
    spec: {
      clusters: { all: true },
      pulumiStack: `organization/${name}/{cluster}`,
      backend: { url: `file://${state}` },
      env: [{ name: 'PULUMI_CONFIG_PASSPHRASE', valueFrom: { env: 'PASSPHRASE' } }],
    },
  }),
  [`${name}/Pulumi.yaml`]: `name: ${name}\nruntime: yaml\noutputs:\n  value: "${output}"\n`,
});
