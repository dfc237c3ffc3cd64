// Reads `instructions` and `input` into the conversation, one turn an item, in the client's own order.

import { invalidRequest } from '../../../canonical/error.ts';
import { memberPath } from '../../../canonical/field-reader.ts';
import { type Receipt, told } from '../../../canonical/receipt.ts';
import type { TextPart, Turn } from '../../../canonical/request.ts';
import { splitInlineImages } from '../../../canonical/split-inline-images.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import {
  asObject,
  missingField,
  readArray,
  readString,
  requireString,
  unknownWord,
  wrongType,
} from '../fields.ts';
import { createReadContext } from '../read-context.ts';
import { readTextContent } from '../read-parts.ts';
import { readCompaction, sinceSummary, withoutTrigger } from './compaction.ts';
import { endWithPictures } from './end-with-pictures.ts';
import { isReference, referredId, unknownReference } from './item-reference.ts';
import { readAgentMessage } from './read-agent-message.ts';
import { readCallItem } from './read-call-items.ts';
import { readItemContent } from './read-content.ts';
import { readReasoningItem } from './read-reasoning-item.ts';
import { readToolList } from './read-tools.ts';
import type { ResponsesContext } from './responses-context.ts';
import { createToolDirectory } from './tool-directory.ts';

export interface Conversation {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

const ROLES = ['user', 'assistant', 'system', 'developer'];

/** Items of features only the vendor hosts: nothing of them can be told to another model. */
const HOSTED_ITEMS =
  /^(?:(?:context_)?compaction|configuration_update|multi_agent_|program|mcp_|computer_call|code_interpreter_call|file_search_call)/;

/**
 * Instructions stand before everything; leading system and developer messages follow them.
 * `history` are the items of the conversation that the request goes on with. @throws GatewayError 400
 */
export function readInput(
  body: JsonObject,
  history: readonly JsonObject[],
  context: ResponsesContext,
): Conversation {
  const system: TextPart[] = [...readInstructions(body, context)];
  const turns: Turn[] = [];
  const add = (turn: Turn | undefined): void => {
    if (turn === undefined) return;
    if (turn.role !== 'system' || turns.length > 0) turns.push(turn);
    else for (const part of turn.parts) system.push(part);
  };
  const isAnswer = readString(body, 'previous_response_id') !== undefined;
  const historyPath = isAnswer ? 'previous_response_id' : 'conversation';
  for (const item of sinceSummary(history)) add(readItem(item, historyPath, context));
  const asked = readAsked(body, history.length > 0, context);
  for (const turn of endWithPictures(asked, context.receipt)) add(turn);
  return { system, turns };
}

/** Text, or items that hold it. */
function readInstructions(body: JsonObject, context: ResponsesContext): readonly TextPart[] {
  const { instructions } = body;
  if (instructions === undefined || instructions === null || instructions === '') return [];
  if (typeof instructions === 'string') return [{ kind: 'text', text: instructions }];
  if (!Array.isArray(instructions))
    throw wrongType('instructions', 'a string or an array of items');
  return instructions.flatMap((value, index) => {
    const path = `instructions[${index}]`;
    const turn = readItem(asObject(value, path), path, context);
    return (turn?.parts ?? []).flatMap((part) => (part.kind === 'text' ? [part] : []));
  });
}

/** Where the conversation is known already, nothing has to be added to it. */
function readAsked(body: JsonObject, hasHistory: boolean, context: ResponsesContext): Turn[] {
  if (typeof body.input === 'string') return [userText(body.input)];
  const given = readArray(body, 'input') ?? (hasHistory ? [] : undefined);
  if (given === undefined) throw missingField('input');
  const items = withoutTrigger(given);
  if (items.length === 0 && !hasHistory) {
    throw invalidRequest('input', 'input must hold at least one item.');
  }
  return items.flatMap((value, index) => {
    const path = `input[${index}]`;
    return readItem(asObject(value, path), path, context) ?? [];
  });
}

/** Refuses what no later request could read. @throws GatewayError 400 naming the item */
export function checkItems(items: readonly JsonObject[], path: string, receipt: Receipt): void {
  const context: ResponsesContext = {
    ...createReadContext(receipt),
    directory: createToolDirectory(),
    inputTools: [],
    // An item that is only referred to is judged when it is used.
    findItem: () => ({ type: 'reasoning', summary: [] }),
  };
  for (const [index, item] of items.entries()) readItem(item, `${path}[${index}]`, context);
}

/** Undefined for items that say nothing to the model. An item with a role and no type is a message. */
function readItem(item: JsonObject, path: string, context: ResponsesContext): Turn | undefined {
  if (isReference(item)) return readReference(item, path, context);
  const type = readString(item, 'type', path) ?? (item.role === undefined ? '' : 'message');
  switch (type) {
    case 'message':
      return readMessage(item, path);
    case 'compaction':
    case 'context_compaction':
      return readCompaction(item) ?? skipItem(type, path, context);
    case 'agent_message':
      return readAgentMessage(item, path, context.receipt);
    case 'reasoning':
      return readReasoningItem(item, path);
    case 'additional_tools':
      declareTools(item, path, context);
      return undefined;
    case 'tool_search_call':
    case 'tool_search_output':
      declareTools(item, path, context);
      // Of a search the server ran only the tools matter.
      return item.execution === 'server' ? undefined : readCallItem(item, path, context);
    default:
      return readCallItem(item, path, context) ?? skipItem(type, path, context);
  }
}

function readMessage(item: JsonObject, path: string): Turn {
  const role = requireString(item, 'role', path);
  const contentPath = memberPath(path, 'content');
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readTextContent(item.content, contentPath) };
    case 'user':
      if ((item.content ?? null) === null) throw missingField(contentPath);
      return { role: 'user', parts: readItemContent(item.content, contentPath) };
    case 'assistant':
      return { role: 'assistant', parts: readItemContent(item.content, contentPath) };
    default:
      throw unknownWord(memberPath(path, 'role'), ROLES);
  }
}

