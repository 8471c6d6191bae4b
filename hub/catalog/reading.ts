/** One file → what its documents say, or what is wrong with them. The same file is read once. */
import { FLEET_ONLY, GROUP } from '../../crds/kinds.ts';
import type { Kind } from '../../crds/kinds.ts';
import type { CatalogFile, Origin, Problem, Unreadable } from './catalog.ts';
import { checkDocument, meantKind } from './check.ts';
import type { Accepted, Checked, Identity } from './check.ts';
import { decodeText, readDocuments } from './documents.ts';
import type { CodedFault } from './faults.ts';
import { joinedProblem, problemAt, problemsOf } from '../problem.ts';

/** A document whose identity is known: its manifest, or the problem that all its faults make. */
export interface Entry {
  readonly origin: Origin;
  readonly identity: Identity;
  readonly manifest?: Accepted;
  readonly problem?: Problem;
}

export interface Reading {
  readonly entries: readonly Entry[];
  readonly problems: readonly Problem[];
  readonly unreadable?: Unreadable;
  /** Whether the file holds documents of ours, and other ones beside them. */
  readonly holds?: 'only' | 'mixed';
}

const NOTHING: Reading = { entries: [], problems: [] };
const known = new WeakMap<CatalogFile, Reading>();

/** Reads a file that matches its repository's patterns. */
export function readManifests(file: CatalogFile): Reading {
  const before = known.get(file);
  if (before !== undefined) return before;
  const reading =
    file.oversized !== undefined
      ? unreadable(file, [
          { line: 1, text: `the file has ${file.oversized} bytes and is not read: split it` },
        ])
      : speaksOfUs(file.content)
        ? read(file)
        : NOTHING;
  known.set(file, reading);
  return reading;
}

/** Also in UTF-16, as some editors save: such a file of ours is not one that is gone. */
const speaksOfUs = (content: Buffer): boolean => content.includes(GROUP) || isUtf16(content);

const isUtf16 = (content: Buffer): boolean =>
  content.includes(GROUP, 0, 'utf16le') || content.includes(UTF16BE);

const UTF16BE = Buffer.from(GROUP, 'utf16le').swap16();

const fleet = (file: CatalogFile): boolean => file.trust === 'fleet';

function read(file: CatalogFile): Reading {
  if (isUtf16(file.content))
    return unreadable(file, [{ line: 1, text: 'the file is not UTF-8, but UTF-16: save it as UTF-8' }]);
  const decoded = decodeText(file.content);
  if (decoded.kind === 'fault') {
    return mayBeOurs(textOf(file)) ? unreadable(file, [{ line: 1, text: decoded.text }]) : NOTHING;
  }
  const { documents, broken } = readDocuments(decoded.text);
  const lost = broken.filter(({ source }) => mayBeOurs(source));
  const checked = documents.map((document) => checkDocument(document, fleet(file)));
  const readings = checked.map((one) => ofDocument(file, one));
  const foreign = checked.filter(({ kind }) => kind === 'foreign').length + broken.length - lost.length;
  const merged = merge([
    ...readings,
    ...(lost.length > 0
      ? [
          unreadable(
            file,
            lost,
            lost.some(({ source }) => !source.includes('kind')),
          ),
        ]
      : []),
  ]);
  const ours = checked.length + broken.length - foreign;
  return ours === 0 ? merged : { ...merged, holds: foreign === 0 ? 'only' : 'mixed' };
}

/** Whatever the encoding is: only words of ASCII are looked for. */
const textOf = ({ content }: CatalogFile): string => content.toString('latin1').replaceAll('\0', '');

/** Our group with a version, as in `apiVersion`; labels and annotations of others look different. */
const mayBeOurs = (text: string): boolean => /towline\.dev\/v\d/.test(text);

function merge(readings: readonly Reading[]): Reading {
  const lost = readings.find((reading) => reading.unreadable !== undefined)?.unreadable;
  return {
    entries: readings.flatMap(({ entries }) => entries),
    problems: readings.flatMap(({ problems }) => problems),
    ...(lost === undefined ? {} : { unreadable: lost }),
  };
}

/** `kindless`: a document of it does not say its kind. */
function unreadable(
  file: CatalogFile,
  faults: readonly Omit<CodedFault, 'code'>[],
  kindless = false,
): Reading {
  const problems = faults.map((fault) => problemAt(file, { ...fault, code: 'Invalid' }));
  const [problem] = problems;
  if (problem === undefined) return NOTHING;
  const origin = { repository: file.repository, path: file.path, line: problem.origin.line };
  return {
    entries: [],
    problems,
    unreadable: { file: origin, problem, mentions: mentionsOf(file, kindless) },
  };
}

/**
 * What others are made of: without it they would get other content, or look as if they were gone. A Fleet or Tenant, which
 * would hold up everything, is not suspected in a document of no kind.
 */
const FOUNDATIONS: readonly Kind[] = ['Cluster', 'Defaults'];

/** Kinds that the text speaks of, as far as this repository may hold them. */
function mentionsOf(file: CatalogFile, kindless: boolean): string[] {
  const text = textOf(file);
  const found = [...text.matchAll(/\bkind["']?\s*:\s*["']?([A-Za-z]+)/g)].map((match) =>
    meantKind(match[1] ?? ''),
  );
  const kinds = [...found, ...(kindless ? FOUNDATIONS : [])].filter(
    (kind) => kind !== undefined && (fleet(file) || !FLEET_ONLY.has(kind)),
  );
  return [...new Set(kinds)].sort() as string[];
}

function ofDocument(file: CatalogFile, checked: Checked): Reading {
  const { repository, path } = file;
  switch (checked.kind) {
    case 'foreign':
      return NOTHING;
    case 'accepted': {
      const { manifest } = checked;
      const origin = { repository, path, line: manifest.line };
      return {
        entries: [{ origin, identity: manifest.identity, manifest }],
        problems: [],
      };
    }
    case 'misplaced': {
      const where = { repository, path, ...(checked.identity && { identity: checked.identity }) };
      return { entries: [], problems: [problemAt(where, checked.fault)] };
    }
    case 'refused':
      return refusedReading(file, checked);
    case 'unreadable':
      return unreadable(file, checked.faults, checked.kindless);
  }
}

function refusedReading(file: CatalogFile, checked: Extract<Checked, { kind: 'refused' }>): Reading {
  const { repository, path } = file;
  const { identity, line, faults } = checked;
  const where = { repository, path, identity };
  const entry = { origin: { repository, path, line }, identity };
  return {
    entries: [{ ...entry, problem: joinedProblem(where, faults) }],
    problems: problemsOf(where, faults),
  };
}
