/** Values of parsed files, whose shape nothing has checked. */

export type Fields = Readonly<Record<string, unknown>>;

/** A map of fields; undefined for anything else. */
export const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

/** A text; undefined for anything else. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Pairs of a map of texts; whatever else it holds is left out. */
export const textPairs = (value: unknown): (readonly [string, string])[] =>
  Object.entries(fieldsOf(value) ?? {}).flatMap(([name, text]) =>
    typeof text === 'string' ? [[name, text] as const] : [],
  );

/** The fields of a JSON object; undefined for any other text. */
export function parseFields(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The same fields in the same order, each as it is changed; those that become undefined are left out. */
export const changeFields = (fields: Fields, change: (name: string, value: unknown) => unknown): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, change(name, value)] as const)
      .filter(([, value]) => value !== undefined),
  );