/** Stands for an item of an earlier answer; thoughts that are gone change nothing, words do. */
function readReference(
  item: JsonObject,
  path: string,
  context: ResponsesContext,
): Turn | undefined {
  const id = requireString(item, 'id', path);
  const kept = context.findItem(id);
  if (kept !== undefined && referredId(kept) === undefined) return readItem(kept, path, context);
  if (id.startsWith('rs_')) {
    context.receipt.add(
      'dropped',
      path,
      told`The thoughts this item refers to are not kept any more.`,
    );
    return undefined;
  }
  throw unknownReference(path, id);
}

function declareTools(item: JsonObject, path: string, context: ResponsesContext): void {
  const tools = readArray(item, 'tools', path) ?? [];
  context.inputTools.push(...readToolList(tools, { path: memberPath(path, 'tools') }, context));
}

function skipItem(type: string, path: string, context: ResponsesContext): undefined {
  if (type === '') throw missingField(memberPath(path, 'type'));
  if (!HOSTED_ITEMS.test(type)) {
    throw invalidRequest(
      memberPath(path, 'type'),
      `${memberPath(path, 'type')}: items of type "${type}" are not known here.`,
      'unsupported',
    );
  }
  context.receipt.add('dropped', path, told`Items of type "${type}" cannot be shown to the model.`);
  return undefined;
}

function userText(text: string): Turn {
  return { role: 'user', parts: splitInlineImages({ kind: 'text', text }) };
}

/** The items of a request as they are kept for later ones; a text is one message of the user. */
export function listInputItems(input: JsonValue | undefined): readonly JsonObject[] {
  if (typeof input === 'string') {
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  }
  return Array.isArray(input) ? input.filter(isJsonObject).map(writeOut) : [];
}

/** Clients shorten messages: the type may be missing, and the content may be a text. */
export function writeOut(item: JsonObject): JsonObject {
  const { type = 'message', content } = item;
  if (type !== 'message' || item.role === undefined) return item;
  const word = item.role === 'assistant' ? 'output_text' : 'input_text';
  const parts = typeof content === 'string' ? [{ type: word, text: content }] : (content ?? []);
  return { ...item, type, content: parts };
}
