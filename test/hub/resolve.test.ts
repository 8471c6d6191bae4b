/** Manifests → placements, as text. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { readCatalog } from '../../hub/catalog/read.ts';
import { placementKey } from '../../hub/placement.ts';
import { resolve } from '../../hub/resolve.ts';
import { files, NOW, placementOf, printResolution, resolutionOf } from './catalog/files.ts';

const KEY = `U${'A'.repeat(55)}`;
const CLUSTERS = `=== clusters/all.yaml
apiVersion: towline.dev/v1
kind: Cluster
metadata: {name: prod-eu, labels: {tier: prod, region: eu}}
spec:
  environment: prod
  vars: {account: "123"}
  publicKeys: [{key: ${KEY}, notAfter: null}, {key: ${KEY.replace('A', 'B')}, notAfter: "2026-11-30T23:59:59Z"}]
  maxConcurrentRuns: 9
  offlineAfter: 2m
---
apiVersion: towline.dev/v1
kind: Cluster
metadata: {name: dev}
spec: {suspend: {reason: moving house, until: "2026-12-02T00:00:00Z"}}
`;
const PROJECT =
  '=== apps/web/Pulumi.yaml\nname: web\nruntime: yaml\nbackend: {url: "s3://state/?region=eu"}\n';
const stack = (spec: string, path = 'apps/web/stack.yaml'): string =>
  `=== ${path}\napiVersion: towline.dev/v1\nkind: Stack\nmetadata: {name: web, namespace: shop, labels: {team: shop}, annotations: {towline.dev/owner: me}}\nspec:\n${spec}`;
const defaults = (path: string, spec: string): string =>
  `=== ${path}\napiVersion: towline.dev/v1\nkind: Defaults\nmetadata: {name: d}\nspec:\n${spec}`;
const FLEET = `${CLUSTERS}${PROJECT}`;

test('a stack that says nothing has nothing but defaults, and absent inputs', () => {
  const resolution = resolutionOf(`${FLEET}${stack('  clusters: {names: [prod-eu]}\n')}`);
  assert.deepEqual(placementOf(resolution, 'prod-eu/shop/web'), {
    cluster: 'prod-eu',
    stack: { namespace: 'shop', name: 'web' },
    origin: { repository: 'fleet', path: 'apps/web/stack.yaml', line: 1 },
    source: { repository: 'fleet', project: 'apps/web', include: [], inferInputs: true },
    inputs: { project: 'apps/web', pulumiStack: 'organization/web/prod-eu' },
    policy: {
      create: 'ifMissing',
      pendingCreates: 'hold',
      timeoutMs: 3_600_000,
      parallel: 16,
      continueOnError: false,
      message: '',
      weight: 1,
      priority: 0,
      labels: { team: 'shop' },
      annotations: { 'towline.dev/owner': 'me' },
    },
    claim: 's3://state organization/web/prod-eu',
  });
});

test('what is said at its default changes no input', () => {
  const bare = resolutionOf(`${FLEET}${stack('  clusters: {all: true}\n')}`);
  const wordy = resolutionOf(
    `${FLEET}${stack(`  clusters: {all: true}
  source: {dir: ., repository: self, include: [], inferInputs: true, hermetic: true}
  pulumiStack: organization/web/{cluster}
  backend: {url: "", scope: fleet}
  stackConfig: merge
  config: {}
  env: []
  files: []
  mode: apply
  create: ifMissing
  run: {runner: process, refresh: false, targets: [], parallel: 16, runProgram: false, install: auto, pendingCreates: hold, timeout: 1h, weight: 1}
  approval: {when: never}
  onFailure: none
  deletion: {policy: retain}
  suspend: null
`)}`,
  );
  assert.deepEqual(wordy.placements, bare.placements);
});

const EVERYTHING = `${FLEET}=== libs/other/Pulumi.yaml
name: other
runtime: {name: nodejs}
${stack(`  source: {dir: /libs/other/, include: ["../../ui/**", "!**/*.md"], inferInputs: false}
  clusters: {selector: {matchExpressions: [{key: tier, operator: In, values: [prod]}]}}
  pulumiStack: organization/other/{namespace}-{name}-{var:account}
  backend: {url: "FILE:///state/{cluster}/", scope: cluster}
  secretsProvider: passphrase
  stackConfig: require
  config: {replicas: 3, "aws:region": "{label:region}", deep: {list: [a, "{{b}", null]}}
  configSecrets: {password: {env: PASSWORD}, "other:key": {file: /run/key}}
  env: [{name: Z, valueFrom: {env: ZZ}}, {name: A, value: "{cluster}"}]
  files: [{path: gcp.json, valueFrom: {file: /run/gcp}, env: GOOGLE_APPLICATION_CREDENTIALS}]
  create: never
  run: {refresh: true, targets: [urn:b, urn:a, urn:b], excludes: [urn:c], replace: [urn:d], parallel: 2, continueOnError: true, runProgram: true, install: none, build: [[npm, run, build], [make]], pendingCreates: clear, message: hello, timeout: 90s, weight: 3, priority: -5, concurrencyGroup: aws}
  runRequest: INC-42
  movedFrom: {pulumiStack: organization/old/prod, backend: "s3://old"}
