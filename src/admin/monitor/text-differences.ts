// The lines in which two texts differ.

export interface TextDifference {
  readonly kind: 'same' | 'removed' | 'added';
  /** Lines of one kind that follow one another. */
  readonly text: string;
}

/** Comparing takes the product of both: beyond so many lines a side, all of the middle counts as changed. */
const MOST_LINES = 1000;

/** In the order of the texts; put together, `same` and `removed` are the first and `same` and `added` the second. */
export function findDifferences(before: string, after: string): readonly TextDifference[] {
  const left = before.split('\n');
  const right = after.split('\n');
  const start = countSame(left, right);
  const end = countSame(left.slice(start).reverse(), right.slice(start).reverse());
  const lines = [
    ...left.slice(0, start).map((text): TextDifference => ({ kind: 'same', text })),
    ...compare(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...left.slice(left.length - end).map((text): TextDifference => ({ kind: 'same', text })),
  ];
  return join(lines);
}

function countSame(left: readonly string[], right: readonly string[]): number {
  let count = 0;
  while (count < left.length && count < right.length && left[count] === right[count]) count += 1;
  return count;
}

function compare(left: readonly string[], right: readonly string[]): TextDifference[] {
  const removed = (text: string): TextDifference => ({ kind: 'removed', text });
  const added = (text: string): TextDifference => ({ kind: 'added', text });
  if (left.length > MOST_LINES || right.length > MOST_LINES) {
    return [...left.map(removed), ...right.map(added)];
  }
  const common = measureCommon(left, right);
  const lines: TextDifference[] = [];
  let [row, column] = [0, 0];
  while (row < left.length && column < right.length) {
    const text = left[row] ?? '';
    if (text === right[column]) {
      lines.push({ kind: 'same', text });
      row += 1;
      column += 1;
    } else if (common(row + 1, column) >= common(row, column + 1)) {
      lines.push(removed(text));
      row += 1;
    } else {
      lines.push(added(right[column] ?? ''));
      column += 1;
    }
  }
  return [...lines, ...left.slice(row).map(removed), ...right.slice(column).map(added)];
}

/** How many lines the rests behind two places have in common, in order. */
function measureCommon(
  left: readonly string[],
  right: readonly string[],
): (row: number, column: number) => number {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        left[row] === right[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  return at;
}

function join(lines: readonly TextDifference[]): readonly TextDifference[] {
  const joined: TextDifference[] = [];
  for (const line of lines) {
    const last = joined.at(-1);
    if (last?.kind !== line.kind) joined.push(line);
    else joined[joined.length - 1] = { kind: line.kind, text: `${last.text}\n${line.text}` };
  }
  return joined;
}
