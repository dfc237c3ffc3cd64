// What of a conversation goes along with its next request.

import type { Attachment } from '../../wire/attachments.ts';
import type { AnswerPiece } from '../../wire/read-answer.ts';
import type { Exchange } from '../../wire/send-request.ts';
import type { WireProtocol } from '../../wire/wire-protocol.ts';
import {
  joinTurns,
  type ToolCall,
  type ToolResult,
  type Turn,
  withParts,
} from '../../wire/write-request.ts';

export interface Said {
  readonly role: Turn['role'];
  readonly pieces: readonly AnswerPiece[];
  readonly files?: readonly Attachment[];
  /** Of the user: what the calls of the answer before gave. */
  readonly results?: readonly ToolResult[];
  /** Of an answer: who was asked, and how long it took. */
  readonly model?: string;
  readonly exchange?: Exchange;
  /** Of the user: the request was sent as somebody wrote its JSON. */
  readonly isEdited?: boolean;
}

export function textOf({ pieces }: Pick<Said, 'pieces'>): string {
  return pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
}

/** The tools an answer calls; where the protocol names no calls, by their place. */
export function callsOf({ pieces }: Pick<Said, 'pieces'>): readonly ToolCall[] {
  return pieces
    .flatMap((piece) => (piece.kind === 'tool-call' ? [piece] : []))
    .map(({ id, name, text }, index) => ({ id: id === '' ? `call_${index}` : id, name, text }));
}

/** As it was said. */
export function sayTurn({ role, text, files, calls = [], results }: Turn): Said {
  return {
    role,
    pieces: [
      ...(text === '' ? [] : [{ kind: 'text', text } as const]),
      ...calls.map((call) => ({ kind: 'tool-call', ...call }) as const),
    ],
    ...(files === undefined ? {} : { files }),
    ...(results === undefined ? {} : { results }),
  };
}

/** A picture is drawn from its own words alone: they follow nothing that was drawn before. */
export function turnsFor(protocol: WireProtocol, said: readonly Said[]): readonly Turn[] {
  return turnsOf(protocol === 'images' ? said.slice(-1) : said);
}

/** What is sent along of the conversation: no turn that failed, and no call of a tool without its result. */
export function turnsOf(said: readonly Said[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [index, one] of said.entries()) {
    const turn = toTurn(one, said[index - 1], said[index + 1]);
    const last = turns.at(-1);
    if (turn === undefined) continue;
    // Two in a row of one person: the answer between them failed.
    if (last?.role === turn.role) turns[turns.length - 1] = joinTurns(last, turn);
    else turns.push(turn);
  }
  return turns;
}

function toTurn(one: Said, before: Said | undefined, next: Said | undefined): Turn | undefined {
  const { role, files = [], results = [] } = one;
  const text = textOf(one);
  const isAnswered = (next?.results ?? []).length > 0;
  const calls = role === 'assistant' && isAnswered ? callsOf(one) : [];
  const given = before !== undefined && callsOf(before).length > 0 ? results : [];
  if (text === '' && files.length === 0 && calls.length === 0 && given.length === 0)
    return undefined;
  return { role, text, ...withParts({ files, calls, results: given }) };
}
