// Merges neighbouring turns of one role and joins the texts that meet at their border.

import type { Part, TextPart, Turn } from '../canonical/request.ts';
import type { Transform } from './transform.ts';

export const mergeTurns: Transform = (request) => {
  const turns: Turn[] = [];
  for (const turn of request.turns) {
    const last = turns.at(-1);
    if (last !== undefined && last.role === turn.role && turn.role !== 'system') {
      turns[turns.length - 1] = { role: turn.role, parts: joinParts(last.parts, turn.parts) };
    } else {
      turns.push(turn);
    }
  }
  return turns.length === request.turns.length ? request : { ...request, turns };
};

/** Signed texts stay apart: a signature vouches for exactly the part it stands on. */
function joinParts(before: readonly Part[], after: readonly Part[]): readonly Part[] {
  const left = before.at(-1);
  const right = after[0];
  if (!isPlainText(left) || !isPlainText(right)) return [...before, ...after];
  const joined: TextPart = {
    kind: 'text',
    text: `${left.text}\n\n${right.text}`,
    cacheHint: right.cacheHint,
  };
  return [...before.slice(0, -1), joined, ...after.slice(1)];
}

function isPlainText(part: Part | undefined): part is TextPart {
  return part?.kind === 'text' && part.signature === undefined;
}
