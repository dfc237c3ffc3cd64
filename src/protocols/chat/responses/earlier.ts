// Finds what a request says of earlier answers: the conversation it goes on with, items it refers to.

import { GatewayError, invalidRequest } from '../../../canonical/error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import type { AnswerShelf } from '../../../shelf/answer-shelf.ts';
import type { EarlierItems } from '../../protocol.ts';
import { readString, requireString, wrongType } from '../fields.ts';
import { findConversation } from './conversation-log.ts';
import { findChain, NOTHING_EARLIER, outputOf } from './earlier-chain.ts';
import { referredId } from './item-reference.ts';

/** @throws GatewayError not-found for a `previous_response_id` or `conversation` this client key has not */
export async function findEarlier(body: JsonObject, shelf: AnswerShelf): Promise<EarlierItems> {
  const history = await findHistory(body, shelf);
  const { items: known, rootId } = history ?? { items: [], rootId: undefined };
  const references = [...referencesIn(body.input), ...referencesIn(known)];
  if (history === undefined && references.length === 0) return NOTHING_EARLIER;
  const items = new Map(byId(known));
  for (const id of references) {
    if (items.has(id)) continue;
    const answer = await shelf.findByItem(id);
    for (const [key, item] of byId(answer === undefined ? [] : outputOf(answer.response))) {
      items.set(key, item);
    }
  }
  return { history: known, rootId, findItem: (id) => items.get(id) };
}

/** The conversation a body names: an id, or an object that holds it. @throws GatewayError 400 */
export function readConversationId(body: JsonObject): string | undefined {
  const { conversation } = body;
  if (conversation === undefined || conversation === null) return undefined;
  if (typeof conversation === 'string') return conversation;
  if (!isJsonObject(conversation)) throw wrongType('conversation', 'a string or an object');
  return requireString(conversation, 'id', 'conversation');
}

export function unknownAnswer(id: string, field = 'previous_response_id'): GatewayError {
  return new GatewayError({
    kind: 'not-found',
    source: 'client',
    reason: 'thread-not-found',
    field,
    message:
      `There is no response ${JSON.stringify(id.slice(0, 100))} for this key: it was made with ` +
      '"store": false, was deleted, is too old, or was too large to keep. Send the conversation as input.',
  });
}

/** Conversations and their turns lie on the same shelf. */
export function isAnswerId(id: string): boolean {
  return !/^(?:conv|cturn)_/.test(id);
}

/** How a response made in the background may stand. */
const UNFINISHED: ReadonlySet<string> = new Set(['queued', 'in_progress', 'failed', 'cancelled']);

interface History {
  readonly items: readonly JsonObject[];
  readonly rootId: string | undefined;
}

async function findHistory(body: JsonObject, shelf: AnswerShelf): Promise<History | undefined> {
  const previousId = readString(body, 'previous_response_id');
  const conversationId = readConversationId(body);
  if (previousId !== undefined && conversationId !== undefined) {
    throw invalidRequest(
      'conversation',
      'conversation and previous_response_id exclude each other; send one of them.',
    );
  }
  if (conversationId !== undefined) {
    const { items } = await findConversation(shelf, conversationId);
    return { items, rootId: conversationId };
  }
  if (previousId === undefined) return undefined;
  if (!isAnswerId(previousId)) throw unknownAnswer(previousId);
  const chain = await findChain(previousId, shelf, () => unknownAnswer(previousId));
  const { status } = chain.at(-1)?.response ?? {};
  if (typeof status === 'string' && UNFINISHED.has(status)) {
    throw invalidRequest(
      'previous_response_id',
      `The response ${JSON.stringify(previousId.slice(0, 100))} has no answer to go on from: it is not ` +
        'finished, failed or was cancelled. GET /v1/responses/{id} shows its status.',
    );
  }
  return {
    items: chain.flatMap(({ input, response }) => [...input, ...outputOf(response)]),
    rootId: chain[0]?.id,
  };
}

function* byId(items: readonly JsonObject[]): Generator<[string, JsonObject]> {
  for (const item of items) {
    if (typeof item.id === 'string' && referredId(item) === undefined) yield [item.id, item];
  }
}

function referencesIn(input: JsonValue | readonly JsonValue[] | undefined): readonly string[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item) => (isJsonObject(item) ? (referredId(item) ?? []) : []));
}
