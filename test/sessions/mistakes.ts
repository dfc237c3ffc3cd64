// Which refusals a history deserves: only for what the client itself did wrong.

import type { Entry } from './entries.ts';

/** Ids of results whose call no earlier assistant message holds. */
export function orphansIn(entries: readonly Entry[]): readonly string[] {
  const called = new Set<string>();
  const orphans: string[] = [];
  for (const entry of entries) {
    if (entry.kind === 'assistant') for (const { id } of entry.calls) called.add(id);
    if (entry.kind !== 'results') continue;
    for (const { call } of entry.results) if (!called.has(call.id)) orphans.push(call.id);
  }
  return orphans;
}

/**
 * True when results do not stand right behind their calls, or twice: native histories are handed on
 * in their own order, so the upstream judges them.
 */
export function isOutOfOrder(entries: readonly Entry[]): boolean {
  return entries.some((entry, index) => {
    if (entry.kind !== 'results') return false;
    const open = new Set(callsBefore(entries, index));
    return entry.results.some(({ call }) => !open.delete(call.id));
  });
}

/** A prefill: the model is to go on from its own words. */
export function endsWithAnswer(entries: readonly Entry[]): boolean {
  return entries.at(-1)?.kind === 'assistant';
}

/** The calls of the model's step right before this place. */
function callsBefore(entries: readonly Entry[], index: number): readonly string[] {
  const ids: string[] = [];
  for (let at = index - 1; at >= 0; at -= 1) {
    const entry = entries[at];
    if (entry?.kind !== 'assistant') break;
    ids.push(...entry.calls.map(({ id }) => id));
  }
  return ids;
}
