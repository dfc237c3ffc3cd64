// Spreads load: of two random candidates the one with fewer calls in flight, then the longer unused.

import type { Candidate, SelectionPolicy } from './candidate.ts';

/** Power of two choices avoids the herd that "the least loaded" draws when many ask at once. */
export const spreadByTwoChoices: SelectionPolicy = (candidates, { random }) => {
  if (candidates.length <= 1) return candidates;
  const first = Math.floor(random() * candidates.length);
  const offset = 1 + Math.floor(random() * (candidates.length - 1));
  const a = candidates[first];
  const b = candidates[(first + offset) % candidates.length];
  if (a === undefined || b === undefined) return candidates;
  return [isLessBusy(b, a) ? b : a];
};

function isLessBusy(a: Candidate, b: Candidate): boolean {
  if (a.inFlight !== b.inFlight) return a.inFlight < b.inFlight;
  return a.lastUsedAt < b.lastUsedAt;
}
