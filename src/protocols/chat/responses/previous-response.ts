// Finds what a request says of earlier answers: the conversation it goes on with, items it refers to.

import { GatewayError, invalidRequest } from '../../../canonical/error.ts';
import { memberPath } from '../../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import type {
  FoundResponse,
  ResponseStore,
  StoredResponse,
} from '../../../stored-responses/response-store.ts';
import { FILLED, needed, openObjectOf, STRING } from '../../body-schema.ts';
import type { EarlierItems } from '../../protocol.ts';
import { check, wrongType } from '../schema.ts';

/** A kept conversation: its head shows what it is and names its last turn. */
export interface FoundConversation {
  readonly head: FoundResponse;
  /** In order, each with its id. */
  readonly items: readonly JsonObject[];
}

/** @throws GatewayError not-found, too-large */
export async function findConversation(
  responses: ResponseStore,
  id: string,
): Promise<FoundConversation> {
  const head = await findHead(responses, id);
  const { previousId } = head;
  const turns =
    previousId === undefined ? [] : await findChain(previousId, responses, () => lostTurn(id));
  const removed = new Set<JsonValue>(removedOf(head));
  const items = itemsOf(turns).filter(
    (item) => typeof item.id === 'string' && !removed.has(item.id),
  );
  return { head, items };
}

interface NewTurn {
  readonly input: readonly JsonObject[];
  /** Items of an answer; they have ids already. */
  readonly output?: readonly JsonObject[];
  createId(prefix: string): string;
}

/** The items as they were added, with ids. Does nothing to a conversation that is gone by now. */
export async function addTurn(
  responses: ResponseStore,
  id: string,
  { input: given, output = [], createId }: NewTurn,
): Promise<readonly JsonObject[]> {
  const input = given.map((item) => {
    if (typeof item.id === 'string' && item.id !== '') return item;
    const isMessage = item.type === undefined || item.type === 'message';
    return { ...item, id: createId(isMessage ? 'msg_' : 'item_') };
  });
  const turnId = createId('cturn_');
  await responses.change(id, (head) => {
    const { previousId } = head;
    responses.put({ id: turnId, previousId, input, response: { output: [...output] } });
    return { ...head, previousId: turnId };
  });
  return [...input, ...output];
}

/** @throws GatewayError not-found */
export async function findHead(responses: ResponseStore, id: string): Promise<FoundResponse> {
  const head = await responses.find(id);
  if (head?.response.object !== 'conversation') throw unknownConversation(id);
  return head;
}

/** Ids of the items that were taken out of a conversation. */
export function removedOf({ response: { removed } }: StoredResponse): JsonValue[] {
  return Array.isArray(removed) ? removed : [];
}

