// Finds what a request says of earlier answers: the conversation it goes on with, items it refers to.

import { bodyName } from '../../../canonical/call-record.ts';
import { clientError, type GatewayError, invalidRequest } from '../../../canonical/error.ts';
import { memberPath } from '../../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../../lib/json.ts';
import { objectsOf } from '../../../lib/read-values.ts';
import type {
  FoundResponse,
  KeptAnswers,
  ResponseStore,
  StoredResponse,
} from '../../../stored-responses/response-store.ts';
import { FILLED, needed, objectOf, openObjectOf, STRING, textOr } from '../../body-schema.ts';
import type { EarlierItems } from '../../protocol.ts';
import { check } from '../schema.ts';

/**
 * A kept conversation: its head shows what it is and names its last turn; its items come in order, each
 * with its id. @throws GatewayError not-found, too-large
 */
export async function findConversation(responses: KeptAnswers, id: string) {
  const head = await findHead(responses, id);
  const turns = await findChain(head.previousId, responses, () => lostTurn(id));
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
    const turn = { id: turnId, previousId, input, response: { output: [...output] } };
    return [{ ...head, previousId: turnId }, turn];
  });
  return [...input, ...output];
}

/** @throws GatewayError not-found */
export async function findHead(responses: KeptAnswers, id: string): Promise<FoundResponse> {
  const head = await responses.findLatest(id);
  if (head?.response.object !== 'conversation') throw unknownConversation(id);
  return head;
}

/** Ids of the items that were taken out of a conversation. */
export function removedOf({ response: { removed } }: StoredResponse): JsonValue[] {
  return Array.isArray(removed) ? removed : [];
}

export function unknownConversation(id: string): GatewayError {
  const message =
    `There is no conversation ${quote(id)} for this key: it was deleted, ` +
    'or nobody used it for too long. Create one with POST /v1/conversations.';
  return clientError('not-found', message, { field: 'conversation' });
}

function lostTurn(id: string): GatewayError {
  return invalidRequest(
    'conversation',
    `The beginning of the conversation ${quote(id)} is not kept any more, ` +
      'or it has too many turns. Start a new one with the items that still matter.',
  );
}

/** Longer conversations are sent whole by their clients. */
const MAX_ANSWERS = 1000;
/** As large as a request may be, in UTF-16 units of JSON text. */
const MAX_UNITS = 100 * 1024 * 1024;

export const NOTHING_EARLIER: EarlierItems = {
  history: [],
  session: undefined,
  findItem: () => undefined,
};

/**
 * From the first answer to the one that is named. `lost` makes the error where that one is missing, and where one
 * before it is or there are too many (`isBegun`). @throws GatewayError
 */
async function findChain(
  id: string | undefined,
  responses: KeptAnswers,
  lost: (isBegun: boolean) => GatewayError,
): Promise<readonly FoundResponse[]> {
  const chain: FoundResponse[] = [];
  let units = 0;
  for (let next = id; next !== undefined; ) {
    const answer: FoundResponse | undefined = await responses.find(next);
    if (answer === undefined || chain.length === MAX_ANSWERS) throw lost(chain.length > 0);
    units += answer.size;
    checkSize(units);
    chain.push(answer);
    next = answer.previousId;
  }
  return chain.reverse();
}

/** @throws GatewayError too-large */
function checkSize(units: number): void {
  if (units <= MAX_UNITS) return;
  const message =
    'The conversation that is kept here has grown larger than a request may be. Start a new one ' +
    'with the items that still matter.';
  throw clientError('too-large', message);
}

function itemsOf(chain: readonly StoredResponse[]): readonly JsonObject[] {
  return chain.flatMap(({ input, response }) => [...input, ...outputOf(response)]);
}

export function outputOf({ output }: JsonObject): readonly JsonObject[] {
  return objectsOf(output);
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

/**
 * Of items that are referred to as many are looked for as answers may be gone on with; others are as if not kept.
 * @throws GatewayError for a `previous_response_id` (400) or `conversation` (404) this client key has not, too-large
 */
export async function findEarlier(body: JsonObject, responses: KeptAnswers): Promise<EarlierItems> {
  const found = await findHistory(body, responses);
  const { history, session } = found ?? NOTHING_EARLIER;
  const references = new Set(
    [...objectsOf(body.input), ...history].flatMap((item) => referredId(item) ?? []),
  );
  const items = new Map<string, JsonObject>();
  const add = (known: readonly JsonObject[]): void => {
    for (const item of known) {
      if (typeof item.id === 'string' && referredId(item) === undefined) items.set(item.id, item);
    }
  };
  add(history);
  let [lookups, units] = [0, 0];
  for (const id of references) {
    if (items.has(id)) continue;
    if (lookups === MAX_ANSWERS) break;
    lookups += 1;
    const answer = await responses.findByItem(id);
    if (answer === undefined) continue;
    units += answer.size;
    checkSize(units);
    add(outputOf(answer.response));
  }
  return { history, session, findItem: (id) => items.get(id) };
}

const CONVERSATION = textOr(objectOf({ id: needed(FILLED) }));
const GOES_ON = openObjectOf({ previous_response_id: STRING, conversation: CONVERSATION });

/** The conversation a body names: an id, or an object that holds it. @throws GatewayError 400 */
export function readConversationId(body: JsonObject): string | undefined {
  const { conversation } = check(body, GOES_ON, '').value;
  return (typeof conversation === 'string' ? conversation : conversation?.id) ?? undefined;
}

export function unknownAnswer(id: string): GatewayError {
  return clientError('not-found', writeUnknown(id), {
    reason: 'thread-not-found',
    field: 'response_id',
  });
}

const writeUnknown = (id: string): string =>
  `There is no response ${quote(id)} for this key: it was made with "store": false, ` +
  'was deleted, is too old, or was too large to keep. Send the conversation as input.';

/** What a request goes on with is a field of it, so that a lost one is a 400 (`previous_response_not_found`). */
function lostAnswer(id: string, isBegun: boolean): GatewayError {
  const message = isBegun
    ? `The beginning of the conversation of ${quote(id)} is not kept any more, or it has too many turns. ` +
      'Send the conversation as input.'
    : writeUnknown(id);
  return invalidRequest('previous_response_id', message, 'thread-not-found');
}

/** A client's id in an error text. */
export function quote(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}

/** Conversations and their turns lie on the same shelf. */
export function isAnswerId(id: string): boolean {
  return !/^(?:conv|cturn)_/.test(id);
}

/** How a response made in the background may stand. */
const UNFINISHED: ReadonlySet<string> = new Set(['queued', 'in_progress', 'failed', 'cancelled']);

async function findHistory(
  body: JsonObject,
  responses: KeptAnswers,
): Promise<Pick<EarlierItems, 'history' | 'session'> | undefined> {
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
    return { history: items, session: bodyName(conversationId) };
  }
  if (previousId === undefined) return undefined;
  if (!isAnswerId(previousId)) throw lostAnswer(previousId, false);
  const chain = await findChain(previousId, responses, (isBegun) =>
    lostAnswer(previousId, isBegun),
  );
  const { status } = chain.at(-1)?.response ?? {};
  if (typeof status === 'string' && UNFINISHED.has(status)) {
    throw invalidRequest(
      'previous_response_id',
      `The response ${quote(previousId)} has no answer to go on from: it is not ` +
        'finished, failed or was cancelled. GET /v1/responses/{id} shows its status.',
    );
  }
  const [first] = chain;
  return { history: itemsOf(chain), session: first?.session ?? bodyName(first?.id ?? previousId) };
}
