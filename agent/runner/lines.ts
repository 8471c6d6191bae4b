/** Bytes → lines of bounded length. */

export interface LineSplitter {
  /** Whole lines of what came, without their ends. */
  push(chunk: Buffer): string[];
  /** The last line, if it had no end. */
  end(): string[];
}

/** A splitter that keeps `maxBytes` of a line and puts `mark` in place of its rest. */
export function makeLines(maxBytes: number, mark = ' … (line cut)'): LineSplitter {
  let parts: Buffer[] = [];
  let length = 0;
  let cut = false;
  const add = (piece: Buffer): void => {
    const room = maxBytes - length;
    if (piece.length > room) cut = true;
    if (room <= 0 || piece.length === 0) return;
    // a copy: a few bytes must not keep a whole chunk alive
    const kept = Buffer.from(piece.subarray(0, room));
    parts.push(kept);
    length += kept.length;
  };
  const flush = (): string => {
    const line = Buffer.concat(parts).toString().replace(/\r$/, '') + (cut ? mark : '');
    parts = [];
    length = 0;
    cut = false;
    return line;
  };
  return {
    push: (chunk) => {
      const lines: string[] = [];
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, at));
        lines.push(flush());
        from = at + 1;
      }
      add(chunk.subarray(from));
      return lines;
    },
    end: () => (length > 0 || cut ? [flush()] : []),
  };
}
