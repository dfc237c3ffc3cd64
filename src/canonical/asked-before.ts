// What an answer was given to: the words and results of the user's turn before it.

import type { Part, Turn } from './request.ts';

const MOST_CHARACTERS = 4096;

/**
 * Of the nearest user turn before `index`; the turn that is still to be answered stands before
 * `turns.length`. The same for every request of a conversation, and rarely for another's.
 */
export function askedBefore(turns: readonly Turn[], index: number): string {
  for (let place = index - 1; place >= 0; place -= 1) {
    const turn = turns[place];
    if (turn?.role === 'user') return turn.parts.map(wordsOf).join('\n').slice(-MOST_CHARACTERS);
  }
  return '';
}

/** Clients trim what they store. */
function wordsOf(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text.trim();
    case 'tool-result':
      return part.callId;
    default:
      return part.kind;
  }
}
