/** String literals of Python. */

/** What a literal says. Escapes that name no character of a path are left as they stand. */
export function stringOf(literal: string): string {
  const start = /^([A-Za-z]*)("""|'''|"|')/.exec(literal);
  if (start === null) return literal;
  const [opening, prefix = '', quote = ''] = start;
  const body = literal.slice(opening.length, literal.endsWith(quote) ? -quote.length : undefined);
  if (/r/i.test(prefix)) return body;
  return body.replace(/\\(\n|[\\'"])/g, (_whole, character: string) => (character === '\n' ? '' : character));
}
