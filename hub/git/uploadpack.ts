/** Git's protocol for getting a pack, version 0 over HTTP: what is asked, and the answer cut into its parts. Pure. */

export interface PackRequest {
  /** Object that is asked for. */
  readonly want: string;
  /** Commits that are here with everything they hold. */
  readonly have: readonly string[];
  /** Those of them whose parents are not here. */
  readonly shallow: readonly string[];
  /** Only so many commits; absent: all that is not here. */
  readonly depth?: number;
}

const FLUSH = '0000';

/**
 * What every server of the last fifteen years can do. Thin packs are not asked for, so that each pack stands alone;
 * progress is, so that a server that is busy is not a silent one.
 */
const CAPABILITIES = 'side-band-64k ofs-delta agent=git/towline';

/** Body of the request. */
export function encodeRequest({ want, have, shallow, depth }: PackRequest): Buffer {
  const lines = [
    line(`want ${want} ${CAPABILITIES}${depth === undefined ? '' : ' shallow'}`),
    ...shallow.map((id) => line(`shallow ${id}`)),
    ...(depth === undefined ? [] : [line(`deepen ${depth}`)]),
    FLUSH,
    ...have.map((id) => line(`have ${id}`)),
    line('done'),
  ];
  return Buffer.from(lines.join(''));
}

const line = (text: string): string => `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`;

export interface PackReply {
  /** Takes the next bytes; throws {@link ServerError} with the server's words, or an Error for what is no answer of Git. */
  push(chunk: Buffer): void;
  /** Commits whose parents are not sent. */
  readonly shallow: readonly string[];
  /** The answer was read to its end. */
  readonly ended: boolean;
}

/** The server says why it does not serve. */
export class ServerError extends Error {}

const PACK = 1;
const PROGRESS = 2;
const FATAL = 3;

/** Cuts an answer; what belongs to the pack goes to `onPack` at once. */
export function makeReply(onPack: (bytes: Buffer) => void): PackReply {
  const shallow: string[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let ended = false;
  let packing = false;
  const take = (packet: Buffer): void => {
    const [band] = packet;
    if (band === FATAL) throw new ServerError(packet.toString('utf8', 1).trim());
    if (band === PROGRESS) return;
    if (band === PACK) {
      packing = true;
      onPack(packet.subarray(1));
      return;
    }
    const text = packet.toString('utf8').trim();
    const refusal = /^ERR (.*)$/s.exec(text)?.[1];
    if (refusal !== undefined) throw new ServerError(refusal);
    const cut = /^shallow ([0-9a-f]{40,64})$/.exec(text)?.[1];
    if (cut !== undefined) shallow.push(cut);
    else if (!/^(?:NAK|ACK [0-9a-f]{40,64}.*|unshallow [0-9a-f]{40,64})$/.test(text))
      throw new Error(`the server’s answer is not Git’s: ${text.slice(0, 60)}`);
  };
  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (rest.length >= 4) {
        const head = rest.toString('latin1', 0, 4);
        const length = /^[0-9a-f]{4}$/.test(head) ? Number.parseInt(head, 16) : NaN;
        if (Number.isNaN(length) || (length > 0 && length < 4))
          throw new Error('the server’s answer is not Git’s');
        if (rest.length < length) return;
        if (length === 0) ended = packing;
        else take(rest.subarray(4, length));
        rest = rest.subarray(Math.max(4, length));
      }
    },
    shallow,
    get ended() {
      return ended;
    },
  };
}
