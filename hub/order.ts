/** From a step of the plan to the message, and how large that may be. Pure. */
import { limits } from '../shared/limits.ts';
import type { Reason } from '../shared/outcome.ts';
import type { Surroundings } from '../shared/surroundings.ts';
import { orderSchema, WIRE_VERSION, type ArtifactRef, type Order } from '../shared/wire.ts';
import type { Tree } from './git/source.ts';
import type { Wanted } from './placement.ts';
import { locatedReason } from './problem.ts';
import type { Step } from './step.ts';

export interface OrderContext {
  readonly term: number;
  readonly now: number;
  /** The tree that the files come from, and their artifact; needed when the step has a manifest. */
  readonly tree?: Tree;
  readonly artifact?: ArtifactRef;
  /** Of an artifact that is not the whole tree. */
  readonly surroundings?: Surroundings;
}

/** The order of a step. Throws when a step lacks what it is made of: that is a bug, not an input. */
export function makeOrder(step: Step, context: OrderContext): Order {
  const body = step.wanted === undefined ? repeated(step) : fresh(step.wanted, step.base, context);
  return {
    ...body,
    v: WIRE_VERSION,
    gen: step.gen,
    term: context.term,
    action: step.action,
    reasons: step.reasons.slice(0, REASONS).map(cut),
    issuedAt: context.now,
  };
}

/** What an order carries of its reasons; the decision keeps them whole. */
const REASONS = 8;
const REASON_CHARACTERS = 1_000;
const REASON_INPUTS_CHARACTERS = 2_000;

function cut({ text, inputs, ...rest }: Reason): Reason {
  let room = REASON_INPUTS_CHARACTERS;
  const fitting = inputs?.filter((input) => (room -= JSON.stringify(input).length) >= 0);
  return {
    ...rest,
    text: text.slice(0, REASON_CHARACTERS).toWellFormed(),
    ...(fitting && { inputs: fitting }),
  };
}

/** Why an order cannot be sent as it is: no agent could read it. Then it would be lost, or keep all others from being sent. */
export function unfit(order: Order): Reason | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(order));
  if (bytes > limits.orderBytes) {
    const text = `the order has ${bytes} bytes, ${limits.orderBytes} are allowed: shorten runRequest, backend.url, labels and annotations`;
    return { code: 'OrderTooLarge', text };
  }
  const parsed = orderSchema.safeParse(order);
  if (parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  return {
    code: 'Invalid',
    text: `no agent could read its order: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
  };
}

type Body = Omit<Order, 'v' | 'gen' | 'term' | 'action' | 'reasons' | 'issuedAt'>;

function repeated(step: Step): Body {
  if (step.base === undefined)
    throw new Error(`step of ${step.stack.name} has neither a manifest nor an order`);
  return step.base;
}

function fresh(
  wanted: Wanted,
  base: Order | undefined,
  { tree, artifact, surroundings }: OrderContext,
): Body {
  const { placement, inputDigest, policyDigest } = wanted;
  if (tree === undefined || artifact === undefined)
    throw new Error(`no artifact for ${placement.stack.name}`);
  const { id, subject, author, time } = tree.commit;
  return {
    cluster: placement.cluster,
    stack: placement.stack,
    inputDigest,
    equals: equalsOf(wanted, base),
    policyDigest,
    claim: placement.claim,
    source: {
      repository: tree.repository,
      ref: tree.ref,
      commit: id,
      subject,
      author,
      time,
      manifest: placement.origin,
    },
    artifact,
    inputs: placement.inputs,
    policy: placement.policy,
    ...(surroundings === undefined ? {} : { surroundings }),
    ...(placement.runRequest === undefined ? {} : { runRequest: placement.runRequest }),
  };
}

/** Digests that an agent may have applied the same inputs under; a later order says what one that it missed has said. */
const equalsOf = ({ inputDigest, equals = [] }: Wanted, base: Order | undefined): string[] => [
  ...new Set([...equals, ...(base?.inputDigest === inputDigest ? base.equals : [])]),
];

/** Room for what the plan adds to the placement's own fields: source, artifact, at most a few cut reasons. */
const ENVELOPE_BYTES = 32 * 1024;

const judged = new WeakMap<Wanted, { readonly reason: Reason | undefined }>();

/** Why a placement does not fit into an order, naming its biggest fields; undefined when it does. */
export function oversize(wanted: Wanted): Reason | undefined {
  const before = judged.get(wanted) ?? { reason: judge(wanted) };
  judged.set(wanted, before);
  return before.reason;
}

function judge(wanted: Wanted): Reason | undefined {
  const fields = { ...wanted.placement.inputs, ...wanted.placement.policy };
  const sizes = Object.entries(fields)
    .map(([field, value]) => ({ field, bytes: Buffer.byteLength(JSON.stringify(value)) }))
    .sort((a, b) => b.bytes - a.bytes);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const room = limits.orderBytes - ENVELOPE_BYTES;
  if (total <= room) return undefined;
  const biggest = sizes.slice(0, 3).map(({ field, bytes }) => `${field} ${bytes}`);
  return locatedReason(wanted.placement.origin, {
    code: 'OrderTooLarge',
    text:
      `the resolved stack has ${total} bytes, ${room} fit into an order; biggest fields ` +
      `(bytes): ${biggest.join(', ')}; move large values into files of the project`,
  });
}
