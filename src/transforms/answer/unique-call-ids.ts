// Gives a call a fresh id where the upstream's own could not be told apart or carried by every client.

import type { Turn } from '../../canonical/request.ts';
import type { CallRule } from './call-rule.ts';

/** Messages API: `tool_use.id` is `^[a-zA-Z0-9_-]+$`; Responses API: `call_id` has at most 64 characters. */
const PORTABLE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Decoders keep ids apart within one answer. Some upstreams count from zero in every answer, so an
 * id the conversation already holds is replaced as well: its result could not be matched.
 */
export function uniqueCallIds({
  turns,
  callIdPrefix = 'call_',
  createId,
}: {
  readonly turns: readonly Turn[];
  readonly callIdPrefix?: string | undefined;
  readonly createId: (prefix: string) => string;
}): CallRule {
  let known: ReadonlySet<string> | undefined;
  return (opening) => {
    known ??= idsOf(turns);
    if (PORTABLE_ID.test(opening.id) && !known.has(opening.id)) return opening;
    return { ...opening, id: createId(callIdPrefix) };
  };
}

function idsOf(turns: readonly Turn[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of turns) {
    for (const part of parts) if (part.kind === 'tool-call') ids.add(part.id);
  }
  return ids;
}
