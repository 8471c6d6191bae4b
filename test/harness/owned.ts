/** Things that a test starts belong to it and end with it, the youngest first. */

/** A test's context, or `{ after }` of node:test for what a whole file shares. */
export interface Owner {
  after(release: () => Promise<void>): void;
}

const stacks = new WeakMap<Owner, AsyncDisposableStack>();

/** Runs `release` when the owner ends, before whatever was registered earlier: node:test itself goes oldest first. */
export function atEnd(owner: Owner, release: () => void | Promise<void>): void {
  stackOf(owner).defer(release);
}

function stackOf(owner: Owner): AsyncDisposableStack {
  const known = stacks.get(owner);
  if (known !== undefined) return known;
  const stack = new AsyncDisposableStack();
  stacks.set(owner, stack);
  owner.after(() => stack.disposeAsync());
  return stack;
}
