// Spreads load: of two random accounts the one with more quota left, then less to do, then longer unused.

import type { Candidate } from '../candidate.ts';
import type { Level } from '../lanes.ts';
import type { UsableCandidates } from '../usable-candidates.ts';

interface SpreadContext {
  readonly usable: Pick<UsableCandidates, 'isLeft' | 'remainingOf'>;
  readonly random: () => number;
}

/** Figures are minutes old and every call changes them a little: closer ones count as equal. */
const EQUAL_WITHIN = 0.05;

/** Power of two choices avoids the herd that "the best of all" draws when many ask at once. */
export function pickOfTwo(
  levels: readonly Level[],
  { usable, random }: SpreadContext,
): Candidate | undefined {
  const total = levels.reduce((sum, { members }) => sum + members.length, 0);
  if (total === 0) return undefined;
  const start = Math.floor(random() * total);
  const first = nextLeft(levels, { start, total, usable });
  if (first === undefined) return undefined;
  if (total === 1) return first.candidate;
  const offset = 1 + Math.floor(random() * (total - 1));
  const second = nextLeft(levels, { start: first.place + offset, total, usable });
  if (second === undefined || second.place === first.place) return first.candidate;
  return isBetter(second.candidate, first.candidate, usable) ? second.candidate : first.candidate;
}

interface Walk {
  readonly start: number;
  readonly total: number;
  readonly usable: SpreadContext['usable'];
}

/** Steps over the few accounts this request has tried or leaves aside. */
function nextLeft(
  levels: readonly Level[],
  { start, total, usable }: Walk,
): { readonly candidate: Candidate; readonly place: number } | undefined {
  for (let step = 0; step < total; step += 1) {
    const place = (start + step) % total;
    const candidate = memberAt(levels, place);
    if (candidate !== undefined && usable.isLeft(candidate)) return { candidate, place };
  }
  return undefined;
}

function memberAt(levels: readonly Level[], place: number): Candidate | undefined {
  let index = place;
  for (const { members } of levels) {
    if (index < members.length) return members[index];
    index -= members.length;
  }
  return undefined;
}

function isBetter(a: Candidate, b: Candidate, usable: SpreadContext['usable']): boolean {
  const [leftA, leftB] = [usable.remainingOf(a), usable.remainingOf(b)];
  const isKnown = leftA !== undefined && leftB !== undefined;
  if (isKnown && Math.abs(leftA - leftB) > EQUAL_WITHIN) return leftA > leftB;
  if (a.load.inFlight !== b.load.inFlight) return a.load.inFlight < b.load.inFlight;
  return a.load.lastUse < b.load.lastUse;
}
