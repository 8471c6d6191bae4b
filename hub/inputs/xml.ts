/** XML files of builds: elements by name, entities left as they stand. */
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { isFields } from '../fields.ts';
import { textParser, type Read } from './parsers.ts';
import type { Parser } from './view.ts';

/** An element: its text, or what it holds by name; attributes start with `@`. */
export type Xml = unknown;

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  processEntities: false,
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  removeNSPrefix: true,
});

class XmlError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** A parser of one kind of XML file. */
export const xmlParser = <T>(name: string, read: (root: Xml) => T): Parser<Read<T>> =>
  textParser(
    name,
    (text) => {
      // first, since it bounds how deep elements are nested
      const root: Xml = parser.parse(text);
      const valid = XMLValidator.validate(text);
      if (valid !== true) throw new XmlError(valid.err.msg, valid.err.line);
      return read(root);
    },
    (error) => (error instanceof XmlError ? error.line : 1),
  );

/** Elements of a name directly in one. */
export const childrenNamed = (element: Xml, name: string): readonly Xml[] => {
  const value: unknown = isFields(element) ? element[name] : undefined;
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
};

/** Elements of a name at any depth. */
export function elementsNamed(root: Xml, name: string): readonly Xml[] {
  const found: Xml[] = [];
  const open: Xml[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === null || typeof at !== 'object') continue;
    for (const [key, value] of Object.entries(at)) {
      if (key === name) found.push(...([value].flat() as Xml[]));
      open.push(value);
    }
  }
  return found;
}

/** The text of an element, without what surrounds it. */
export const textIn = (element: Xml): string => {
  const text: unknown = isFields(element) ? element['#text'] : element;
  return typeof text === 'string' ? text.trim() : '';
};

/** An attribute; undefined: it has none of that name. */
export const attributeOf = (element: Xml, name: string): string | undefined => {
  const value: unknown = isFields(element) ? element[`@${name}`] : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** Every text of elements and attributes. */
export function textsOf(root: Xml): readonly string[] {
  const found: string[] = [];
  const open: Xml[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at === 'string') found.push(at.trim());
    else if (at !== null && typeof at === 'object') for (const value of Object.values(at)) open.push(value);
  }
  return found;
}