`)}`;

test('everything that is built arrives', () => {
  const resolution = resolutionOf(EVERYTHING);
  assert.equal(resolution.placements.length, 1);
  assert.deepEqual(placementOf(resolution, 'prod-eu/shop/web'), {
    cluster: 'prod-eu',
    stack: { namespace: 'shop', name: 'web' },
    origin: { repository: 'fleet', path: 'apps/web/stack.yaml', line: 1 },
    source: {
      repository: 'fleet',
      project: 'libs/other',
      include: ['../../ui/**', '!**/*.md'],
      inferInputs: false,
    },
    inputs: {
      project: 'libs/other',
      pulumiStack: 'organization/other/shop-web-123',
      backend: { url: 'FILE:///state/prod-eu/', scope: 'cluster' },
      secretsProvider: 'passphrase',
      stackConfig: 'require',
      config: { 'other:replicas': 3, 'aws:region': 'eu', 'other:deep': { list: ['a', '{b}', null] } },
      configSecrets: { 'other:password': { env: 'PASSWORD' }, 'other:key': { file: '/run/key' } },
      env: [
        { name: 'A', value: 'prod-eu' },
        { name: 'Z', valueFrom: { env: 'ZZ' } },
      ],
      files: [{ path: 'gcp.json', valueFrom: { file: '/run/gcp' }, env: 'GOOGLE_APPLICATION_CREDENTIALS' }],
      refresh: true,
      targets: ['urn:a', 'urn:b'],
      excludes: ['urn:c'],
      replace: ['urn:d'],
      runProgram: true,
      install: 'none',
      build: [['npm', 'run', 'build'], ['make']],
    },
    policy: {
      create: 'never',
      pendingCreates: 'clear',
      timeoutMs: 90_000,
      parallel: 2,
      continueOnError: true,
      message: 'hello',
      weight: 3,
      priority: -5,
      concurrencyGroup: 'aws',
      labels: { team: 'shop' },
      annotations: { 'towline.dev/owner': 'me' },
    },
    claim: 'file:///state/prod-eu organization/other/shop-web-123 @prod-eu',
    runRequest: 'INC-42',
    leaves: 's3://old organization/old/prod @prod-eu',
  });
});

