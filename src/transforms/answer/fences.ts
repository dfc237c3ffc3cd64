// Rules for the text of a whole answer, and the one that takes the code fence off what was asked to be JSON.

const FENCE = '```';
const FIRST_LINE = /^```[\w-]*[ \t]*\r?$/;

/** White space before a fence. Models that are to write JSON may write nothing else, without end. */
const MAX_LEADING = 64;

/**
 * Takes the code fence off an answer that was asked to be JSON and is wholly inside one. A text that begins with
 * a fence waits for its end, as only there it is known whether the fence holds it all.
 */
export const FENCE_RULE: TextRule = {
  decidedAfter: MAX_LEADING + FENCE.length,
  mayChange(begun) {
    const opening = begun.slice(0, MAX_LEADING + FENCE.length);
    const said = opening.trimStart();
    if (opening.length - said.length > MAX_LEADING) return false;
    return FENCE.startsWith(said.slice(0, FENCE.length));
  },
  // Place by place: answers are long, and patterns look at runs of white space over and over.
  rewrite(text) {
    const whole = text.trim();
    const start = whole.indexOf('\n') + 1;
    const end = whole.length - FENCE.length;
    if (start === 0 || start > end || !whole.endsWith(FENCE)) return undefined;
    if (!FIRST_LINE.test(whole.slice(0, start - 1))) return undefined;
    const inside = whole.slice(start, lastLineEnd(whole, start, end));
    return { text: inside, shift: text.length - text.trimStart().length + start };
  },
};

/** Where what stands before the closing fence ends, without its line break and what indents the fence. */
function lastLineEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  if (at > start && text[at - 1] === '\n') at -= 1;
  if (at > start && text[at - 1] === '\r') at -= 1;
  return at;
}

export interface TextRule {
  /** How much of a text's beginning, in UTF-16 units, tells whether it may change. */
  readonly decidedAfter: number;
  /** False when the rule leaves a text that begins like this as it is. */
  mayChange(begun: string): boolean;
  /** The whole text as the client is to see it; undefined for as it came. */
  rewrite(text: string): RewrittenText | undefined;
}

export interface RewrittenText {
  readonly text: string;
  /** Units taken off before what is left as it was; undefined when positions in the text mean nothing any more. */
  readonly shift: number | undefined;
}
