import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HUB_ACCOUNT, natsConfig, type NatsSettings } from '../../../deploy/nats/config.ts';
import { makeUserKey } from '../../../shared/nats.ts';

const hub = makeUserKey().publicKey;
const harbour = { account: 'harbour', publicKey: makeUserKey().publicKey };
const quay = { account: 'prod_eu-1', publicKey: makeUserKey().publicKey };
const settings = { port: 4222, storeDir: '/data/"nats"', hubKey: hub, clusters: [harbour, quay] };

interface Account {
  readonly users: { nkey: string }[];
  readonly jetstream?: string;
  readonly exports?: { service: string; account_token_position?: number }[];
  readonly imports?: { service: { account: string; subject: string }; to?: string }[];
}

const accountsOf = (given: NatsSettings): Record<string, Account> =>
  (JSON.parse(natsConfig(given)) as { accounts: Record<string, Account> }).accounts;

test('the exports do not grow with the fleet', () => {
  const one = accountsOf({ ...settings, clusters: [harbour] })[HUB_ACCOUNT];
  assert.deepEqual(one, accountsOf(settings)[HUB_ACCOUNT]);
});

test('only the hub has JetStream', () => {
  const accounts = accountsOf(settings);
  const withJetStream = Object.keys(accounts).filter((name) => accounts[name]?.jetstream !== undefined);
  assert.deepEqual(withJetStream, [HUB_ACCOUNT]);
});

test('the account of a cluster stands where the export says it stands', () => {
  const accounts = accountsOf(settings);
  const exported = accounts[HUB_ACCOUNT]?.exports ?? [];
  for (const { account } of settings.clusters) {
    const imported = accounts[account]?.imports ?? [];
    assert.equal(imported.length, exported.length);
    for (const [index, { service }] of imported.entries()) {
      const position = exported[index]?.account_token_position;
      const tokens = service.subject.split('.');
      if (position === undefined) assert.match(service.subject, /\.ARTIFACTS\./);
      else assert.equal(tokens[position - 1], account, service.subject);
    }
  }
});

test('what could mean something else in a subject or in the file is refused', () => {
  const key = makeUserKey().publicKey;
  const cases: readonly [NatsSettings, RegExp][] = [
    [{ ...settings, clusters: [{ account: 'eu.prod', publicKey: key }] }, /eu\.prod/],
    [{ ...settings, clusters: [{ account: '*', publicKey: key }] }, /“\*”/],
    [{ ...settings, clusters: [{ account: HUB_ACCOUNT, publicKey: key }] }, /HUB/],
    [{ ...settings, clusters: [harbour, { ...quay, account: 'harbour' }] }, /listed twice/],
    [{ ...settings, clusters: [{ account: 'eu', publicKey: hub }] }, /same key/],
    [{ ...settings, clusters: [{ account: 'eu', publicKey: 'UABC' }] }, /not the public nkey/],
    [{ ...settings, hubKey: 'A"}' }, /not the public nkey/],
  ];
  for (const [given, message] of cases) assert.throws(() => natsConfig(given), message);
});