test('Defaults of the folder and above apply, the nearest wins, overrides come last, null takes away', () => {
  const resolution = resolutionOf(
    `${FLEET}${defaults('top.yaml', '  config: {a: top, b: top, c: top, "web:d": top, m: {x: 1, y: 1}}\n  env: [{name: A, value: top}, {name: B, value: top}]\n  clusters: {all: true}\n  run: {parallel: 7, weight: 2}\n')}${defaults(
      'apps/defaults.yaml',
      '  config: {b: apps, c: apps}\n  run: {parallel: 8}\n  env: [{name: C, value: apps}]\n',
    )}${defaults('other/defaults.yaml', '  config: {b: other}\n  run: {parallel: 9}\n')}${stack(`  config: {c: stack, "web:a": null, d: stack, m: {x: null, z: 3}}
  env: [{name: A, value: null}, {name: B, valueFrom: {env: X}}]
  overrides:
    - clusters: {names: [prod-eu]}
      config: {c: first, e: first}
    - clusters: {selector: {matchLabels: {region: eu}}}
      config: {"web:c": second, d: null}
      run: {weight: null}
`)}`,
  );
  const here = placementOf(resolution, 'prod-eu/shop/web');
  const there = placementOf(resolution, 'dev/shop/web');
  assert.deepEqual(there.inputs.config, {
    'web:b': 'apps',
    'web:c': 'stack',
    'web:d': 'stack',
    'web:m': { y: 1, z: 3 },
  });
  assert.deepEqual(here.inputs.config, {
    'web:b': 'apps',
    'web:c': 'second',
    'web:e': 'first',
    'web:m': { y: 1, z: 3 },
  });
  assert.deepEqual(here.inputs.env, [
    { name: 'B', valueFrom: { env: 'X' } },
    { name: 'C', value: 'apps' },
  ]);
  assert.deepEqual([here.policy.parallel, here.policy.weight, there.policy.weight], [8, 1, 2]);
});

test('another repository is named, and its folders count from its root', () => {
  const text = `${CLUSTERS}=== programs:infra/web/Pulumi.yaml (sources)
name: web
runtime: yaml
=== programs:stack.yaml (sources)
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: ignored}
${stack('  source: {repository: programs, dir: infra/web}\n  clusters: {names: [dev]}\n')}`;
  const resolution = resolutionOf(text);
  assert.deepEqual(resolution.refused, []);
  assert.deepEqual(placementOf(resolution, 'dev/shop/web').source, {
    repository: 'programs',
    project: 'infra/web',
    include: [],
    inferInputs: true,
  });
});

test('a program whose repository was not read yet is waited for, not refused', () => {
  const text = `${CLUSTERS}${stack('  source: {repository: programs, dir: infra/web}\n  clusters: {names: [dev]}\n')}`;
  const codeOf = (...unread: readonly string[]): readonly string[] =>
    resolve(readCatalog(files(text), NOW), NOW, {
      read: new Set(['fleet']),
      unread: new Map(unread.map((name) => [name, 'Unreachable: no'])),
    }).refused.map(({ reason }) => reason.code);
  assert.deepEqual(codeOf('programs'), ['SourceUnavailable']);
  assert.deepEqual(codeOf(), ['Invalid']);
});

test('placements come by cluster, namespace and name, whatever their files are called', () => {
  const more = ['z', 'a', 'm'].map(
    (name, index) =>
      `=== apps/web/${index}.yaml\napiVersion: towline.dev/v1\nkind: Stack\nmetadata: {name: ${name}}\nspec: {clusters: {all: true}}\n`,
  );
  const { placements } = resolutionOf(`${FLEET}${more.join('')}`);
  assert.deepEqual(placements.map(placementKey), [
    'dev/default/a',
    'dev/default/m',
    'dev/default/z',
    'prod-eu/default/a',
    'prod-eu/default/m',
    'prod-eu/default/z',
  ]);
});

test('one cluster may be left unsaid, as long as it is known to be the only one', () => {
  const one = '=== a.yaml\napiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: only}\n';
  const bare = `${PROJECT}${stack('  config: {a: b}\n')}`;
  assert.match(printResolution(resolutionOf(`${one}${bare}`)), /^placed only\/shop\/web/);
  assert.match(printResolution(resolutionOf(bare)), /has one cluster; it has 0/);
  const lost = '=== b.yaml\napiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: b\n';
  assert.match(
    printResolution(resolutionOf(`${one}${lost}${bare}`)),
    /how many clusters there are is not known/,
  );
  const refused =
    '=== b.yaml\napiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: b}\nspec: {x: 1}\n';
  assert.match(printResolution(resolutionOf(`${one}${refused}${bare}`)), /it has 2/);
});

