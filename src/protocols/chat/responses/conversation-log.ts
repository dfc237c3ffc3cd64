// One conversation as it is kept: a head with its facts, and its items in turns that never change.

import { GatewayError, invalidRequest } from '../../../canonical/error.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import type { AnswerShelf, FoundAnswer, KeptAnswer } from '../../../shelf/answer-shelf.ts';
import { findChain, outputOf } from './earlier-chain.ts';

/** What a conversation shows of itself (`openai` resources/conversations, `Conversation`). */
export interface ConversationFacts {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly metadata: JsonObject;
}

/** Items that join a conversation together. */
export interface ConversationTurn {
  readonly input: readonly JsonObject[];
  /** Items of an answer; they have ids already. */
  readonly output?: readonly JsonObject[];
}

export interface FoundConversation {
  readonly facts: ConversationFacts;
  /** In order, each with its id. */
  readonly items: readonly JsonObject[];
}

type CreateId = (prefix: string) => string;

export function startConversation(shelf: AnswerShelf, facts: ConversationFacts): void {
  shelf.put(headOf(facts, { lastTurn: undefined, removed: [] }));
}

/** @throws GatewayError not-found, too-large */
export async function findConversation(shelf: AnswerShelf, id: string): Promise<FoundConversation> {
  const head = await findHead(shelf, id);
  const turns =
    head.previousId === undefined
      ? []
      : await findChain(head.previousId, shelf, () => lostTurn(id));
  const removed = new Set(readRemoved(head));
  const items = turns
    .flatMap(({ input, response }) => [...input, ...outputOf(response)])
    .filter((item) => typeof item.id === 'string' && !removed.has(item.id));
  return { facts: factsOf(head), items };
}

/** The items as they were added, with ids. Does nothing to a conversation that is gone by now. */
export async function addTurn(
  shelf: AnswerShelf,
  id: string,
  { turn, createId }: { readonly turn: ConversationTurn; readonly createId: CreateId },
): Promise<readonly JsonObject[]> {
  const input = turn.input.map((item) => withId(item, createId));
  const turnId = createId('cturn_');
  const output = [...(turn.output ?? [])];
  await shelf.change(id, (head) => {
    shelf.put({ id: turnId, previousId: head.previousId, input, response: { output } });
    return { ...head, previousId: turnId };
  });
  return [...input, ...output];
}

/** @throws GatewayError not-found */
export async function changeMetadata(
  shelf: AnswerShelf,
  id: string,
  metadata: JsonObject,
): Promise<ConversationFacts> {
  const changed = await shelf.change(id, (head) => ({
    ...head,
    response: { ...head.response, metadata },
  }));
  if (changed === undefined) throw unknownConversation(id);
  return factsOf(changed);
}

/** @throws GatewayError not-found for the conversation or the item */
export async function removeItem(
  shelf: AnswerShelf,
  id: string,
  itemId: string,
): Promise<ConversationFacts> {
  const { facts, items } = await findConversation(shelf, id);
  if (!items.some((item) => item.id === itemId)) throw unknownItem(itemId);
  await shelf.change(id, (head) => ({
    ...head,
    response: { ...head.response, removed: [...readRemoved(head), itemId] },
  }));
  return facts;
}

/** Its turns go with it. @throws GatewayError not-found */
export async function removeConversation(shelf: AnswerShelf, id: string): Promise<void> {
  const head = await findHead(shelf, id);
  await shelf.remove(id);
  for (let next = head.previousId; next !== undefined; ) {
    const turn: FoundAnswer | undefined = await shelf.find(next);
    await shelf.remove(next);
    next = turn?.previousId;
  }
}

export function writeConversation({ id, createdAt, metadata }: ConversationFacts): JsonObject {
  return { id, object: 'conversation', created_at: createdAt, metadata };
}

export function unknownItem(itemId: string): GatewayError {
  return new GatewayError({
    kind: 'not-found',
    source: 'client',
    field: 'item_id',
    message: `There is no item ${JSON.stringify(itemId.slice(0, 100))} in this conversation.`,
  });
}

async function findHead(shelf: AnswerShelf, id: string): Promise<FoundAnswer> {
  const head = await shelf.find(id);
  if (head?.response.object !== 'conversation') throw unknownConversation(id);
  return head;
}

function unknownConversation(id: string): GatewayError {
  return new GatewayError({
    kind: 'not-found',
    source: 'client',
    field: 'conversation',
    message:
      `There is no conversation ${JSON.stringify(id.slice(0, 100))} for this key: it was deleted, ` +
      'or nobody used it for too long. Create one with POST /v1/conversations.',
  });
}

function lostTurn(id: string): GatewayError {
  return invalidRequest(
    'conversation',
    `The beginning of the conversation ${JSON.stringify(id.slice(0, 100))} is not kept any more, ` +
      'or it has too many turns. Start a new one with the items that still matter.',
  );
}

function headOf(
  { id, createdAt, metadata }: ConversationFacts,
  state: { readonly lastTurn: string | undefined; readonly removed: readonly string[] },
): KeptAnswer {
  const removed = [...state.removed];
  const response = { id, object: 'conversation', created_at: createdAt, metadata, removed };
  return { id, previousId: state.lastTurn, input: [], response };
}

function factsOf({ id, response }: KeptAnswer): ConversationFacts {
  const { created_at: createdAt, metadata } = response;
  return {
    id,
    createdAt: typeof createdAt === 'number' ? createdAt : 0,
    metadata: isJsonObject(metadata) ? metadata : {},
  };
}

function readRemoved({ response }: KeptAnswer): readonly string[] {
  const { removed } = response;
  return Array.isArray(removed) ? removed.filter((id) => typeof id === 'string') : [];
}

function withId(item: JsonObject, createId: CreateId): JsonObject {
  if (typeof item.id === 'string' && item.id !== '') return item;
  const isMessage = item.type === undefined || item.type === 'message';
  return { ...item, id: createId(isMessage ? 'msg_' : 'item_') };
}
