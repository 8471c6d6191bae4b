/** Hello and beat: what the agent tells the hub about itself, unasked. */
import { pauseAfter } from '../shared/backoff.ts';
import { limits } from '../shared/limits.ts';
import type { Log } from '../shared/log.ts';
import type { NatsConnection } from '../shared/nats.ts';
import { hashesOf, saysOf, type Hashes, type Held } from '../shared/resync.ts';
import { agentSubjects } from '../shared/subjects.ts';
import {
  decode,
  encode,
  helloAnswerSchema,
  WIRE_VERSION,
  type Beat,
  type Hello,
  type HelloAnswer,
  type PlacementState,
} from '../shared/wire.ts';
import { keyOf, type Ledger, type PlacementEntry } from './ledger/ledger.ts';
import type { Reports } from './report.ts';

export interface SpeakParts {
  readonly connection: NatsConnection;
  readonly ledger: Ledger;
  readonly reports: Reports;
  readonly incarnation: string;
  /** Applies what the hub found out. */
  readonly answered: (answer: HelloAnswer) => Promise<void>;
  /** What a beat says beside the hash. */
  readonly condition: () => Pick<Beat, 'agent' | 'version' | 'free' | 'running' | 'at'>;
  readonly log: Log;
}

export interface Speaker {
  /** Says hello now, as after a reconnect; repeats it until it is answered. */
  hello(): void;
  close(): void;
}

/** Pauses between hellos that nobody answers: at most half a minute, so that a hub that comes back is found soon. */
const HELLO_RETRY = { firstMs: 1_000, longestMs: 30_000 };

/** Own timers: close it. */
export function startSpeaker(parts: SpeakParts): Speaker {
  let timer: NodeJS.Timeout | undefined;
  let beatTimer: NodeJS.Timeout | undefined;
  let failures = 0;
  let saying = false;
  let closed = false;
  const states = makeStates(parts.ledger, parts.reports);

  const after = (ms: number): void => {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(() => void say(), ms);
  };
  const publishBeat = (): void => {
    if (closed || parts.connection.isClosed()) return;
    const settledHash = states.hashes().reports;
    const message: Beat = { v: WIRE_VERSION, ...parts.condition(), settledHash };
    parts.connection.publish(agentSubjects.beat, encode(message));
  };
  const say = async (): Promise<void> => {
    if (saying || closed) return;
    saying = true;
    try {
      const answer = await greet(parts, states);
      failures = 0;
      // A hub that is new here missed the last beat, and would call this agent unheard until the next.
      publishBeat();
      after(answer.againMs === undefined ? limits.helloMs * jitter() : notBefore(answer.againMs));
    } catch (error) {
      if (!closed) parts.log.debug({ err: error }, 'hello was not answered');
      after(pauseAfter(HELLO_RETRY, failures) * jitter());
      failures += 1;
    }
    saying = false;
  };
  const beat = (): void => {
    if (closed) return;
    publishBeat();
    beatTimer = setTimeout(beat, limits.beatMs * jitter());
  };
  void say();
  beat();
  return {
    hello: () => {
      failures = 0;
      after(0);
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
      clearTimeout(beatTimer);
    },
  };
}

/** Within a tenth, so that a thousand agents do not speak at once. */
const jitter = (): number => 0.9 + Math.random() / 5;

/** A difference that is looked at too early is not confirmed, and costs the whole wait once more. */
const notBefore = (ms: number): number => ms * (1 + Math.random() / 5);

/** One hello, and a second one with the list if the hub asks for it. Rejects when nobody answers. */
async function greet(parts: SpeakParts, states: States): Promise<HelloAnswer> {
  const { orders, reports } = states.hashes();
  const { ledger, incarnation } = parts;
  const hello: Hello = {
    v: WIRE_VERSION,
    incarnation,
    ledger: ledger.header.epoch,
    ordersHash: orders,
    reportsHash: reports,
  };
  const answer = await ask(parts, hello);
  if (!answer.needList) return answer;
  const withList = { ...hello, ledger: ledger.header.epoch, list: states.list() };
  return ask(parts, withList);
}

async function ask(parts: SpeakParts, hello: Hello): Promise<HelloAnswer> {
  const reply = await parts.connection.request(agentSubjects.hello, encode(hello), {
    timeout: limits.requestTimeoutMs,
  });
  const decoded = decode(helloAnswerSchema, reply.data);
  if (decoded.kind !== 'message') throw new Error(`the answer to hello cannot be read (${decoded.kind})`);
  await parts.answered(decoded.message);
  return decoded.message;
}

interface States {
  hashes(): Hashes;
  list(): PlacementState[];
}

/** Counted again only after something changed. An entry whose order was lost has generation 0 here: it wants one. */
function makeStates(ledger: Ledger, reports: Reports): States {
  let known: { readonly at: string; readonly hashes: Hashes } | undefined;
  const genOf = (entry: {
    order?: unknown;
    forgottenAt?: unknown;
    refused?: unknown;
    gen: number;
  }): number =>
    entry.order !== undefined || entry.forgottenAt !== undefined || entry.refused !== undefined
      ? entry.gen
      : 0;
  /** An order that could not be read is held by its generation only. */
  const heldOf = (entry: PlacementEntry): Pick<Held, 'gen' | 'says'> => ({
    gen: genOf(entry),
    says: saysOf(entry.order?.gen === entry.gen ? entry.order : undefined),
  });
  const held = (): Held[] =>
    [...ledger.entries].flatMap(([key, entry]) => {
      const report = reports.newest.get(key);
      return report === undefined
        ? []
        : [{ ...heldOf(entry), stack: entry.stack, seq: report.seq, phase: report.phase }];
    });
  return {
    hashes: () => {
      const at = `${ledger.revision} ${reports.revision}`;
      if (known?.at !== at) known = { at, hashes: hashesOf(held()) };
      return known.hashes;
    },
    list: () =>
      [...ledger.entries.values()].map((entry) => ({
        namespace: entry.stack.namespace,
        name: entry.stack.name,
        ...heldOf(entry),
        seq: reports.newest.get(keyOf(entry.stack))?.seq ?? 0,
      })),
  };
}
