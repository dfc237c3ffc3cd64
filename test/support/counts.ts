// How often tests try what they cannot try in all its forms: enough for every day, more in the slow suite.

/** True in the slow suite, where the counts are the full ones. */
export const IS_SLOW = process.env.ISTHMUS_SLOW === '1';

/** The count of the slow suite, or a smaller one for every day. */
export function countOf({
  slow,
  everyday,
}: {
  readonly slow: number;
  readonly everyday: number;
}): number {
  return IS_SLOW ? slow : everyday;
}
