// Pairs the calls and results of a native history: the wire wants all results of a turn's calls first in the next user turn.

import type { Receipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { OpenResults } from '../open-results.ts';
import { itemsOf, objectOf, textOf } from '../read-values.ts';

/** Moves late results up, and adds an error for each missing one. A result of no call is the client's mistake, which the upstream names. */
export function pairResults(messages: JsonValue[], receipt: Receipt): JsonValue[] {
  const turns = turnsOf(messages);
  const called = new Set(turns.flatMap(callIdsOf));
  if (called.size === 0) return messages;
  const results = new OpenResults();
  for (const block of turns.flatMap(blocksOf)) {
    const id = answeredBy(block, called);
    if (id !== undefined && isJsonObject(block)) results.add(id, block);
  }
  const paired: JsonValue[] = [];
  let open: readonly string[] = [];
  const answer = (): void => {
    if (open.length === 0) return;
    const content = open.map((id) => movedResult(id, results, receipt));
    paired.push({ role: 'user', content });
  };
  for (const turn of turns) {
    const isInPlace = turn.role === 'user' && answersFirst(turn, open, called);
    if (isInPlace) for (const id of open) results.take(id, receipt);
    else answer();
    for (const message of isInPlace ? turn.messages : withoutResults(turn.messages, called)) {
      paired.push(message);
    }
    open = callIdsOf(turn);
  }
  answer();
  results.noteLeft(called, receipt);
  const isSame =
    paired.length === messages.length && paired.every((one, at) => one === messages[at]);
  return isSame ? messages : paired;
}

/** Neighbouring messages of one role, which the wire takes for one turn. */
interface Turn {
  readonly role: string | undefined;
  readonly messages: readonly JsonValue[];
}

function turnsOf(messages: readonly JsonValue[]): readonly Turn[] {
  const turns: { readonly role: string | undefined; readonly messages: JsonValue[] }[] = [];
  for (const message of messages) {
    const role = textOf(objectOf(message)?.role);
    const last = turns.at(-1);
    if (last?.role === role) last?.messages.push(message);
    else turns.push({ role, messages: [message] });
  }
  return turns;
}

function blocksOf({ messages }: Turn): readonly JsonValue[] {
  return messages.flatMap((message) => {
    const content = objectOf(message)?.content;
    return typeof content === 'string' ? [content] : itemsOf(content);
  });
}

function callIdsOf(turn: Turn): readonly string[] {
  if (turn.role !== 'assistant') return [];
  return blocksOf(turn).flatMap((block) => {
    const { type, id } = objectOf(block) ?? {};
    return type === 'tool_use' ? (textOf(id) ?? []) : [];
  });
}

/** The call that a block is the result of, if it is there. */
function answeredBy(block: JsonValue, called: ReadonlySet<string>): string | undefined {
  const { type, tool_use_id: given } = objectOf(block) ?? {};
  const id = type === 'tool_result' ? textOf(given) : undefined;
  return id !== undefined && called.has(id) ? id : undefined;
}

/** True where the turn begins with one result to each of the calls, and has no other of theirs. */
function answersFirst(turn: Turn, ids: readonly string[], called: ReadonlySet<string>): boolean {
  const blocks = blocksOf(turn);
  const given = blocks.map((block) => answeredBy(block, called));
  const known = given.filter((id) => id !== undefined);
  const end = blocks.findLastIndex((_block, at) => given[at] !== undefined);
  const isFirst = blocks
    .slice(0, end + 1)
    .every((block) => objectOf(block)?.type === 'tool_result');
  const answered = new Set(known);
  return isFirst && known.length === ids.length && ids.every((id) => answered.has(id));
}

/** The result of a call, which goes behind it from where it stood. */
function movedResult(id: string, results: OpenResults, receipt: Receipt): JsonObject {
  const found = results.take(id, receipt);
  if (found === undefined) {
    return { type: 'tool_result', tool_use_id: id, is_error: true, content: 'no result' };
  }
  receipt.add('repaired', 'messages', told`The result of ${id} was moved behind its call.`);
  return found;
}

/** Messages of which nothing is left go as well. */
function withoutResults(
  messages: readonly JsonValue[],
  called: ReadonlySet<string>,
): readonly JsonValue[] {
  return messages.flatMap((message) => {
    if (!isJsonObject(message) || !Array.isArray(message.content)) return [message];
    const content = message.content.filter((block) => answeredBy(block, called) === undefined);
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
