import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseTokens } from '../../../hub/api/auth.ts';
import { PROBLEMS } from '../../../hub/api/problems.ts';
import { foldBeat, foldReports } from '../../../hub/board.ts';
import { makeOrder, makeReport, makeWanted, NOW } from '../make.ts';
import { CANARY, COMMIT, serve, SHAPED, webOrder } from './fixture.ts';

const WEB = '/v1/placements/harbour/shop/web';
const ASKED = [
  '/v1/placements',
  '/v1/placements?phase=Succeeded,Offline&label=team=shop&sort=-since&limit=1',
  WEB,
  '/v1/placements/island/shop/web',
  `${WEB}/why`,
  `${WEB}/why?commit=${COMMIT.slice(0, 10)}`,
  `${WEB}/runs`,
  `${WEB}/runs/run-1`,
  `${WEB}/runs/run-1/log`,
  '/v1/clusters',
  '/v1/commits',
  `/v1/commits/${COMMIT}`,
  `/v1/commits/${COMMIT}?verdict=refused`,
  '/v1/sources',
  '/v1/problems',
  '/healthz',
  '/readyz',
];

const get = async (app: FastifyInstance, url: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'GET', url, headers });

/** A validator made from the served document alone. */
async function validator(
  app: FastifyInstance,
): Promise<(name: string, body: unknown) => z.ZodSafeParseResult<unknown>> {
  const text = (await get(app, '/openapi.json')).body.replaceAll('#/components/schemas/', '#/$defs/');
  const { components } = JSON.parse(text) as { components: { schemas: Record<string, object> } };
  return (name, body) =>
    z
      .fromJSONSchema({ $ref: `#/$defs/${name}`, $defs: components.schemas } as Parameters<
        typeof z.fromJSONSchema
      >[0])
      .safeParse(body);
}

interface Described {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<
      string,
      { get: { responses: Record<string, { content: Record<string, { schema?: { $ref?: string } }> }> } }
    >
  >;
}

const describedPath = (described: Described, url: string): string | undefined =>
  Object.keys(described.paths).find((path) =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(url.split('?')[0] ?? ''),
  );

test('real answers are what the OpenAPI document says', async (t) => {
  const { app } = await serve(t);
  const described = (await get(app, '/openapi.json')).json<Described>();
  assert.equal(described.openapi, '3.1.0');
  const validate = await validator(app);
  for (const url of ASKED) {
    const answer = await get(app, url);
    assert.equal(answer.statusCode, 200, `${url}: ${answer.body}`);
    const operation = described.paths[describedPath(described, url) ?? '']?.get;
    const schema = operation?.responses['200']?.content['application/json']?.schema?.$ref;
    assert.ok(schema, url);
    const checked = validate(schema.split('/').at(-1) ?? '', answer.json());
    assert.ok(checked.success, `${url}: ${checked.error?.message}`);
  }
  assert.equal(validate('PlacementDetail', { cluster: 'x' }).success, false);
});

test('every route is described, and nothing else', async (t) => {
  const { app } = await serve(t);
  const described = (await get(app, '/openapi.json')).json<Described>();
  const served = app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => /(\/\S*) \(GET\)/.exec(line)?.[1] ?? []);
  assert.ok(served.length > 10);
  for (const path of Object.keys(described.paths)) {
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
    assert.ok(app.hasRoute({ method: 'GET', url }), url);
  }
  assert.equal(Object.keys(described.paths).length, served.length);
});

test('no answer holds a canary or a known shape', async (t) => {
  const { app } = await serve(t);
  for (const url of [...ASKED, '/metrics', '/openapi.json', '/v1/placements/none/of/these']) {
    const { body, headers } = await get(app, url);
    const all = body + JSON.stringify(headers);
    assert.ok(!all.includes(CANARY), `${url} holds the canary: ${all}`);
    assert.ok(!all.includes(SHAPED), `${url} holds a token: ${all}`);
  }
  const detail = (await get(app, WEB)).json<{ order: { configKeys: string[]; envNames: string[] } }>();
  assert.deepEqual(detail.order.configKeys, ['web:password', 'web:replicas']);
  assert.deepEqual(detail.order.envNames, ['AWS_REGION', 'TOKEN']);
});

