// Which model steps belong to the turn in progress: the ones whose signatures upstreams check.

import type { Turn } from '../canonical/request.ts';

/**
 * What stands after the last user turn that is not purely tool results (ai.google.dev, "Thought
 * signatures": only the current turn is validated).
 */
export function currentTurn(turns: readonly Turn[]): readonly Turn[] {
  const prompt = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && !parts.some((part) => part.kind === 'tool-result'),
  );
  return turns.slice(prompt + 1);
}
