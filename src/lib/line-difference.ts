// The lines in which two texts differ.

interface ComparedLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Comparing takes the product of both: beyond so many lines a side, all of the middle counts as changed. */
const MAX_LINES = 1000;

/** In the order of the texts: put together, `same` and `removed` are the first and `same` and `added` the second. */
export function compareLines(left: readonly string[], right: readonly string[]): ComparedLine[] {
  const found: ComparedLine[] = [];
  const add = (kind: ComparedLine['kind'], lines: readonly string[]): void => {
    for (const text of lines) found.push({ kind, text });
  };
  const start = countSame(left, right);
  const end = countSame(left.slice(start).reverse(), right.slice(start).reverse());
  add('same', left.slice(0, start));
  compare(left.slice(start, left.length - end), right.slice(start, right.length - end), add);
  add('same', left.slice(left.length - end));
  return found;
}

function countSame(left: readonly string[], right: readonly string[]): number {
  let count = 0;
  while (count < left.length && count < right.length && left[count] === right[count]) count += 1;
  return count;
}

function compare(
  left: readonly string[],
  right: readonly string[],
  add: (kind: ComparedLine['kind'], lines: readonly string[]) => void,
): void {
  let [row, column] = [0, 0];
  if (left.length <= MAX_LINES && right.length <= MAX_LINES) {
    const common = measureCommon(left, right);
    while (row < left.length && column < right.length) {
      const isSame = left[row] === right[column];
      const isRemoved = !isSame && common(row + 1, column) >= common(row, column + 1);
      if (isSame || isRemoved) add(isSame ? 'same' : 'removed', left.slice(row, row + 1));
      else add('added', right.slice(column, column + 1));
      if (isSame || isRemoved) row += 1;
      if (!isRemoved) column += 1;
    }
  }
  add('removed', left.slice(row));
  add('added', right.slice(column));
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
