// Shows how a file changes: a unified diff in which secrets are hidden.

const CONTEXT = 3;

interface Line {
  readonly kind: ' ' | '-' | '+';
  readonly text: string;
}

/** @param secrets texts that are shown by their last characters only, beside what looks like a secret by its name */
export function writeDiff(
  path: string,
  { before, after }: { readonly before: string | undefined; readonly after: string | undefined },
  secrets: readonly string[],
): string {
  const lines = compare(splitLines(before ?? ''), splitLines(after ?? ''));
  const head = [
    `--- ${before === undefined ? '/dev/null' : path}`,
    `+++ ${after === undefined ? '/dev/null' : path}`,
  ];
  const hunks = listHunks(lines).flatMap(([start, end]) => {
    const part = lines.slice(start, end);
    const ahead = lines.slice(0, start);
    const at = (kind: '-' | '+') => {
      const count = part.filter((line) => line.kind !== kind).length;
      const first = ahead.filter((line) => line.kind !== kind).length + (count === 0 ? 0 : 1);
      return count === 1 ? `${first}` : `${first},${count}`;
    };
    const body = part.map(({ kind, text }) => kind + hideSecrets(text, secrets));
    return [`@@ -${at('+')} +${at('-')} @@`, ...body];
  });
  return [...head, ...hunks].join('\n');
}

function splitLines(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The longest common lines stay, between the same beginning and the same end. */
function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const same = (lines: readonly string[]): readonly Line[] =>
    lines.map((text) => ({ kind: ' ', text }));
  return [
    ...same(before.slice(0, head)),
    ...compareMiddle(
      before.slice(head, before.length - tail),
      after.slice(head, after.length - tail),
    ),
    ...same(before.slice(before.length - tail)),
  ];
}

function compareMiddle(before: readonly string[], after: readonly string[]): readonly Line[] {
  const common = before.map(() => after.map(() => 0)).concat([after.map(() => 0)]);
  const length = (row: number, column: number): number => common[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const isSame = before[row] === after[column];
      const best = isSame
        ? length(row + 1, column + 1) + 1
        : Math.max(length(row + 1, column), length(row, column + 1));
      common[row]?.splice(column, 1, best);
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (old !== undefined && old === fresh) {
      lines.push({ kind: ' ', text: old });
      [row, column] = [row + 1, column + 1];
    } else if (
      old !== undefined &&
      (fresh === undefined || length(row + 1, column) >= length(row, column + 1))
    ) {
      lines.push({ kind: '-', text: old });
      row += 1;
    } else {
      lines.push({ kind: '+', text: fresh ?? '' });
      column += 1;
    }
  }
  return lines;
}

/** Ranges of lines around the changes, which are joined where they would touch. */
function listHunks(lines: readonly Line[]): readonly (readonly [number, number])[] {
  const hunks: [number, number][] = [];
  for (const [index, { kind }] of lines.entries()) {
    if (kind === ' ') continue;
    const start = Math.max(0, index - CONTEXT);
    const end = Math.min(lines.length, index + CONTEXT + 1);
    const last = hunks.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = end;
    else hunks.push([start, end]);
  }
  return hunks;
}

/** A field whose name says that its value is nobody else's; not the name of a variable that holds one. */
const SECRET_FIELD =
  /((?:[\w.-]*(?:key|token|secret|password)[\w.-]*)["']?\s*[:=]\s*["']?)([^"'\s,{}[\]]{4,})/gi;
const NAME_OF_SECRET = /^(?:env_?key|tokenSource|.*tokens)["']?\s*[:=]/i;

function hideSecrets(line: string, secrets: readonly string[]): string {
  let text = line;
  for (const secret of secrets) {
    if (secret.length >= 8) text = text.replaceAll(secret, hide(secret));
  }
  return text.replace(SECRET_FIELD, (whole, field: string, value: string) =>
    NAME_OF_SECRET.test(field) || value.includes('…') ? whole : field + hide(value),
  );
}

function hide(secret: string): string {
  return secret.length >= 12 ? `…${secret.slice(-4)}` : '…';
}
