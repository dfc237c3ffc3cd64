// Finds the name that a misspelt one was meant to be.

/** The nearest of the names; undefined when none is within a slip or two of the keyboard. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of names) {
    const distance = slips(name, candidate);
    if (distance >= least || distance > allowedSlips(candidate)) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

function allowedSlips(name: string): number {
  return name.length <= 4 ? 1 : 2;
}

function slips(left: string, right: string): number {
  return editDistance(plain(left), plain(right));
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Levenshtein distance, row by row; 3 for names whose lengths alone differ by more than 2. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 2) return 3;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [at, character] of [...left].entries()) {
    const next = [at + 1];
    for (let index = 1; index <= right.length; index += 1) {
      const replaced = (row[index - 1] ?? 0) + (right[index - 1] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
