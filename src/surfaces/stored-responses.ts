// The routes of stored responses and conversations: create, read, change, delete, list items.

import { clientError, cutOffError, type GatewayError, invalidRequest } from '../canonical/error.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { JsonObject } from '../lib/json.ts';
import { FREE, listOf, openObjectOf } from '../protocols/body-schema.ts';
import { READING_ALONG } from '../protocols/chat/responses/background.ts';
import {
  addTurn,
  findConversation,
  findHead,
  isAnswerId,
  quote,
  removedOf,
  unknownAnswer,
  unknownConversation,
} from '../protocols/chat/responses/previous-response.ts';
import { checkItems, writeOut } from '../protocols/chat/responses/read-input.ts';
import { failedError, showItem } from '../protocols/chat/responses/response-object.ts';
import { readMetadata } from '../protocols/chat/responses/schema.ts';
import { check, missingField, unsupported } from '../protocols/chat/schema.ts';
import type {
  FollowedEvents,
  KeptRoute,
  ProtocolRoute,
  StoredResponseInput,
} from '../protocols/protocol.ts';
import type { ResponseStore, StoredResponse } from '../stored-responses/response-store.ts';
import { writeItemPage } from './item-page.ts';

const COLLECTION = '/v1/conversations';
/** `{id}` also stands for an item of one: `<conversation>/items/<item>`. */
const ONE_CONVERSATION = `${COLLECTION}/{id}`;
const ITEMS = `${ONE_CONVERSATION}/items`;
const ONE_RESPONSE = '/v1/responses/{id}';
const MAX_ITEMS = 20;
const WHOLE_NUMBER = /^(?:-1|\d{1,15})$/;

function route(
  method: KeptRoute['method'],
  path: string,
  rest: Pick<KeptRoute, 'title' | 'run' | 'follow' | 'takesBody'>,
): ProtocolRoute {
  return { operation: 'kept-answers', method, path, ...rest };
}

/** Sources: platform.openai.com, "Responses" and "Conversations"; `openai` resources/responses, resources/conversations. */
export const STORED_RESPONSE_ROUTES: readonly ProtocolRoute[] = [
  route('GET', ONE_RESPONSE, {
    title: 'shows a stored response, or resumes its stream (`stream=true`)',
    run: readAnswer,
    follow: followAnswer,
  }),
  route('DELETE', ONE_RESPONSE, { title: 'deletes a stored response', run: removeAnswer }),
  route('GET', `${ONE_RESPONSE}/input_items`, {
    title: 'lists the input items of a stored response',
    run: listInput,
  }),
  route('POST', `${ONE_RESPONSE}/cancel`, {
    title: 'cancels a background response',
    run: cancelAnswer,
  }),
  route('POST', COLLECTION, { title: 'creates a conversation', takesBody: true, run: create }),
  route('GET', ONE_CONVERSATION, {
    title: 'shows a conversation, or an item of one (`/items/{item}`)',
    run: read,
  }),
  route('POST', ONE_CONVERSATION, {
    title: 'changes the metadata of a conversation',
    takesBody: true,
    run: update,
  }),
  route('DELETE', ONE_CONVERSATION, {
    title: 'deletes a conversation, or an item of one (`/items/{item}`)',
    run: remove,
  }),
  route('GET', ITEMS, { title: 'lists the items of a conversation', run: listItems }),
  route('POST', ITEMS, { title: 'adds items to a conversation', takesBody: true, run: addItems }),
];

async function create({
  responses,
  body,
  createId,
  now,
}: StoredResponseInput): Promise<JsonObject> {
  const id = createId('conv_');
  const shown = { id, object: 'conversation', created_at: now, metadata: metadataOf(body) };
  const input = readNewItems(body, responses);
  responses.put({ id, input: [], response: { ...shown, removed: [] } });
  await responses.stored([id]);
  if (input.length > 0) await addTurn(responses, id, { input, createId });
  return shown;
}

/** What a conversation shows of itself (`openai` resources/conversations, `Conversation`). */
function show({ response: { removed: _removed, ...shown } }: StoredResponse): JsonObject {
  return shown;
}

async function read({ id, responses }: StoredResponseInput): Promise<JsonObject> {
  const { conversation, item: itemId } = readPlace(id);
  const { head, items } = await findConversation(responses, conversation);
  if (itemId === undefined) return show(head);
  const item = items.find((one) => one.id === itemId);
  if (item === undefined) throw unknownItem(itemId);
  return showItem(item);
}

async function update({ id, responses, body }: StoredResponseInput): Promise<JsonObject> {
  if (body.metadata === undefined) throw missingField('metadata');
  const metadata = metadataOf(body);
  const changed = await responses.change(id, (head) => [
    { ...head, response: { ...head.response, metadata } },
  ]);
  if (changed === undefined) throw unknownConversation(id);
  return show(changed);
}

async function remove({ id, responses }: StoredResponseInput): Promise<JsonObject> {
  const { conversation, item } = readPlace(id);
  if (item !== undefined) {
    // An item's deletion answers with its conversation.
    const { head, items } = await findConversation(responses, conversation);
    if (!items.some((one) => one.id === item)) throw unknownItem(item);
    await responses.change(conversation, (now) => [
      { ...now, response: { ...now.response, removed: [...removedOf(now), item] } },
    ]);
    return show(head);
  }
  // Its turns go with it.
  const head = await findHead(responses, conversation);
  await responses.remove(conversation);
  for (let next = head.previousId; next !== undefined; ) {
    const turn = await responses.find(next);
    await responses.remove(next);
    next = turn?.previousId;
  }
  return { id: conversation, object: 'conversation.deleted', deleted: true };
}

