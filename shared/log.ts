/** The process log: JSON lines by pino; fields that may hold secrets are cut out by name before they are written. */
import { pino, type Logger } from 'pino';

export type Log = Logger;

/** Field names that never reach a log, at any of the first three levels. */
export const REDACTED_FIELDS = [
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

/** A log that never holds an error's enumerable extras, only its type, message and stack. */
export function makeLog(options: LogOptions): Log {
  return pino(
    {
      name: options.name,
      level: options.level,
      redact: { paths, censor: '[redacted]' },
      serializers: {
        err: ({ type, message, stack }: { type?: string; message?: string; stack?: string } & Error) => ({
          type,
          message,
          stack,
        }),
      },
      base: { name: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    options.destination ?? pino.destination({ fd: 2, sync: true }),
  );
}