export function unknownConversation(id: string): GatewayError {
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

/** Longer conversations are sent whole by their clients. */
const MAX_ANSWERS = 1000;
/** As large as a request may be, in UTF-16 units of JSON text. */
const MAX_UNITS = 100 * 1024 * 1024;

export const NOTHING_EARLIER: EarlierItems = {
  history: [],
  rootId: undefined,
  findItem: () => undefined,
};

/**
 * From the first answer to the one that is named. `lost` makes the error for a chain with a gap, and
 * for one that is too long. @throws GatewayError
 */
async function findChain(
  id: string,
  responses: ResponseStore,
  lost: () => GatewayError,
): Promise<readonly FoundResponse[]> {
  const chain: FoundResponse[] = [];
  let units = 0;
  for (let next: string | undefined = id; next !== undefined; ) {
    const answer: FoundResponse | undefined = await responses.find(next);
    if (answer === undefined || chain.length === MAX_ANSWERS) throw lost();
    units += answer.size;
    if (units > MAX_UNITS) throw tooLarge();
    chain.push(answer);
    next = answer.previousId;
  }
  return chain.reverse();
}

function itemsOf(chain: readonly StoredResponse[]): readonly JsonObject[] {
  return chain.flatMap(({ input, response }) => [...input, ...outputOf(response)]);
}

export function outputOf({ output }: JsonObject): readonly JsonObject[] {
  return Array.isArray(output) ? output.filter(isJsonObject) : [];
}

function tooLarge(): GatewayError {
  return new GatewayError({
    kind: 'too-large',
    source: 'client',
    message:
      'The conversation that is kept here has grown larger than a request may be. Start a new one ' +
      'with the items that still matter.',
  });
}

/** The type may be left out: an id alone is one too (`openai` resources/responses, `ItemReference`). */
export function isReference(item: JsonObject): boolean {
  const { id, type = null } = item;
  if (type !== null) return type === 'item_reference';
  return typeof id === 'string' && Object.keys(item).every((key) => key === 'id' || key === 'type');
}

/**
 * The id of the item this one stands for. A drawing is gone on with by its id, without the picture
 * (platform.openai.com, "Image generation", multi-turn editing).
 */
export function referredId(item: JsonObject): string | undefined {
  if (typeof item.id !== 'string') return undefined;
  return isReference(item) || isBareDrawing(item) ? item.id : undefined;
}

/** @returns 400 naming the id */
export function unknownReference(path: string, id: string): GatewayError {
  return invalidRequest(
    memberPath(path, 'id'),
    `${memberPath(path, 'id')}: no item "${id}" is kept here; send the item itself.`,
    'thread-not-found',
  );
}

/** One that failed has no picture either, and stands for nothing but itself. */
function isBareDrawing({ type, result = null, status = null }: JsonObject): boolean {
  if (type !== 'image_generation_call' || (result !== null && result !== '')) return false;
  return status === null || status === 'completed';
}

/** @throws GatewayError not-found for a `previous_response_id` or `conversation` this client key has not */
export async function findEarlier(
  body: JsonObject,
  responses: ResponseStore,
): Promise<EarlierItems> {
  const found = await findHistory(body, responses);
  const { history, rootId } = found ?? NOTHING_EARLIER;
  const input = Array.isArray(body.input) ? body.input.filter(isJsonObject) : [];
  const references = [...input, ...history].flatMap((item) => referredId(item) ?? []);
  if (found === undefined && references.length === 0) return NOTHING_EARLIER;
  const items = new Map<string, JsonObject>();
  const add = (known: readonly JsonObject[]): void => {
    for (const item of known) {
      if (typeof item.id === 'string' && referredId(item) === undefined) items.set(item.id, item);
    }
  };
  add(history);
  for (const id of references) {
    if (items.has(id)) continue;
    const answer = await responses.findByItem(id);
    if (answer !== undefined) add(outputOf(answer.response));
  }
  return { history, rootId, findItem: (id) => items.get(id) };
}

const NAMED = openObjectOf({ id: needed(FILLED) });
const GOES_ON = openObjectOf({ previous_response_id: STRING });

/** The conversation a body names: an id, or an object that holds it. @throws GatewayError 400 */
export function readConversationId(body: JsonObject): string | undefined {
  const { conversation } = body;
  if (conversation === undefined || conversation === null) return undefined;
  if (typeof conversation === 'string') return conversation;
  if (!isJsonObject(conversation)) throw wrongType('conversation', 'a string or an object');
  return check(conversation, NAMED, 'conversation').value.id;
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

async function findHistory(
  body: JsonObject,
  responses: ResponseStore,
): Promise<Pick<EarlierItems, 'history' | 'rootId'> | undefined> {
  const previousId = check(body, GOES_ON, '').value.previous_response_id ?? undefined;
  const conversationId = readConversationId(body);
  if (previousId !== undefined && conversationId !== undefined) {
    throw invalidRequest(
      'conversation',
      'conversation and previous_response_id exclude each other; send one of them.',
    );
  }
  if (conversationId !== undefined) {
    const { items } = await findConversation(responses, conversationId);
    return { history: items, rootId: conversationId };
  }
  if (previousId === undefined) return undefined;
  if (!isAnswerId(previousId)) throw unknownAnswer(previousId);
  const chain = await findChain(previousId, responses, () => unknownAnswer(previousId));
  const { status } = chain.at(-1)?.response ?? {};
  if (typeof status === 'string' && UNFINISHED.has(status)) {
    throw invalidRequest(
      'previous_response_id',
      `The response ${JSON.stringify(previousId.slice(0, 100))} has no answer to go on from: it is not ` +
        'finished, failed or was cancelled. GET /v1/responses/{id} shows its status.',
    );
  }
  return { history: itemsOf(chain), rootId: chain[0]?.id };
}