test('the detail of a placement, as people read it', async (t) => {
  const { app } = await serve(t);
  const golden = new URL('../../golden/placement.json', import.meta.url);
  const { body } = await get(app, WEB);
  assert.deepEqual(JSON.parse(body), JSON.parse(await readFile(golden, 'utf8')));
});

test('an answer that did not change is not sent again', async (t) => {
  const { app, world } = await serve(t);
  for (const url of ['/v1/placements', WEB, '/v1/commits']) {
    const tag = String((await get(app, url)).headers['etag']);
    const again = await get(app, url, { 'if-none-match': `"other", W/${tag}` });
    assert.equal(again.statusCode, 304, url);
    assert.equal(again.body, '');
  }
  const tag = String((await get(app, WEB)).headers['etag']);
  const heard = world.board.beats.get('harbour')!;
  world.now += 10_000;
  world.board = foldBeat(world.board, 'harbour', { ...heard, heardAt: world.now });
  assert.equal((await get(app, WEB, { 'if-none-match': tag })).statusCode, 304, 'age alone changes nothing');
  world.board = foldReports(world.board, [makeReport(webOrder, { seq: 2, phase: 'Failed' })]).board;
  assert.equal((await get(app, WEB, { 'if-none-match': tag })).statusCode, 200);
});

test('a silent agent is never shown as its last green', async (t) => {
  const { app, world } = await serve(t);
  interface Shown {
    status: string;
    phase: string;
    since: number;
    flags: { flag: string }[];
    ages: { agentMs: number };
  }
  assert.equal((await get(app, WEB)).json<Shown>().status, 'Succeeded');
  world.now += 60_000;
  const shown = (await get(app, WEB)).json<Shown>();
  assert.deepEqual([shown.status, shown.phase, shown.since], ['Offline', 'Succeeded', NOW - 2_000]);
  assert.deepEqual(
    shown.flags.map(({ flag }) => flag),
    ['Offline'],
  );
  assert.equal(shown.ages.agentMs, 62_000);
  const list = (await get(app, '/v1/placements?phase=Succeeded')).json<{ total: number }>();
  assert.equal(list.total, 0);
});

test('why a commit did what it did', async (t) => {
  const { app } = await serve(t);
  const why = async (url: string): Promise<string> => (await get(app, url)).json<{ text: string }>().text;
  assert.equal(
    await why(`${WEB}/why?commit=${COMMIT}`),
    'run at commit c0ffee000000: field config.web:replicas changed',
  );
  assert.match(
    await why('/v1/placements/island/shop/web/why'),
    /^refused at commit c0ffee000000: bad \[secret\]$/,
  );
});

