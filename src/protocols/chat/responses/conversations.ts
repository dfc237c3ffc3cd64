// The routes of kept conversations: creating, reading, changing and deleting them and their items.

import { invalidRequest } from '../../../canonical/error.ts';
import { createReceipt } from '../../../canonical/receipt.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { KeptAnswersInput, ProtocolRoute } from '../../protocol.ts';
import { asObject, missingField, readArray } from '../fields.ts';
import {
  addTurn,
  changeMetadata,
  findConversation,
  removeConversation,
  removeItem,
  startConversation,
  unknownItem,
  writeConversation,
} from './conversation-log.ts';
import { writeItemPage } from './item-page.ts';
import { readMetadata } from './metadata.ts';
import { checkItems, writeOut } from './read-input.ts';
import { showItem } from './show-item.ts';

const COLLECTION = '/v1/conversations';
/** `{id}` also stands for an item of one: `<conversation>/items/<item>`. */
const ONE = `${COLLECTION}/{id}`;
const ITEMS = `${ONE}/items`;
const MOST_ITEMS = 20;

/** Sources: platform.openai.com, "Conversations" API reference; `openai` resources/conversations. */
export const CONVERSATION_ROUTES: readonly ProtocolRoute[] = [
  {
    operation: 'kept-answers',
    title: 'begins a conversation',
    method: 'POST',
    path: COLLECTION,
    takesBody: true,
    run: create,
  },
  {
    operation: 'kept-answers',
    title: 'shows a conversation, or an item of one (`/items/{item}`)',
    method: 'GET',
    path: ONE,
    run: read,
  },
  {
    operation: 'kept-answers',
    title: 'changes the metadata of a conversation',
    method: 'POST',
    path: ONE,
    takesBody: true,
    run: update,
  },
  {
    operation: 'kept-answers',
    title: 'deletes a conversation, or an item of one (`/items/{item}`)',
    method: 'DELETE',
    path: ONE,
    run: remove,
  },
  {
    operation: 'kept-answers',
    title: 'lists the items of a conversation',
    method: 'GET',
    path: ITEMS,
    run: listItems,
  },
  {
    operation: 'kept-answers',
    title: 'adds items to a conversation',
    method: 'POST',
    path: ITEMS,
    takesBody: true,
    run: addItems,
  },
];

async function create({ shelf, body, createId, now }: KeptAnswersInput): Promise<JsonObject> {
  const facts = { id: createId('conv_'), createdAt: now, metadata: readMetadata(body) ?? {} };
  const input = readNewItems(body);
  startConversation(shelf, facts);
  if (input.length > 0) await addTurn(shelf, facts.id, { turn: { input }, createId });
  return writeConversation(facts);
}

async function read({ id, shelf }: KeptAnswersInput): Promise<JsonObject> {
  const place = readPlace(id);
  const { facts, items } = await findConversation(shelf, place.conversation);
  if (place.item === undefined) return writeConversation(facts);
  const item = items.find((one) => one.id === place.item);
  if (item === undefined) throw unknownItem(place.item);
  return showItem(item);
}

async function update({ id, shelf, body }: KeptAnswersInput): Promise<JsonObject> {
  if (body.metadata === undefined) throw missingField('metadata');
  return writeConversation(await changeMetadata(shelf, id, readMetadata(body) ?? {}));
}

/** An item's deletion answers with its conversation. */
async function remove({ id, shelf }: KeptAnswersInput): Promise<JsonObject> {
  const { conversation, item } = readPlace(id);
  if (item !== undefined) return writeConversation(await removeItem(shelf, conversation, item));
  await removeConversation(shelf, conversation);
  return { id: conversation, object: 'conversation.deleted', deleted: true };
}

async function listItems({ id, query, shelf }: KeptAnswersInput): Promise<JsonObject> {
  return writeItemPage((await findConversation(shelf, id)).items, query);
}

async function addItems({ id, shelf, body, createId }: KeptAnswersInput): Promise<JsonObject> {
  const input = readNewItems(body);
  if (input.length === 0) throw missingField('items');
  await findConversation(shelf, id);
  const added = await addTurn(shelf, id, { turn: { input }, createId });
  return writeItemPage(added, new URLSearchParams({ order: 'asc' }));
}

/** Items that could not be read later are refused now. @throws GatewayError 400 */
function readNewItems(body: JsonObject): readonly JsonObject[] {
  const items = (readArray(body, 'items') ?? []).map((item, index) =>
    asObject(item, `items[${index}]`),
  );
  if (items.length > MOST_ITEMS) {
    throw invalidRequest('items', `items may hold at most ${MOST_ITEMS} items at once.`);
  }
  checkItems(items, 'items', createReceipt());
  return items.map(writeOut);
}

interface Place {
  readonly conversation: string;
  readonly item: string | undefined;
}

function readPlace(id: string): Place {
  const [conversation = '', item] = id.split('/items/', 2);
  return { conversation, item };
}
