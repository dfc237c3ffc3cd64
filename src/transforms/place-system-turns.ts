// Turns instructions given in mid-conversation into marked user text at the same place.

import { told } from '../canonical/receipt.ts';
import type { TextPart } from '../canonical/request.ts';
import { mapTurns, type Transform } from './transform.ts';

/** The place is kept, because moving the text to the front would change the cached prefix every turn. */
export const placeSystemTurns: Transform = (request, { receipt }) =>
  mapTurns(request, (turn) => {
    if (turn.role !== 'system') return turn;
    receipt.add(
      'approximated',
      'messages',
      told`An instruction in mid-conversation is sent as marked user text at its place.`,
    );
    return { role: 'user', parts: turn.parts.map(markInstruction) };
  });

export function markInstruction(part: TextPart): TextPart {
  return { ...part, text: `<system-instruction>\n${part.text}\n</system-instruction>` };
}
