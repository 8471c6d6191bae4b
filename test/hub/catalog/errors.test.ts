/** What people read when a manifest is wrong. */
import test from 'node:test';
import { golden } from '../../harness/golden.ts';
import { catalogOf, printCatalog, printResolution } from './files.ts';
import { resolve } from '../../../hub/resolve.ts';
import { NOW } from './files.ts';

const CLUSTERS = `=== clusters.yaml
apiVersion: towline.dev/v1
kind: Cluster
metadata: {name: prod-eu, labels: {tier: prod}}
spec: {vars: {account: "1"}}
---
apiVersion: towline.dev/v1
kind: Cluster
metadata: {name: prod-us, labels: {tier: prod}}
`;
const PROJECT = `=== web/Pulumi.yaml
name: web
runtime: yaml
`;
const stack = (spec: string, metadata = '{name: web, namespace: shop}'): string =>
  `=== web/stack.yaml\napiVersion: towline.dev/v1\nkind: Stack\nmetadata: ${metadata}\nspec:\n${spec}`;

const GOOD = `=== other/Pulumi.yaml
name: other
runtime: yaml
=== other/stack.yaml
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: other, namespace: shop}
spec: {clusters: {names: [prod-eu]}}
`;

const CASES: Readonly<Record<string, string>> = {
  'YAML that does not parse': `=== web/stack.yaml
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: web
spec: {}
`,
  'one of several documents does not parse': `=== web/stack.yaml
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: web, namespace: shop}
spec: {clusters: {names: [prod-eu]}}
---
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: "web2}
`,
  'all mistakes of a document at once': stack(
    `  source: {dirr: ., program: p}
  mode: appply
  env: [{name: A, value: 3}, {name: A}, {name: PULUMI_BACKEND_URL, value: x}]
  configFrom: []
  approval: {when: any}
  run: {parallel: 0, timeout: 3x, message: [1]}
  config: {account: 0123}
  files: [{path: ../x, valueFrom: {env: A, file: b}}]
  backend: {url: "postgres://me:secret@db/x"}
`,
    '{name: web, namespace: shop, lables: {a: b}}',
  ),
  'misspelt kind': `=== web/stack.yaml
apiVersion: towline.dev/v1
kind: Stak
metadata: {name: web, namespace: shop}
spec: {}
`,
  'unknown kind and unknown version': `=== a.yaml
apiVersion: towline.dev/v1
kind: Pipeline
metadata: {name: web}
---
apiVersion: towline.dev/v2
kind: Stack
metadata: {name: web, namespace: shop}
spec: {whatever: 1}
`,
  'a name that is none, and a misspelt namespace': `=== web/stack.yaml
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: Web_1, namespace: shop}
---
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: web, namspace: shop}
`,
  'apiVersion misspelt': `=== web/stack.yaml
apiVersoin: towline.dev/v1
kind: Stack
metadata: {name: web, namespace: shop}
`,
  'the same identity twice, over two repositories': `${stack('  clusters: {all: true}\n')}=== shop:web.yaml (stacks)
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: web, namespace: shop}
`,
  'kinds that decide and are not built': `=== decisions.yaml
apiVersion: towline.dev/v1
kind: Approval
metadata: {name: a}
---
apiVersion: towline.dev/v1
kind: Removal
metadata: {name: r}
spec: {stacks: [shop/web], mode: destroy, expires: "2027-01-01T00:00:00Z"}
---
apiVersion: towline.dev/v1
kind: Rollout
metadata: {name: waves}
`,
  'a Tenant closes every stack': `=== tenants.yaml
apiVersion: towline.dev/v1
kind: Tenant
metadata: {name: shop}
`,
  'a misspelt Tenant closes too': `=== tenants.yaml
apiVersion: towline.dev/v1
kind: Tennant
metadata: {name: shop}
`,
  'what a stacks repository may not hold': `=== shop:all.yaml (stacks)
apiVersion: towline.dev/v1
kind: Cluster
metadata: {name: prod-eu}
---
apiVersion: towline.dev/v1
kind: Fleet
metadata: {name: fleet}
spec: {suspend: {reason: mine now}}
---
apiVersion: towline.dev/v1
kind: Tenant
metadata: {name: shop}
`,
  'two Fleets': `=== fleet.yaml
apiVersion: towline.dev/v1
kind: Fleet
metadata: {name: a}
---
apiVersion: towline.dev/v1
kind: Fleet
metadata: {name: b}
`,
  'an unreadable Fleet freezes': `=== fleet.yaml
apiVersion: towline.dev/v1
kind: Fleet
metadata: {name: a}
spec: {suspend: {reason: "broken}}
`,
  'a removal that is over': `=== removal.yaml
apiVersion: towline.dev/v1
kind: Removal
metadata: {name: old}
spec: {stacks: [shop/web], mode: retain, expires: "2026-11-30T00:00:00Z"}
`,
  'a refused Cluster still exists': `=== more.yaml
apiVersion: towline.dev/v1
kind: Cluster
metadata: {name: prod-ap}
spec: {maxConcurentRuns: 3}
${stack('  clusters: {names: [prod-ap, prod-eu]}\n')}${PROJECT}`,
  'missing Pulumi.yaml': `${stack('  source: {dir: ../othr}\n  clusters: {all: true}\n')}`,
  'Pulumi.yaml elsewhere': `${stack('  clusters: {all: true}\n')}=== apps/web/Pulumi.yaml
name: web
runtime: yaml
`,
  'Pulumi.yaml that does not parse': `${stack('  clusters: {all: true}\n')}=== web/Pulumi.yaml
name: web
runtime: {
`,
  'Pulumi.yaml without a runtime': `${stack('  clusters: {all: true}\n')}=== web/Pulumi.yaml
name: web
`,
  'two project files in a folder': `${stack('  clusters: {all: true}\n')}${PROJECT}=== web/Pulumi.json
{"name": "web", "runtime": "yaml"}
`,
  'project folder outside the repository': stack(
    '  source: {dir: ../../elsewhere}\n  clusters: {all: true}\n',
  ),
  'unknown repository': stack('  source: {repository: fleeet, dir: web}\n  clusters: {all: true}\n'),
  'unknown cluster': `${PROJECT}${stack('  clusters: {names: [prod-eu, prod-uss]}\n')}`,
  'selector that matches nothing': `${PROJECT}${stack('  clusters: {selector: {matchLabels: {tier: test}}}\n')}`,
  'clusters left out, empty, two ways, misspelt exclusion': `${PROJECT}${stack('  config: {a: b}\n')}=== web/b.yaml
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: b}
spec: {clusters: {selector: {}}}
---
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: c}
spec: {clusters: {names: [prod-eu], all: true}}
---
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: d}
spec: {clusters: {all: true, exclude: [prod-e]}}
`,
  'placeholders without a value': `${PROJECT}${stack(`  pulumiStack: organization/web/{var:account}
  clusters: {all: true}
  config: {owner: "{label:team}", json: '{"a": 1}', brace: "{{cluster}"}
  env: [{name: REGION, value: "{region}"}]
`)}`,
  'stack names': `${PROJECT}${stack('  pulumiStack: "{cluster}"\n  clusters: {names: [prod-eu]}\n')}=== web/more.yaml
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: other-project}
spec: {pulumiStack: organization/shop/prod, clusters: {names: [prod-eu]}}
---
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: own-backend}
spec: {pulumiStack: acme/prod, backend: {url: "s3://state"}, clusters: {names: [prod-eu]}}
---
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: cloud}
spec: {backend: {url: "https://api.pulumi.com"}, clusters: {names: [prod-eu]}}
---
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: odd}
spec: {pulumiStack: organization/web/a b, clusters: {names: [prod-eu]}}
`,
  'a config key in two spellings': `${PROJECT}${stack('  clusters: {all: true}\n  config: {replicas: "1", "web:replicas": "2"}\n')}`,
  'overrides for clusters that are not there': `${PROJECT}${stack(`  clusters: {names: [prod-eu]}
  overrides:
    - clusters: {names: [prod-er]}
      config: {a: b}
    - clusters: {}
      config: {a: b}
`)}`,
  'refused Defaults close their folder': `${PROJECT}${stack('  clusters: {all: true}\n')}=== web/defaults.yaml
apiVersion: towline.dev/v1
kind: Defaults
metadata: {name: d}
spec: {movedFrom: {backend: x}}
`,
  'unreadable Defaults close their folder and below': `${PROJECT}${stack('  clusters: {all: true}\n')}=== web/defaults.yaml
apiVersion: towline.dev/v1
kind: Defaults
metadata: {name: d}
spec: {config: {a: "b}}
`,
  'two Defaults in a folder': `${PROJECT}${stack('  clusters: {all: true}\n')}=== d.yaml
apiVersion: towline.dev/v1
kind: Defaults
metadata: {name: d}
=== e.yaml
apiVersion: towline.dev/v1
kind: Defaults
metadata: {name: e}
`,
};

test('every mistake is said with file, line and remedy, and other stacks go on', async () => {
  const printed = Object.entries(CASES).map(([title, text]) => {
    const catalog = catalogOf(`${CLUSTERS}${GOOD}${text}`);
    const numbered = text
      .split('\n')
      .map((line) => (line === '' ? '' : `    ${line}`))
      .join('\n');
    return `# ${title}\n\n${numbered}\n${printCatalog(catalog)}\n${printResolution(resolve(catalog, NOW))}\n`;
  });
  await golden('catalog-errors.txt', printed.join('\n'));
});
