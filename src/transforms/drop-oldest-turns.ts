// Leaves the oldest turns out of a conversation larger than the model takes, where the client allows it.

import { promptSize, turnSize } from '../canonical/prompt-size.ts';
import { told } from '../canonical/receipt.ts';
import type { CanonicalRequest, Turn } from '../canonical/request.ts';
import type { Transform } from './transform.ts';

/**
 * Cuts before a turn the user began anew, so that no result loses its call; the last of them always
 * stays. Instructions given in between stay too.
 */
export const dropOldestTurns: Transform = (request, { capabilities, receipt }) => {
  if (request.dropsOldest !== true) return request;
  const excess = promptSize(request) - capabilities.inputTokenLimit;
  if (excess <= 0) return request;
  const start = findStart(request, excess);
  if (start === 0) return request;
  const kept = request.turns.filter((turn, index) => index >= start || turn.role === 'system');
  const count = request.turns.length - kept.length;
  receipt.add('approximated', 'truncation', told`The oldest ${count} turns were left out.`);
  return { ...request, turns: kept };
};

/** The first place from which the rest fits, else the last place there is; 0 when there is none. */
function findStart({ turns }: CanonicalRequest, excess: number): number {
  let dropped = 0;
  let start = 0;
  for (const [index, turn] of turns.entries()) {
    if (index > 0 && isFreshQuestion(turn)) {
      start = index;
      if (dropped >= excess) return start;
    }
    if (turn.role !== 'system') dropped += turnSize(turn);
  }
  return start;
}

function isFreshQuestion(turn: Turn): boolean {
  return turn.role === 'user' && turn.parts.every(({ kind }) => kind !== 'tool-result');
}
