// Takes one change out of a text that was changed again since, line by line.

import { compareLines } from '../../lib/line-difference.ts';
import { eolOf } from './settings-tree.ts';

interface Step {
  readonly added: string[];
  /** Where it stays. */
  line?: string;
}

/**
 * @param before what the change was made to
 * @param after what it made of that
 * @param later what became of it since
 * @returns undefined where lines of the change were changed since
 */
export function revertLines(before: string, after: string, later: string): string | undefined {
  const back = stepsFrom(after, before);
  const since = stepsFrom(after, later);
  const lines: string[] = [];
  for (const [index, { added, line }] of back.entries()) {
    const own = since[index] ?? { added: [] };
    const isEnd = index === back.length - 1;
    if (!isEnd && line === undefined && own.line === undefined) return undefined;
    lines.push(...added, ...own.added);
    if (line !== undefined && own.line !== undefined) lines.push(line);
  }
  const eol = eolOf(before);
  return lines
    .map((line, index) => (index === lines.length - 1 || line.endsWith('\n') ? line : line + eol))
    .join('');
}

/** For each line of the first text, and for its end, what the second has before it. */
function stepsFrom(first: string, second: string): readonly Step[] {
  const steps: Step[] = [{ added: [] }];
  for (const { kind, text } of compareLines(splitLines(first), splitLines(second))) {
    const step = steps.at(-1) as Step;
    if (kind === 'added') step.added.push(text);
    if (kind === 'same') step.line = text;
    if (kind !== 'added') steps.push({ added: [] });
  }
  return steps;
}

/** Each with its end. */
function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}
