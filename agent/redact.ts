/**
 * Takes secret values out of bytes, in the forms in which programs print them, also where a value is cut by the border
 * of two chunks.
 */

/** What stands where a secret was. */
export const MASK = '[secret]';

/** Shorter values are not looked for: masking `1` or `dev` would make the output useless and hide nothing. */
const MIN_VALUE_BYTES = 4;
/** A line of a value of several lines: short ones (`}`, `-----`) stand in ordinary output as well. */
const MIN_LINE_BYTES = 8;
/** An unfinished secret at the end of all output is masked from this length on. */
const MIN_PREFIX_BYTES = 8;

/** The byte sequences to look for: each value raw, in JSON, in base64 at every alignment, URL-encoded, per line. */
export function patternsOf(secrets: readonly string[]): Buffer[] {
  const texts = new Set<string>();
  for (const secret of secrets) {
    if (Buffer.byteLength(secret) < MIN_VALUE_BYTES) continue;
    for (const part of [secret, ...linesOf(secret)]) for (const form of formsOf(part)) texts.add(form);
  }
  return [...texts].map((text) => Buffer.from(text)).filter((bytes) => bytes.length >= MIN_VALUE_BYTES);
}

/** The value without white space around it, and the lines of a value of several. */
function linesOf(secret: string): string[] {
  const lines = secret.split(/[\r\n]+/).map((line) => line.trim());
  return [secret.trim(), ...lines.filter((line) => Buffer.byteLength(line) >= MIN_LINE_BYTES)];
}

function formsOf(text: string): string[] {
  const url = encodeURI(text.toWellFormed());
  const component = encodeURIComponent(text.toWellFormed());
  const urls = [url, component, component.replaceAll('%20', '+'), strictUrl(component)];
  return [
    text,
    ...jsonsOf(text),
    ...urls,
    ...urls.map((one) => one.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())),
    ...base64Of(text),
    ...rowsOf(text),
  ];
}

/** How often JSON is put into JSON: the environment of a run has config in JSON, and a log line of it is JSON again. */
const JSON_LEVELS = 3;

function jsonsOf(text: string): string[] {
  const all: string[] = [];
  let level = [text];
  for (let n = 0; n < JSON_LEVELS; n += 1) {
    const plain = level.map((inner) => JSON.stringify(inner).slice(1, -1));
    level = [...new Set([...plain, ...plain.map(goEscaped)])];
    all.push(...level);
  }
  return all;
}

/** Go's encoder escapes these three as well. */
const goEscaped = (json: string): string =>
  json.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** Columns at which encoders break base64: that of mail and `base64`, and that of PEM. */
const BASE64_WIDTHS = [76, 64];

/** The rows of a value in base64 that an encoder broke; one row where it is short. */
function rowsOf(text: string): string[] {
  const encoded = Buffer.from(text).toString('base64');
  return BASE64_WIDTHS.flatMap((width) => encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).filter(
    (row) => row.length >= MIN_LINE_BYTES,
  );
}

/** RFC 3986: what encodeURIComponent leaves as it is, and other encoders do not. */
const strictUrl = (component: string): string =>
  component.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** The characters that the value alone decides, for each of the three positions in a group of three bytes. */
function base64Of(text: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    const inner = bytes
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

export interface Redactor {
  /** Bytes that are safe to show; what may be the beginning of a secret is held back. */
  push(chunk: Uint8Array): Buffer;
  /** The rest. */
  end(): Buffer;
}

/** A redactor for one stream of bytes. */
export function makeRedactor(patterns: readonly Buffer[]): Redactor {
  let held = Buffer.alloc(0);
  /** Bytes at the start of `held` that belong to a secret whose mask was written already. */
  let masked = 0;
  return {
    push: (chunk) => {
      const data = Buffer.concat([held, chunk]);
      const cut = data.length - unfinished(data, patterns);
      const { shown, beyond } = cover(data, { hits: hitsOf(data, patterns), cut, masked });
      held = Buffer.from(data.subarray(cut));
      masked = beyond;
      return shown;
    },
    end: () => {
      const hits = hitsOf(held, patterns);
      const open = unfinished(held, patterns);
      if (open >= MIN_PREFIX_BYTES) hits.push({ start: held.length - open, end: held.length });
      return cover(held, { hits, cut: held.length, masked }).shown;
    },
  };
}

/** The same for a text that is whole. */
export function redactText(text: string, patterns: readonly Buffer[]): string {
  const data = Buffer.from(text);
  const hits = hitsOf(data, patterns);
  return hits.length === 0 ? text : cover(data, { hits, cut: data.length, masked: 0 }).shown.toString();
}

interface Hit {
  readonly start: number;
  readonly end: number;
}

/** Every occurrence of every pattern. */
function hitsOf(data: Buffer, patterns: readonly Buffer[]): Hit[] {
  const hits: Hit[] = [];
  for (const pattern of patterns)
    for (let at = data.indexOf(pattern); at >= 0; at = data.indexOf(pattern, at + 1))
      hits.push({ start: at, end: at + pattern.length });
  return hits;
}

/**
 * Writes out everything before `cut`, one mask for hits that overlap. `masked`: so many bytes at the start belong to a
 * secret whose mask was written before; `beyond`: the same for what comes behind `cut`.
 */
function cover(
  data: Buffer,
  { hits, cut, masked }: { readonly hits: readonly Hit[]; readonly cut: number; readonly masked: number },
): { shown: Buffer; beyond: number } {
  const parts: Buffer[] = [];
  let at = masked;
  for (const { start, end } of [...hits].sort((a, b) => a.start - b.start)) {
    if (start >= at) {
      if (start >= cut) break;
      parts.push(data.subarray(at, start), Buffer.from(MASK));
    }
    at = Math.max(at, end);
  }
  if (at < cut) parts.push(data.subarray(at, cut));
  return { shown: Buffer.concat(parts), beyond: Math.max(0, at - cut) };
}

/** Length of the longest end of the data that is the beginning of a pattern. */
function unfinished(data: Buffer, patterns: readonly Buffer[]): number {
  let longest = 0;
  for (const pattern of patterns) longest = Math.max(longest, overlap(data, pattern));
  return longest;
}

function overlap(data: Buffer, pattern: Buffer): number {
  const first = pattern[0] ?? 0;
  const from = Math.max(0, data.length - pattern.length + 1);
  for (let at = data.indexOf(first, from); at >= 0; at = data.indexOf(first, at + 1)) {
    const length = data.length - at;
    if (data.compare(pattern, 0, length, at) === 0) return length;
  }
  return 0;
}
