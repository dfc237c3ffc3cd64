// Takes the code fence off an answer that was asked to be JSON and is wholly inside one.

import type { TextRule } from './rewrite-text.ts';

const FENCE = '```';
const FIRST_LINE = /^```[\w-]*[ \t]*\r?$/;

/** White space before a fence. Models that are to write JSON may write nothing else, without end. */
const MOST_LEADING = 64;

/** A text that begins with a fence waits for its end, as only there it is known whether the fence holds it all. */
export const FENCE_RULE: TextRule = {
  decidedAfter: MOST_LEADING + FENCE.length,
  mayChange(begun) {
    const opening = begun.slice(0, MOST_LEADING + FENCE.length);
    const said = opening.trimStart();
    if (opening.length - said.length > MOST_LEADING) return false;
    return FENCE.startsWith(said.slice(0, FENCE.length));
  },
  // Place by place: answers are long, and patterns look at runs of white space over and over.
  rewrite(text) {
    const whole = text.trim();
    const start = whole.indexOf('\n') + 1;
    const end = whole.length - FENCE.length;
    if (start === 0 || start > end || !whole.endsWith(FENCE)) return undefined;
    if (!FIRST_LINE.test(whole.slice(0, start - 1))) return undefined;
    const inside = whole.slice(start, lastLineEnd(whole, { start, end }));
    return { text: inside, shift: text.length - text.trimStart().length + start };
  },
};

/** Where what stands before the closing fence ends, without its line break and what indents the fence. */
function lastLineEnd(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): number {
  let at = end;
  while (at > start && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  if (at > start && text[at - 1] === '\n') at -= 1;
  if (at > start && text[at - 1] === '\r') at -= 1;
  return at;
}
