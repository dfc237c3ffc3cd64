// Which model steps belong to the turn in progress: the ones whose signatures upstreams check.

import type { Turn } from '../canonical/request.ts';

/**
 * True when the turn at `index` stands after the last user turn that is not purely tool results
 * (ai.google.dev, "Thought signatures": only the current turn is validated).
 */
export function isInCurrentTurn(turns: readonly Turn[], index: number): boolean {
  return index > lastPromptIndex(turns);
}

function lastPromptIndex(turns: readonly Turn[]): number {
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index];
    if (turn?.role === 'user' && !turn.parts.some((part) => part.kind === 'tool-result')) {
      return index;
    }
  }
  return -1;
}
