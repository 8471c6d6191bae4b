/** A small fleet behind the API: every field that could hold a secret holds a canary. */
import type { FastifyInstance } from 'fastify';
import { makeApi, type ApiOptions } from '../../../hub/api/api.ts';
import { makeEventLog } from '../../../hub/api/events.ts';
import type { ClusterView, ReadModel } from '../../../hub/api/model.ts';
import { EMPTY_BOARD, foldBeat, foldReports, listening, type Board } from '../../../hub/board.ts';
import type { PlannedCommit } from '../../../hub/decision.ts';
import type { SourceView } from '../../../hub/git/source.ts';
import { addPlanned, EMPTY_HISTORY, type History } from '../../../hub/history.ts';
import { joinRows, type ViewInput } from '../../../hub/view.ts';
import { makeLog } from '../../../shared/log.ts';
import { WIRE_VERSION, type Order, type Report, type RunRecord } from '../../../shared/wire.ts';
import { atEnd, type Owner } from '../../harness/owned.ts';
import { inForce, makeOrder, makePlacement, makeReport, makeWanted, NOW } from '../make.ts';
import { plainPolicy } from '../../harness/policy.ts';

/** In no answer, whatever is asked. */
export const CANARY = 'canary-7f3a9b';
/** Shaped like a token, put together here so that no scanner takes this file for a leak. */
export const SHAPED = `ghp_${'a1'.repeat(18)}`;

export const COMMIT = 'c0ffee'.padEnd(40, '0');
const labels = { team: 'shop', tier: 'prod' };

export const webOrder: Order = makeOrder(
  makeWanted(
    { name: 'web' },
    {
      policy: { ...plainPolicy, labels, annotations: { 'towline.dev/owner': 'team-shop' } },
      inputs: {
        project: 'stacks/web',
        pulumiStack: 'organization/web/harbour',
        backend: { url: `s3://user:${CANARY}@state` },
        secretsProvider: `passphrase://${CANARY}`,
        config: { 'web:replicas': CANARY },
        configSecrets: { 'web:password': { env: CANARY } },
        env: [
          { name: 'AWS_REGION', value: CANARY },
          { name: 'TOKEN', valueFrom: { file: CANARY } },
        ],
        files: [{ path: 'gcp.json', valueFrom: { file: CANARY } }],
      },
    },
  ),
  {
    gen: 200,
    reasons: [
      {
        code: 'ConfigChanged',
        text: 'field config.web:replicas changed',
        inputs: [
          { path: 'config.web:replicas', from: CANARY, to: 'abcdef012345' },
          { path: 'stacks/web/index.ts', to: `100644 ${'ab'.repeat(20)}` },
        ],
        inputCount: 2,
      },
    ],
  },
);

export const webReport: Report = makeReport(webOrder, {
  runId: 'run-1',
  startedAt: NOW - 20_000,
  finishedAt: NOW - 10_000,
  changes: { create: 1, update: 0, delete: 0, replace: 0, same: 4 },
  at: NOW - 10_000,
  tail: ['Resources:', '    + 1 created'],
  lastSuccess: {
    inputDigest: webOrder.inputDigest,
    commit: COMMIT,
    artifact: { ...webOrder.artifact, key: CANARY },
    claim: webOrder.claim,
    pulumiStack: 'organization/web/harbour',
    backendUrl: `s3://user:${CANARY}@state`,
    incarnation: 'incarnation-1',
    at: NOW - 10_000,
  },
});

export const run: RunRecord = {
  v: WIRE_VERSION,
  runId: 'run-1',
  gen: 200,
  cluster: 'harbour',
  stack: webOrder.stack,
  inputDigest: webOrder.inputDigest,
  commit: COMMIT,
  kind: 'update',
  attempt: 1,
  trigger: { code: 'ConfigChanged', text: 'field config.web:replicas changed' },
  result: 'succeeded',
  startedAt: NOW - 20_000,
  finishedAt: NOW - 10_000,
  changes: { create: 1, update: 0, delete: 0, replace: 0, same: 4 },
  resources: [{ op: 'create', urn: 'urn:pulumi:harbour::web::x:y:Z::site' }],
  toolchain: { pulumi: '3.274.0' },
};

