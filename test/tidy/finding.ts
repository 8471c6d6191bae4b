/** What a rule found. */
export interface Finding {
  readonly path: string;
  /** Counted from 1; 0 when it is about the file as a whole. */
  readonly line: number;
  readonly message: string;
}

/** `hub/plan.ts:12: message` */
export const textOf = ({ path, line, message }: Finding): string =>
  `${path}${line === 0 ? '' : `:${line}`}: ${message}`;
