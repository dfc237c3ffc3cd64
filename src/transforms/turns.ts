// Rules about turns: empty parts are dropped, turns of one role merged, the conversation starts and ends with the user, and
// the oldest turns go where it is too long.

import { promptSize, turnSize } from '../canonical/prompt-size.ts';
import type { CanonicalRequest, Part, TextPart, Turn } from '../canonical/request.ts';
import { told } from '../lib/localized-message.ts';
import {
  type Conversation,
  mapTurns,
  type Transform,
  type TransformContext,
  type TurnRule,
  withParts,
} from './transform.ts';

/** Drops parts that say nothing: empty texts, empty thoughts, thinking only its issuer can read. */
export const dropEmptyParts: Transform = (request, context) => {
  const system = request.system.filter((part) => part.text !== '');
  return mapTurns({ ...request, system }, (turn) => {
    const parts = turn.parts.filter((part: Part) => isWorthSending(part, context));
    return withParts(turn, parts);
  });
};

const ISSUER_ONLY = told`Only its issuer can read redacted thinking.`;

function isWorthSending(part: Part, { receipt }: TransformContext): boolean {
  switch (part.kind) {
    case 'text':
    case 'thinking':
      // Some models show the signature of a thought alone, and want that back.
      return part.text !== '' || part.signature !== undefined;
    case 'redacted-thinking':
      receipt.add('dropped', 'redacted_thinking', ISSUER_ONLY);
      return false;
    default:
      return true;
  }
}

/**
 * Merges neighbouring turns of one role and joins the texts that meet at their border. Of a relayed conversation
 * only those that upstreams want in one: the calls of a step, and their results (ai.google.dev, "Function calling").
 */
export const mergeTurns: TurnRule = (request, { capabilities }) => {
  const turns: Turn[] = [];
  /** Those of the last turn, where it was put together here. */
  let parts: Part[] | undefined;
  for (const turn of request.turns) {
    const last = turns.at(-1);
    if (last === undefined || last.role === 'system' || !areOne(last, turn)) {
      turns.push(turn);
      parts = undefined;
      continue;
    }
    if (parts === undefined) {
      parts = [...last.parts];
      turns[turns.length - 1] = { ...last, parts };
    }
    append(parts, turn, capabilities.takesCacheMarks === true);
  }
  return turns.length === request.turns.length ? request : { ...request, turns };
};

function areOne(before: Turn, after: Turn): boolean {
  if (before.role !== after.role) return false;
  const isAnyRole = before.role === 'assistant' || !('native' in before && 'native' in after);
  return isAnyRole || [before, after].every(({ parts }) => parts.every(isResult));
}

function isResult({ kind }: Part): boolean {
  return kind === 'tool-result';
}

/**
 * Signed texts stay apart: a signature vouches for exactly the part it stands on. So do marked ones, where it is cached
 * up to the mark.
 */
function append(parts: Part[], { parts: added }: Turn, takesMarks: boolean): void {
  const last = parts.at(-1);
  for (const [index, part] of added.entries()) {
    if (index > 0 || !isPlainText(last) || !isPlainText(part) || (takesMarks && last.cacheHint)) {
      parts.push(part);
      continue;
    }
    const text = `${last.text}\n\n${part.text}`;
    parts[parts.length - 1] = { kind: 'text', text, cacheHint: part.cacheHint };
  }
}

function isPlainText(part: Part | undefined): part is TextPart {
  return part?.kind === 'text' && part.signature === undefined && part.native === undefined;
}

/**
 * Leaves out turns of the assistant that hold thoughts alone, which no upstream answers. Expects merged turns: each
 * item of Responses comes as one, and clients keep the thoughts of an answer that failed behind them.
 */
export const dropLoneThoughts: Transform = (request, context) => {
  const reason = told`A thought without an answer behind it cannot be sent upstream.`;
  const kept = mapTurns(request, (turn) => {
    if (turn.role !== 'assistant' || !turn.parts.every(isThought)) return turn;
    context.receipt.add('dropped', 'messages', reason);
    return undefined;
  });
  return kept === request ? request : mergeTurns(kept, context);
};

function isThought({ kind }: Part): boolean {
  return kind === 'thinking' || kind === 'redacted-thinking';
}

/** Makes the conversation start with a user turn, as every upstream demands. */
export const startWithUser: TurnRule = (request, { receipt }) => {
  const first = request.turns[0];
  if (first?.role === 'user') return request;
  if (first === undefined && request.system.length > 0) {
    receipt.add('approximated', 'messages', told`Instructions alone are sent as the user turn.`);
    return { ...request, system: [], turns: [{ role: 'user', parts: request.system }] };
  }
  const reason =
    first === undefined
      ? told`A user turn "\u2026" stands for the empty conversation.`
      : told`A user turn "\u2026" was put before the first answer.`;
  receipt.add('approximated', 'messages', reason);
  return { ...request, turns: [SILENCE, ...request.turns] };
};

/**
 * Keeps a conversation that lost its last user turn from ending with the model. `asked` is the request before
 * all transforms. A conversation the client itself ends with an assistant turn is a prefill and stays one; any
 * other lost its last turn, which was empty, or held one result that belongs further up.
 */
export function endWithUser<Request extends Conversation>(
  request: Request,
  asked: Conversation,
  { receipt }: TransformContext,
): Request {
  const isPrefill = asked.turns.at(-1)?.role === 'assistant';
  if (isPrefill || request.turns.at(-1)?.role !== 'assistant') return request;
  const reason = told`A user turn "\u2026" stands for the empty last one.`;
  receipt.add('approximated', 'messages', reason);
  return { ...request, turns: [...request.turns, SILENCE] };
}

const SILENCE: Turn = { role: 'user', parts: [{ kind: 'text', text: '…' }] };

/**
 * Leaves the oldest turns out of a conversation larger than the model takes, where the client allows it. Cuts
 * before a turn the user began anew, so that no result loses its call; the last of them always stays.
 * Instructions given in between stay too.
 */
export const dropOldestTurns: Transform = (request, { capabilities, receipt }) => {
  if (request.dropsOldest !== true) return request;
  const excess = promptSize(request) - capabilities.inputTokenLimit;
  if (excess <= 0) return request;
  const start = findStart(request, excess);
  if (start === 0) return request;
  const kept = request.turns.filter((turn, index) => index >= start || turn.role === 'system');
  const count = request.turns.length - kept.length;
  receipt.add('approximated', 'truncation', told`The oldest ${count} turns were left out.`);
  return { ...request, turns: kept };
};

/** The first place from which the rest fits, else the last place there is; 0 when there is none. */
function findStart({ turns }: CanonicalRequest, excess: number): number {
  let dropped = 0;
  let start = 0;
  for (const [index, turn] of turns.entries()) {
    if (index > 0 && isFreshQuestion(turn)) {
      start = index;
      if (dropped >= excess) return start;
    }
    if (turn.role !== 'system') dropped += turnSize(turn);
  }
  return start;
}

function isFreshQuestion({ role, parts }: Turn): boolean {
  return role === 'user' && !parts.some(isResult);
}

/**
 * The last user turn that is no answer to calls, -1 where there is none. What follows it is the turn in progress,
 * whose signatures alone upstreams check (ai.google.dev, "Thought signatures").
 */
export function lastPrompt(turns: readonly Turn[]): number {
  return turns.findLastIndex(isFreshQuestion);
}
