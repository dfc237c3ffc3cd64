// Shows how a file changes: a unified diff in which secrets are hidden.

import { compareLines } from '../../lib/line-difference.ts';

const CONTEXT = 3;

type Line = ReturnType<typeof compareLines>[number];

const SIGNS: Readonly<Record<Line['kind'], string>> = { same: ' ', removed: '-', added: '+' };

/** @param secrets texts that are shown by their last characters only, beside what looks like a secret by its name */
export function writeDiff(
  path: string,
  { before, after }: { readonly before: string | undefined; readonly after: string | undefined },
  secrets: readonly string[],
): string {
  const lines = compareLines(splitLines(before ?? ''), splitLines(after ?? ''));
  const head = [
    `--- ${before === undefined ? '/dev/null' : path}`,
    `+++ ${after === undefined ? '/dev/null' : path}`,
  ];
  const hunks = listHunks(lines).flatMap(([start, end]) => {
    const part = lines.slice(start, end);
    const ahead = lines.slice(0, start);
    const at = (kind: 'removed' | 'added') => {
      const count = part.filter((line) => line.kind !== kind).length;
      const first = ahead.filter((line) => line.kind !== kind).length + (count === 0 ? 0 : 1);
      return count === 1 ? `${first}` : `${first},${count}`;
    };
    const body = part.map(({ kind, text }) => SIGNS[kind] + hideSecrets(text, secrets));
    return [`@@ -${at('added')} +${at('removed')} @@`, ...body];
  });
  return [...head, ...hunks].join('\n');
}

function splitLines(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Ranges of lines around the changes, which are joined where they would touch. */
function listHunks(lines: readonly Line[]): readonly (readonly [number, number])[] {
  const hunks: [number, number][] = [];
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
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
