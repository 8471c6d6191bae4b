/** Who may ask: a token, or without one only this machine. Pure. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Fewer characters can be guessed. */
const TOKEN_CHARACTERS = 20;

export type Tokens =
  | { readonly kind: 'tokens'; readonly hashes: readonly Buffer[] }
  | { readonly kind: 'error'; readonly error: string };

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Reads a token file: a token a line, or `sha256:` and the hash of one; `#` starts a comment. */
export function parseTokens(text: string): Tokens {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines.length === 0) return { kind: 'error', error: 'holds no token' };
  const hashes: Buffer[] = [];
  for (const [n, line] of lines.entries()) {
    const hash = /^sha256:(.*)$/.exec(line)?.[1];
    if (hash !== undefined && !/^[0-9a-f]{64}$/.test(hash))
      return { kind: 'error', error: `entry ${n + 1}: sha256: is followed by 64 hex digits` };
    if (hash === undefined && line.length < TOKEN_CHARACTERS)
      return { kind: 'error', error: `entry ${n + 1}: a token has at least ${TOKEN_CHARACTERS} characters` };
    hashes.push(hash === undefined ? hashOf(line) : Buffer.from(hash, 'hex'));
  }
  return { kind: 'tokens', hashes };
}

/** Whether an `Authorization` header bears one of the tokens. Takes as long for a wrong one as for a right one. */
export function bearsToken(header: string | undefined, hashes: readonly Buffer[]): boolean {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (token === undefined) return false;
  const hash = hashOf(token);
  return hashes.map((known) => timingSafeEqual(known, hash)).includes(true);
}

export type Listen =
  | { readonly kind: 'address'; readonly host: string; readonly port: number }
  | { readonly kind: 'error'; readonly error: string };

/** Reads `host:port`. Beyond this machine the API is only served to those who bear a token. */
export function parseListen(text: string, hasTokens: boolean): Listen {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = Number(digits);
  if (digits === undefined || host === '' || port > 65_535)
    return { kind: 'error', error: `“${text}” is not host:port, such as 127.0.0.1:8420 or [::1]:8420` };
  if (!isLoopback(host) && !hasTokens)
    return {
      kind: 'error',
      error: `${host} is reachable from other machines: set --api-token-file, or listen on 127.0.0.1`,
    };
  return { kind: 'address', host, port };
}

/** An address or name that never leaves this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** The host of a `Host` header, without its port. */
export const hostOf = (header: string | undefined): string =>
  (header ?? '')
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