export const planned: PlannedCommit = {
  repository: 'fleet',
  ref: 'refs/heads/main',
  commit: { id: COMMIT, subject: `a commit with ${SHAPED}`, author: 'someone', time: NOW - 60_000 },
  plannedAt: NOW - 55_000,
  decisions: [
    { cluster: 'harbour', stack: webOrder.stack, verdict: 'run', reasons: webOrder.reasons, gen: 200 },
    {
      cluster: 'island',
      stack: webOrder.stack,
      verdict: 'refused',
      reasons: [{ code: 'Invalid', text: `bad ${SHAPED}` }],
    },
  ],
  orders: 1,
};

const source: SourceView = {
  name: 'fleet',
  url: `https://user:${CANARY}@git/fleet`,
  ref: 'refs/heads/main',
  trust: 'fleet',
  manifests: ['**/*.yaml'],
  state: 'Unreachable',
  since: NOW - 5_000,
  checkedAt: NOW - 1_000,
  message: `cannot reach https://user:${CANARY}@git/fleet`,
};

/** What a test may change while the server runs. */
export interface World {
  now: number;
  board: Board;
  history: History;
  notReady: string | undefined;
  input: ViewInput;
}

export interface Served {
  readonly app: FastifyInstance;
  readonly world: World;
  readonly model: ReadModel;
}

const beat = {
  v: WIRE_VERSION,
  agent: 'agent-1',
  version: '0.1.0',
  free: 3,
  settledHash: '',
  at: NOW,
} as const;

export function makeWorld(): World {
  const board = foldBeat(listening(foldReports(EMPTY_BOARD, [webReport]).board, NOW - 600_000), 'harbour', {
    beat: { ...beat, running: [] },
    heardAt: NOW - 2_000,
  });
  const history = addPlanned(EMPTY_HISTORY, planned);
  const input: ViewInput = {
    placements: [makePlacement({ name: 'web' }, { policy: webOrder.policy, inputs: webOrder.inputs })],
    refused: [],
    orders: inForce(webOrder),
    board,
    sources: [source],
    history,
  };
  return { now: NOW, board, history, notReady: undefined, input };
}

const clusters: readonly ClusterView[] = [
  { name: 'harbour', labels: { tier: 'prod' }, declared: true, offlineAfterMs: 45_000, maxConcurrentRuns: 4 },
  { name: 'island', labels: {}, declared: false, offlineAfterMs: 45_000, suspended: { reason: 'INC-1' } },
];

export function modelOf(world: World): ReadModel {
  let seen: Board | undefined;
  let view = joinRows(world.input);
  return {
    now: () => world.now,
    view: () => {
      if (seen !== world.board) view = joinRows({ ...world.input, board: world.board });
      seen = world.board;
      return view;
    },
    board: () => world.board,
    clusters: () => clusters,
    history: () => world.history,
    sources: () => [source],
    problems: () => [
      {
        severity: 'error',
        code: 'Invalid',
        origin: { repository: 'fleet', path: 'stacks/web/stack.yaml', line: 7 },
        identity: { kind: 'Stack', namespace: 'shop', name: 'web' },
        text: `spec.soruce: unknown field; did you mean source? ${SHAPED}`,
      },
    ],
    events: makeEventLog('test'),
    runs: async () => [run],
    log: async function* (_cluster, { run: id }) {
      yield { v: WIRE_VERSION, run: id, n: 0, last: false, lines: ['first', 'second "quoted"'] };
      yield { v: WIRE_VERSION, run: id, n: 1, last: true, lines: ['third'] };
    },
    notReady: () => world.notReady,
    unhealthy: () => undefined,
  };
}

export const quiet = makeLog({ name: 'test', level: 'silent' });

/** The API over a small fleet; closed with its owner. */
export async function serve(
  owner: Owner,
  options: Partial<ApiOptions> = {},
  change: (model: ReadModel) => ReadModel = (model) => model,
): Promise<Served> {
  const world = makeWorld();
  const model = change(modelOf(world));
  const app = await makeApi(model, { log: quiet, tokens: [], ...options });
  atEnd(owner, () => app.close());
  return { app, world, model };
}