const refused: readonly { url: string; method?: 'POST'; headers?: Record<string, string>; code: string }[] = [
  { url: '/v1/placements?limit=0', code: 'bad-request' },
  { url: '/v1/placements?limt=1', code: 'bad-request' },
  { url: '/v1/placements?phase=Green', code: 'bad-request' },
  { url: '/v1/placements?cursor=nonsense', code: 'bad-cursor' },
  { url: '/v1/placements/harbour/shop/none', code: 'not-found' },
  { url: '/v1/placements/harbour/sh*p/web', code: 'bad-request' },
  { url: `${WEB}/why?commit=${'d'.repeat(40)}`, code: 'commit-not-kept' },
  { url: `${WEB}/why?commit=main`, code: 'bad-request' },
  { url: `${WEB}/runs/run-9`, code: 'not-found' },
  { url: `${WEB}/runs/run-9/log`, code: 'not-found' },
  { url: `${WEB}/runs/%3E/log`, code: 'bad-request' },
  { url: '/v1/commits/ffffffffff', code: 'commit-not-kept' },
  { url: '/v1/nothing', code: 'not-found' },
  { url: '/v1/placements', method: 'POST', code: 'method-not-allowed' },
  { url: '/v1/placements', headers: { host: 'evil.example:8420' }, code: 'wrong-host' },
];
for (const { url, method = 'GET', headers = {}, code } of refused) {
  test(`${method} ${url} is the problem ${code}`, async (t) => {
    const { app } = await serve(t);
    const validate = await validator(app);
    const answer = await app.inject({ method, url, headers });
    const problem = answer.json<{ type: string; status: number }>();
    assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
    assert.equal(problem.type, `urn:towline:problem:${code}`);
    assert.equal(answer.statusCode, PROBLEMS[code as keyof typeof PROBLEMS].status);
    assert.equal(problem.status, answer.statusCode);
    assert.ok(validate('Problem', problem).success);
  });
}

test('a broker that does not answer is said to be it; any other failure tells nothing', async (t) => {
  const failing =
    (message: string, path: string) => (model: Parameters<NonNullable<Parameters<typeof serve>[2]>>[0]) => ({
      ...model,
      ...(path === 'runs'
        ? { runs: () => Promise.reject(new Error(message)) }
        : {
            sources: () => {
              throw new Error(message);
            },
          }),
    });
  const away = await serve(t, {}, failing('timeout', 'runs'));
  const answer = await get(away.app, `${WEB}/runs`);
  assert.deepEqual([answer.statusCode, answer.json<{ detail: string }>().detail], [503, 'timeout']);
  const broken = await serve(t, {}, failing(CANARY, 'sources'));
  const internal = await get(broken.app, '/v1/sources');
  assert.equal(internal.statusCode, 500);
  assert.ok(!internal.body.includes(CANARY));
});

test('readiness says what is missing', async (t) => {
  const { app, world } = await serve(t);
  assert.equal((await get(app, '/readyz')).statusCode, 200);
  world.notReady = 'the reports of island were not read to their end';
  const answer = await get(app, '/readyz');
  assert.deepEqual([answer.statusCode, answer.json<{ detail: string }>().detail], [503, world.notReady]);
  assert.equal((await get(app, '/healthz')).statusCode, 200);
});

test('with tokens, only who bears one reads more than the probes', async (t) => {
  const token = 'a-token-of-enough-characters';
  const tokens = parseTokens(token);
  assert.ok(tokens.kind === 'tokens');
  const { app } = await serve(t, { tokens: tokens.hashes });
  for (const url of ['/healthz', '/readyz', '/openapi.json'])
    assert.equal((await get(app, url)).statusCode, 200);
  for (const url of ['/v1/placements', '/metrics', '/v1/events', WEB, '/v1/nothing']) {
    const denied = await get(app, url, { host: 'hub.example' });
    assert.equal(denied.statusCode, 401, url);
    assert.equal(denied.headers['www-authenticate'], 'Bearer');
    assert.equal((await get(app, url, { authorization: `Bearer ${token}x` })).statusCode, 401);
  }
  const headers = { authorization: `Bearer ${token}`, host: 'hub.example' };
  assert.equal((await get(app, '/v1/placements', headers)).statusCode, 200);
});

test('a placement whose wanted state is not recorded yet is pending', async (t) => {
  const { app, world } = await serve(t);
  const newer = makeOrder(makeWanted({ name: 'web' }), { gen: 201 });
  world.input = { ...world.input, orders: new Map([['harbour/shop/web', newer]]) };
  world.board = { ...world.board };
  const shown = (await get(app, WEB)).json<{
    status: string;
    next: { kind: string };
    reason: { code: string };
  }>();
  assert.deepEqual(
    [shown.status, shown.next.kind, shown.reason.code],
    ['Pending', 'delivery', 'NewPlacement'],
  );
});