function unknownItem(itemId: string): GatewayError {
  const message = `There is no item ${quote(itemId)} in this conversation.`;
  return clientError('not-found', message, { field: 'item_id' });
}

async function listItems({ id, query, responses }: StoredResponseInput): Promise<JsonObject> {
  return writeItemPage((await findConversation(responses, id)).items, query);
}

async function addItems({
  id,
  responses,
  body,
  createId,
}: StoredResponseInput): Promise<JsonObject> {
  const input = readNewItems(body, responses);
  if (input.length === 0) throw missingField('items');
  await findConversation(responses, id);
  const added = await addTurn(responses, id, { input, createId });
  return writeItemPage(added, new URLSearchParams({ order: 'asc' }));
}

const NEW_ITEMS = openObjectOf({ items: listOf(FREE) });
const METADATA = openObjectOf({ metadata: FREE });

/** Items that could not be kept or read later are refused now. @throws GatewayError 400, 413 */
function readNewItems(body: JsonObject, responses: ResponseStore): readonly JsonObject[] {
  const items = check(body, NEW_ITEMS, '').value.items ?? [];
  if (items.length > MAX_ITEMS) {
    throw invalidRequest('items', `items may hold at most ${MAX_ITEMS} items at once.`);
  }
  checkItems(items, 'items', createReceipt());
  const written = items.map(writeOut);
  if (responses.canKeep(written)) return written;
  const message = 'items are more than the gateway keeps of one turn. Add fewer or smaller ones.';
  throw clientError('too-large', message, { field: 'items' });
}

function metadataOf(body: JsonObject): JsonObject {
  return readMetadata(check(body, METADATA, '').value.metadata);
}

function readPlace(id: string) {
  const [conversation = '', item] = id.split('/items/', 2);
  return { conversation, item };
}

async function readAnswer(input: StoredResponseInput): Promise<JsonObject> {
  if (input.query.has('starting_after')) {
    throw invalidRequest('starting_after', 'starting_after goes with stream=true only.');
  }
  return (await find(input)).response;
}

async function followAnswer(input: StoredResponseInput): Promise<FollowedEvents | undefined> {
  const { id, query, runs } = input;
  if (query.get('stream') !== 'true') return undefined;
  const after = query.get('starting_after') ?? '-1';
  if (!WHOLE_NUMBER.test(after)) {
    const message = 'starting_after is the sequence_number of the last event that you have.';
    throw invalidRequest('starting_after', message);
  }
  const { runner } = await find(input);
  const first = Number(after) + 1;
  const events = await runs.eventsFrom(id, runner, first);
  if (events !== undefined) return { events, first, reader: READING_ALONG };
  const text =
    'these events are not kept. Those of a response with background and stream are, of a long one the last, while the ' +
    'gateway that makes it runs, until five minutes after its end; leave stream out to get the response as it stands.';
  throw unsupported('stream', text);
}

/** One that is still being made is ended first. */
async function removeAnswer(input: StoredResponseInput): Promise<JsonObject> {
  const answer = await input.responses.find(input.id);
  if (answer !== undefined) await cancelOpen(input, answer);
  if (!(await input.responses.remove(input.id))) throw unknownAnswer(input.id);
  return { id: input.id, object: 'response', deleted: true };
}

/** Newest first unless asked otherwise, as the real service lists them. */
async function listInput(input: StoredResponseInput): Promise<JsonObject> {
  const { id: answerId, input: kept } = await find(input);
  const items = kept.map((item, index) => ({
    ...item,
    id: typeof item.id === 'string' ? item.id : `item_${answerId.slice(-24)}_${index}`,
  }));
  return writeItemPage(items, input.query);
}

/** One that has ended is shown as it ended, as the real service does. */
async function cancelAnswer(input: StoredResponseInput): Promise<JsonObject> {
  const answer = await find(input);
  if (answer.response.background !== true) {
    throw invalidRequest(
      'response_id',
      'Only responses made in the background can be cancelled; close the connection of a stream.',
      'unsupported',
    );
  }
  await cancelOpen(input, answer);
  return (await find(input)).response;
}

/** The process that made one that has ended is not asked. */
async function cancelOpen(
  { id, runs }: StoredResponseInput,
  { response: { status }, runner }: StoredResponse,
): Promise<void> {
  if (status === 'queued' || status === 'in_progress') await runs.cancel(id, runner);
}

async function find({ id, responses, runs }: StoredResponseInput): Promise<StoredResponse> {
  const answer = isAnswerId(id) ? await responses.find(id) : undefined;
  if (answer === undefined) throw unknownAnswer(id);
  const { size: _size, runner, ...kept } = answer;
  const { response } = kept;
  if (response.status !== 'queued') return answer;
  const status = runs.stateOf(id, runner);
  if (status !== undefined) return { ...answer, response: { ...response, status } };
  const failed = { ...kept, response: cutOff(response) };
  if ((await responses.end(failed)) === false) return (await responses.find(id)) ?? failed;
  runs.giveUp(id, runner);
  return failed;
}

/** What was queued and is made no more was cut off with the process that made it. */
function cutOff(response: JsonObject): JsonObject {
  const { message } = cutOffError();
  return { ...response, status: 'failed', error: failedError({ code: 'server_error', message }) };
}
