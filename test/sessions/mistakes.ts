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

/** A prefill: the model is to go on from its own words. */
export function endsWithAnswer(entries: readonly Entry[]): boolean {
  return entries.at(-1)?.kind === 'assistant';
}
