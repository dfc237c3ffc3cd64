// Merges neighbouring turns of one role and joins the texts that meet at their border.

import type { Part, TextPart, Turn } from '../canonical/request.ts';
import type { Transform } from './transform.ts';

export const mergeTurns: Transform = (request) => {
  const turns: Turn[] = [];
  /** Those of the last turn, where it was put together here. */
  let parts: Part[] | undefined;
  for (const turn of request.turns) {
    const last = turns.at(-1);
    if (last === undefined || last.role !== turn.role || turn.role === 'system') {
      turns.push(turn);
      parts = undefined;
      continue;
    }
    if (parts === undefined) {
      parts = [...last.parts];
      turns[turns.length - 1] = { role: turn.role, parts };
    }
    append(parts, turn.parts);
  }
  return turns.length === request.turns.length ? request : { ...request, turns };
};

/** Signed texts stay apart: a signature vouches for exactly the part it stands on. */
function append(parts: Part[], added: readonly Part[]): void {
  const last = parts.at(-1);
  for (const [index, part] of added.entries()) {
    if (index > 0 || !isPlainText(last) || !isPlainText(part)) {
      parts.push(part);
      continue;
    }
    const text = `${last.text}\n\n${part.text}`;
    parts[parts.length - 1] = { kind: 'text', text, cacheHint: part.cacheHint };
  }
}

function isPlainText(part: Part | undefined): part is TextPart {
  return part?.kind === 'text' && part.signature === undefined;
}
