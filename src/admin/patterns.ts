// Patterns of what callers may write, and the words for whoever wrote something else.

import { type Sentence, told } from '../lib/told.ts';

/** Something of it can be seen. */
export const VISIBLE = '[^\\s\\p{C}]';

/** One line of which something can be seen. */
export const VISIBLE_LINE = '^[^\\p{Cc}]*[^\\s\\p{C}][^\\p{Cc}]*$';

export const PROJECT_ID = '^[\\w.:-]+$';

/** Milliseconds since the epoch, or another count that a query holds. */
export const DIGITS = '^\\d{1,15}$';

export const UP_TO_200 = '^([1-9]\\d?|1\\d\\d|200)$';
export const UP_TO_500 = '^(?:[1-9]\\d?|[1-4]\\d\\d|500)$';
export const UP_TO_1000 = '^([1-9]\\d{0,2}|1000)$';

export const REQUEST_STATUS = '^(ok|error|cancelled|[1-5]xx|[1-5]\\d\\d)$';

const WORDS: ReadonlyMap<unknown, Sentence> = new Map([
  [VISIBLE, told`must have a character that can be seen`],
  [VISIBLE_LINE, told`must be one line with a character that can be seen`],
  [PROJECT_ID, told`must have letters, digits and . : _ - only`],
  [DIGITS, told`must be a whole number of up to 15 digits`],
  [REQUEST_STATUS, told`must be ok, error, cancelled, 4xx, 5xx or a status code`],
  [UP_TO_200, told`must be a number from 1 to 200`],
  [UP_TO_500, told`must be a number from 1 to 500`],
  [UP_TO_1000, told`must be a number from 1 to 1000`],
]);

/** Undefined where the pattern says it best. */
export function patternWords(params: object): Sentence | undefined {
  return 'pattern' in params ? WORDS.get(params.pattern) : undefined;
}
