import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HUB_ACCOUNT, natsConfig } from '../../deploy/nats/config.ts';
import { makeUserKey } from '../../shared/nats.ts';
import {
  accountOfCall,
  AGENT_API_PREFIX,
  agentSubjects,
  hubSubjects,
  ORDER_CONSUMER,
  stackOfOrder,
  streams,
  token,
  untoken,
} from '../../shared/subjects.ts';

const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
/** Kubernetes names: labels joined by dots. */
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const stack = fc.record({ namespace: label, name }, { noNullPrototype: true });

test('a name is one token, and its token stands for no other name', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      assert.match(token(one), /^[^.*> ]+$/);
      assert.equal(untoken(token(one)), one);
      assert.equal(token(one) === token(other), one === other);
    }),
  );
});

test('the subject of an order names its stack, and the cluster’s own message names none', () => {
  fc.assert(
    fc.property(name, stack, (cluster, ref) => {
      assert.deepEqual(stackOfOrder(hubSubjects.order(token(cluster), ref)), ref);
      assert.equal(stackOfOrder(hubSubjects.clusterOrder(token(cluster))), undefined);
    }),
  );
});

test('the account of a call is read from its subject', () => {
  fc.assert(
    fc.property(name, (cluster) => {
      const account = token(cluster);
      assert.equal(accountOfCall(hubSubjects.hello(account)), account);
      assert.equal(accountOfCall(hubSubjects.beat(account)), account);
    }),
  );
  assert.equal(accountOfCall('hub'), '');
});

/** Whether a NATS pattern takes a subject, and what its wildcards stand for. */
function match(pattern: string, subject: string): readonly string[] | undefined {
  const parts = subject.split('.');
  const found: string[] = [];
  for (const [n, part] of pattern.split('.').entries()) {
    if (part === '>') return parts.length > n ? [...found, parts.slice(n).join('.')] : undefined;
    if (part === '*') found.push(parts[n] ?? '');
    else if (part !== parts[n]) return undefined;
  }
  return pattern.split('.').length === parts.length ? found : undefined;
}

interface Imported {
  readonly service: { readonly account: string; readonly subject: string };
  readonly to?: string;
}

/** What a call of an agent becomes in the hub's account. */
function crossing(imports: readonly Imported[], subject: string): readonly string[] {
  return imports.flatMap(({ service, to }) => {
    const found = match(to ?? service.subject, subject);
    if (found === undefined) return [];
    assert.equal(service.account, HUB_ACCOUNT);
    const values = [...found];
    return [service.subject.replace(/\*|>/g, () => values.shift() ?? '')];
  });
}

const keys = [makeUserKey(), makeUserKey(), makeUserKey()].map(({ publicKey }) => publicKey);

function importsOf(account: string): readonly Imported[] {
  const text = natsConfig({
    storeDir: '/store',
    hubKey: keys[0] ?? '',
    clusters: [
      { account, publicKey: keys[1] ?? '' },
      { account: 'neighbour-of-all', publicKey: keys[2] ?? '' },
    ],
  });
  const { accounts } = JSON.parse(text) as { accounts: Record<string, { imports: Imported[] }> };
  return accounts[account]?.imports ?? [];
}

const chunk = fc.record({ hash: fc.stringMatching(/^[0-9a-f]{64}$/), n: fc.nat(1_000) });

test('what an agent calls crosses the import to the subject that the hub listens to, under its own account', () => {
  fc.assert(
    fc.property(name, stack, chunk, (cluster, ref, { hash, n }) => {
      const account = token(cluster);
      const imports = importsOf(account);
      const consumer = `${streams.orders(account)}.${ORDER_CONSUMER}`;
      const rows: readonly [string, string][] = [
        [agentSubjects.report(ref), hubSubjects.report(account, ref)],
        [agentSubjects.run(ref), hubSubjects.run(account, ref)],
        [agentSubjects.log(hash, n), hubSubjects.log(account, hash, n)],
        [agentSubjects.hello, hubSubjects.hello(account)],
        [agentSubjects.beat, hubSubjects.beat(account)],
        [
          agentSubjects.artifactChunk(hash, n),
          `$JS.API.DIRECT.GET.ARTIFACTS.${hubSubjects.artifactChunk(hash, n)}`,
        ],
        [`${AGENT_API_PREFIX}.CONSUMER.MSG.NEXT.${consumer}`, `$JS.API.CONSUMER.MSG.NEXT.${consumer}`],
        [`${AGENT_API_PREFIX}.CONSUMER.INFO.${consumer}`, `$JS.API.CONSUMER.INFO.${consumer}`],
      ];
      for (const [local, hub] of rows) assert.deepEqual(crossing(imports, local), [hub]);
    }),
    { numRuns: 30 },
  );
});

test('no call of an agent crosses to another account’s subjects', () => {
  const imports = importsOf('harbour');
  const foreign = [
    hubSubjects.report('quay', { namespace: 'shop', name: 'web' }),
    hubSubjects.hello('quay'),
    `${AGENT_API_PREFIX}.CONSUMER.MSG.NEXT.quay.${ORDER_CONSUMER}`,
    `${AGENT_API_PREFIX}.STREAM.INFO.quay`,
    `$JS.ACK.quay.${ORDER_CONSUMER}.1.2.3.4.5`,
  ];
  for (const subject of foreign) {
    for (const crossed of crossing(imports, subject)) assert.match(crossed, /^state\.harbour\./);
  }
});

const covers: readonly [string, string, string][] = [
  ['orders', hubSubjects.orders('a'), hubSubjects.order('a', { namespace: 's', name: 'w.x' })],
  ['the cluster’s message', hubSubjects.orders('a'), hubSubjects.clusterOrder('a')],
  ['reports', hubSubjects.reports('a'), hubSubjects.report('a', { namespace: 's', name: 'w' })],
  ['runs', hubSubjects.runs('a'), hubSubjects.run('a', { namespace: 's', name: 'w' })],
  ['logs', hubSubjects.logs('a'), hubSubjects.log('a', 'run-1', 0)],
  ['the log of a run', hubSubjects.logsOfRun('a', 'run-1'), hubSubjects.log('a', 'run-1', 0)],
  ['chunks', hubSubjects.artifacts, hubSubjects.artifactChunk('f', 3)],
  ['chunks of one artifact', hubSubjects.artifactOf('f'), hubSubjects.artifactChunk('f', 3)],
  ['hellos', hubSubjects.hellos, hubSubjects.hello('a')],
  ['beats', hubSubjects.beats, hubSubjects.beat('a')],
];

for (const [what, pattern, subject] of covers) {
  test(`the pattern of ${what} takes them`, () => assert.ok(match(pattern, subject)));
}

test('the streams of two accounts share no name', () => {
  const all = ['a', 'state_a', 'b'].flatMap((account) => [
    streams.orders(account),
    streams.state(account),
    streams.runs(account),
    streams.logs(account),
  ]);
  assert.equal(new Set(all).size, all.length);
});
