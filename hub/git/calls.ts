/** What the hub asks of the thread that reads Git without the program. Types only. */
import type { Failure } from './failure.ts';
import type { PackRequest } from './uploadpack.ts';

/** Gets a pack from a server into a folder, indexed and on disk. */
export interface Obtain extends PackRequest {
  readonly op: 'obtain';
  readonly gitDir: string;
  readonly url: string;
  /** Value of an Authorization header. */
  readonly authorization?: string;
  /** Bytes of the pack; more is refused. */
  readonly maxBytes: number;
  /** The connection is cut when it brings fewer than {@link Obtain.slowBytes} in so long. */
  readonly stallMs: number;
  readonly slowBytes: number;
}

export type Obtained =
  { readonly kind: 'obtained'; readonly shallow: readonly string[]; readonly objects: number } | Failure;

/** Reads an object by id. */
export interface Read {
  readonly op: 'read';
  readonly gitDir: string;
  readonly id: string;
  /** Bytes; a larger one is not handed over. */
  readonly maxBytes: number;
}

export type ReadAnswer =
  | { readonly kind: 'object'; readonly type: string; readonly content: Uint8Array }
  | { readonly kind: 'missing' }
  | { readonly kind: 'oversized'; readonly size: number }
  | { readonly kind: 'broken'; readonly message: string };

export type Call = Obtain | Read;

/** A call on its way, and its answer. */
export interface Sent {
  readonly n: number;
  readonly call: Call;
}
export interface Answered {
  readonly n: number;
  readonly answer: Obtained | ReadAnswer;
}
