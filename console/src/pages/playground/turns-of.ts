// What of a conversation goes along with its next request.

import type { AnswerPiece } from '../../wire/read-answer.ts';
import type { WireProtocol } from '../../wire/wire-protocol.ts';
import type { Turn } from '../../wire/write-request.ts';

export interface Said {
  readonly role: Turn['role'];
  readonly pieces: readonly AnswerPiece[];
}

/** A picture is drawn from its own words alone: they follow nothing that was drawn before. */
export function turnsFor(protocol: WireProtocol, said: readonly Said[]): readonly Turn[] {
  return turnsOf(protocol === 'images' ? said.slice(-1) : said);
}

/** What is sent along of the conversation: texts alone, and no turn that failed. */
export function turnsOf(said: readonly Said[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const { role, pieces } of said) {
    const text = pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
    const last = turns.at(-1);
    if (text === '') continue;
    // Two in a row of one person: the answer between them failed.
    if (last?.role === role) turns[turns.length - 1] = { role, text: `${last.text}\n\n${text}` };
    else turns.push({ role, text });
  }
  return turns;
}
