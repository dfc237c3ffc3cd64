// Patterns of what callers may write, and the words for whoever wrote something else.

/** Something of it can be seen. */
export const VISIBLE = '[^\\s\\p{C}]';

/** One line of which something can be seen. */
export const VISIBLE_LINE = '^[^\\p{Cc}]*[^\\s\\p{C}][^\\p{Cc}]*$';

const WORDS: ReadonlyMap<unknown, string> = new Map([
  [VISIBLE, 'must have a character that can be seen'],
  [VISIBLE_LINE, 'must be one line with a character that can be seen'],
]);

/** Undefined where the pattern says it best. */
export function patternWords(params: object): string | undefined {
  return 'pattern' in params ? WORDS.get(params.pattern) : undefined;
}
