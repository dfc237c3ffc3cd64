// Takes the code fence off an answer that was asked to be JSON and is wholly inside one.

import type { TextRule } from './rewrite-text.ts';

const FENCE = '```';
const FENCED = /^\s*```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```\s*$/;

/** A text that begins with a fence waits for its end, as only there it is known whether the fence holds it all. */
export const FENCE_RULE: TextRule = {
  mayChange: (begun) => FENCE.startsWith(begun.trimStart().slice(0, FENCE.length)),
  rewrite(text) {
    const inside = FENCED.exec(text)?.[1];
    if (inside === undefined) return undefined;
    return { text: inside, shift: text.indexOf(inside, text.indexOf('\n') + 1) };
  },
};
