/** The process log: JSON lines by pino; fields that may hold secrets are cut out by name before they are written. */
import { pino, type Logger } from 'pino';

export type Log = Logger;

/** Field names that never reach a log, at any of the first three levels. */
const REDACTED_FIELDS = [
  'key',
  'seed',
  'token',
  'password',
  'passphrase',
  'secret',
  'secrets',
  'authorization',
  'cookie',
  'env',
  'config',
  'configSecrets',
  'outputs',
] as const;

const paths = REDACTED_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

export interface LogOptions {
  readonly name: string;
  readonly level: string;
  /** Defaults to standard error: standard output belongs to what a command prints. */
  readonly destination?: { write(line: string): void };
}

/** A log that never holds an error's enumerable extras, only its name, message, stack, system code and causes. */
export function makeLog(options: LogOptions): Log {
  return pino(
    {
      name: options.name,
      level: options.level,
      redact: { paths, censor: '[redacted]' },
      serializers: { err: (value: unknown) => (value instanceof Error ? plainError(value) : value) },
      formatters: { log: withPlainErrors },
      base: { name: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    options.destination ?? pino.destination({ fd: 2, sync: true }),
  );
}

/** Errors under any name, since JSON of an error is nothing but its extras. */
const withPlainErrors = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      name === 'err' || value instanceof Error ? plainError(value) : value,
    ]),
  );

interface PlainError {
  readonly type?: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: PlainError;
}

/** How deep causes are followed: enough for a request in a client in a stage, and an end for a circle. */
const CAUSES = 4;

function plainError(thrown: unknown, causes = CAUSES): PlainError {
  if (!(thrown instanceof Error))
    return { message: typeof thrown === 'string' ? thrown : `thrown: ${typeof thrown}` };
  const { name, message, stack, cause } = thrown;
  const code = (thrown as NodeJS.ErrnoException).code;
  return {
    type: name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(typeof code === 'string' && SYSTEM_CODE.test(code) ? { code } : {}),
    ...(cause === undefined || causes === 0 ? {} : { cause: plainError(cause, causes - 1) }),
  };
}

/** Such as ECONNREFUSED or ERR_INVALID_URL: no value of anybody's. */
const SYSTEM_CODE = /^E[A-Z0-9_]+$/;
