/**
 * Known shapes of secrets, cut out of everything that agents send before it is kept or shown. Agents have removed the
 * values that they know; this catches what they do not know to be one. A shape is public knowledge of its issuer.
 */

export const MASK = '[secret]';

/** Each has a fixed prefix or frame, so that digests, commits and names never match. */
const SHAPES: readonly RegExp[] = [
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, // AWS access key id
  /\bgh[pousr]_[A-Za-z0-9]{36,255}\b/g, // GitHub
  /\bgithub_pat_[A-Za-z0-9_]{50,255}\b/g,
  /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{20,300}/g, // GitLab
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g, // Slack
  /\bpul-[0-9a-f]{40}\b/g, // Pulumi
  /\bAIza[0-9A-Za-z_-]{35}/g, // Google API key
  /\bya29\.[0-9A-Za-z_.-]{20,2048}/g, // Google OAuth
  /\b(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,255}\b/g, // Stripe
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /\bpypi-[A-Za-z0-9_-]{50,1024}/g,
  /\b(?:hvs|hvb|hvr)\.[A-Za-z0-9_-]{24,1024}/g, // Vault
  /\bdo[opr]_v1_[0-9a-f]{64}\b/g, // DigitalOcean
  /\bdckr_pat_[A-Za-z0-9_-]{20,255}/g,
  /\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}/g, // SendGrid
  /\bsk-(?:[a-z]+-)?[A-Za-z0-9_-]{32,255}/g, // OpenAI, Anthropic
  /\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b/g,
  /\bS[OAUNCX][A-Z2-7]{56}\b/g, // NATS seeds
  // JWT, by its second part; from the start of a run of its characters, so that each run is looked at once
  /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{11,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
];

/** Frames of which only the inside is secret: `$1` stays. */
const FRAMED: readonly RegExp[] = [
  /(\b[a-z][a-z0-9+.-]{0,31}:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,1024}(?=@)/gi, // password in a URL
  /(\bAuthorization["']?\s*[:=]\s*["']?(?:Bearer|Basic|token)\s+)[A-Za-z0-9+/=._~-]{8,}/gi,
  /(\bAccountKey=)[A-Za-z0-9+/]{40,}={0,2}/g, // Azure storage
  /([?&]sig=)[A-Za-z0-9%+/]{20,}={0,2}/g, // Azure shared access signature
  /(\bX-Amz-(?:Signature|Credential|Security-Token)=)[^\s&"']+/gi,
  /(\baws_secret_access_key["']?\s*[:=]\s*["']?)[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/])/gi,
];

const KEY_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END = /-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----/;
const KEY_BLOCK =
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g;
/** A line of nothing but base64, as long as the lines of a key; digests in hex are not meant. */
const KEY_BODY = /^\s*(?![0-9a-f]+\s*$)[A-Za-z0-9+/]{60,}={0,2}\s*$/;

/** A text without known shapes. */
export function withoutShapes(text: string): string {
  let clean = text.includes('PRIVATE KEY') ? text.replace(KEY_BLOCK, MASK) : text;
  for (const shape of SHAPES) clean = clean.replace(shape, MASK);
  for (const frame of FRAMED) clean = clean.replace(frame, `$1${MASK}`);
  return clean;
}

/** A filter over the lines of one output, in order: a private key spans several of them. */
export function makeLineFilter(): (line: string) => string {
  let inKey = false;
  return (line) => {
    const begins = KEY_BEGIN.test(line);
    const hidden = inKey || begins || KEY_END.test(line) || KEY_BODY.test(line);
    if (begins || inKey) inKey = !KEY_END.test(line);
    return hidden ? MASK : withoutShapes(line);
  };
}

/** Every string of a value without known shapes; lists of strings are taken as lines. Keys of objects stay. */
export function clean<T>(value: T): T {
  return cleanAny(value) as T;
}

function cleanAny(value: unknown): unknown {
  if (typeof value === 'string') return withoutShapes(value);
  if (Array.isArray(value)) {
    const filter = makeLineFilter();
    return value.map((inner: unknown) => (typeof inner === 'string' ? filter(inner) : cleanAny(inner)));
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cleanAny(inner)]));
}
