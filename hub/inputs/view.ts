/**
 * A tree as one selection sees it. Whatever is asked is noted: an answer holds for a later commit if nothing that was
 * asked for has another answer there, and only then. So a stage that chooses inputs learns of a tree through its view,
 * and in no other way. Types only.
 */
import type { Json } from '../../shared/wire.ts';
import type { TreeEntry } from '../git/source.ts';

export interface View {
  /** The file, symlink or submodule at a path; undefined: none, or a folder. That there is none is noted as well. */
  entry(path: string): TreeEntry | undefined;
  /** Whether anything lies below a path. */
  hasFolder(path: string): boolean;
  /**
   * Everything below a folder, at any depth, in the byte order of the paths. A change of any of it asks again, so ask
   * for the smallest folder that will do, and never for the root of a repository with many projects.
   */
  below(folder: string): readonly TreeEntry[];
  /**
   * Content of the regular file at a path. Undefined: there is none, or it was not read yet. In the second case the
   * object is fetched and the whole question asked again, so go on as if the file were empty.
   */
  content(path: string): Buffer | undefined;
  /** The same, parsed. Parsed once for each content and parser, however many commits and selections ask. */
  parsed<T>(path: string, parser: Parser<T>): T | undefined;
  /**
   * The answer to a question that many selections share. It is asked once a tree, through a view of its own. Who asked
   * is asked again when the answer is another one, not whenever something that the answer was made of has changed.
   */
  fact<T extends Json>(question: Question<T>): T;
}

/** A pure function of a file's content. It never throws: what is wrong with the content is part of the answer. */
export interface Parser<T> {
  /** Unique among parsers. */
  readonly name: string;
  parse(content: Buffer): T;
}

export interface Question<T extends Json> {
  /** Unique among questions: equal keys have equal answers in a tree. */
  readonly key: string;
  answer(view: View): T;
}
