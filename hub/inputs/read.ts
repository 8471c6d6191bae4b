/** Reads what the choice of inputs needs, until it needs nothing more. */
import type { Tree } from '../git/source.ts';
import { selectInputs, type Selection, type SelectRequest } from './select.ts';

/**
 * The input files of a placement. `known` is filled with what was read, so that placements of one pass share it.
 * Rejects when an object cannot be read.
 */
export async function inputsOf(
  request: SelectRequest,
  tree: Tree,
  known: Map<string, Buffer>,
): Promise<Selection> {
  for (;;) {
    const selection = selectInputs(request, known);
    if (selection.needs.length === 0) return selection;
    await Promise.all(selection.needs.map(async (id) => known.set(id, await tree.blob(id))));
  }
}