test('clusters come with their defaults, their valid keys and what suspends them', () => {
  const [dev, prod] = resolutionOf(CLUSTERS).clusters;
  assert.deepEqual(prod, {
    name: 'prod-eu',
    policy: { maxConcurrentRuns: 9 },
    environment: 'prod',
    labels: { tier: 'prod', region: 'eu' },
    publicKeys: [KEY],
    offlineAfterMs: 120_000,
    origin: { repository: 'fleet', path: 'clusters/all.yaml', line: 1 },
  });
  assert.deepEqual(dev, {
    name: 'dev',
    policy: {
      maxConcurrentRuns: 4,
      suspend: {
        reason: 'suspended by Cluster dev until 2026-12-02T00:00:00.000Z: moving house',
        until: Date.parse('2026-12-02T00:00:00Z'),
      },
    },
    labels: {},
    publicKeys: [],
    offlineAfterMs: 45_000,
    origin: { repository: 'fleet', path: 'clusters/all.yaml', line: 11 },
  });
});

test('suspensions of fleet, cluster and stack add up, and end by themselves', () => {
  const fleet =
    '=== fleet.yaml\napiVersion: towline.dev/v1\nkind: Fleet\nmetadata: {name: all}\nspec: {suspend: {}}\n';
  const text = `${FLEET}${fleet}${stack('  clusters: {all: true}\n  suspend: {reason: INC-1, until: "2026-12-01T00:00:01Z"}\n')}`;
  const now = resolutionOf(text);
  assert.equal(
    placementOf(now, 'dev/shop/web').suspended?.text,
    'suspended by Fleet all (fleet:fleet.yaml:1): no reason given; ' +
      'suspended by Cluster dev (fleet:clusters/all.yaml:11) until 2026-12-02T00:00:00.000Z: moving house; ' +
      'suspended by Stack shop/web (fleet:apps/web/stack.yaml:1) until 2026-12-01T00:00:01.000Z: INC-1',
  );
  assert.deepEqual(now.clusters[0]?.policy.suspend?.until, undefined);
  const later = resolve(readCatalog(files(text.replace(fleet, '')), NOW), NOW + 1_000);
  assert.equal(placementOf(later, 'prod-eu/shop/web').suspended, undefined);
  assert.match(placementOf(later, 'dev/shop/web').suspended?.text ?? '', /^suspended by Cluster dev [^;]*$/);
});

test('short names are completed with a warning, also the one that is left', () => {
  const resolution = resolutionOf(
    `${FLEET}${stack('  clusters: {names: [dev]}\n  pulumiStack: organization/{cluster}\n  movedFrom: {pulumiStack: old}\n')}`,
  );
  const placement = placementOf(resolution, 'dev/shop/web');
  assert.equal(placement.inputs.pulumiStack, 'organization/web/dev');
  assert.match(placement.leaves ?? '', / organization\/web\/old$/);
  assert.match(
    printResolution(resolution),
    /stack\.yaml:6: warning .*“organization\/dev” is completed to “organization\/web\/dev”/,
  );
});

test('the order of the files changes nothing', () => {
  const all = files(
    `${FLEET}${defaults('apps/defaults.yaml', '  config: {a: b}\n')}${stack('  clusters: {all: true}\n')}${stack('  clusters: {names: [x, y]}\n', 'apps/web/twice.yaml')}
=== apps/web/more.yaml
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: b}
spec: {clusters: {names: [dev, devv, prod-eu]}}
---
apiVersion: towline.dev/v1
kind: Stack
metadata: {name: a}
spec: {clusters: {selector: {matchLabels: {tier: none}}}, pulumiStack: a}
=== broken.yaml
apiVersion: towline.dev/v1
kind: [
=== shop:towline.yaml (stacks)
apiVersion: towline.dev/v1
kind: Fleet
metadata: {name: f}
`,
  );
  const answer = (some: typeof all): unknown => {
    const catalog = readCatalog(some, NOW);
    return [catalog.problems, catalog.unreadable, catalog.refusedStacks, resolve(catalog, NOW)];
  };
  const expected = answer(all);
  fc.assert(
    fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
      assert.deepEqual(answer(shuffled), expected);
    }),
    { numRuns: 50 },
  );
});
