// Reads `instructions` and `input` into the conversation, one turn an item, in the client's own order.

import { GatewayError, invalidRequest } from '../../../canonical/error.ts';
import { splitInlineImages } from '../../../canonical/media.ts';
import { memberPath, type Receipt } from '../../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  Part,
  TextPart,
  ToolResultContent,
  Turn,
} from '../../../canonical/request.ts';
import { readCarrier } from '../../../canonical/signatures.ts';
import { askForSummary, SUMMARY_INSTRUCTIONS, tellSummary } from '../../../canonical/text-forms.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { told } from '../../../lib/localized-message.ts';
import {
  FILLED,
  FREE,
  listOf,
  openObjectOf,
  type Shape,
  STRING,
  type ValueOf,
} from '../../body-schema.ts';
import {
  addTurn,
  type ContentPart,
  type Conversation,
  missingSource,
  readArguments,
  readContent,
  readFile,
  readInline,
  readInstructions as readInstructionParts,
  readModality,
  readPart,
  readResultContent,
} from '../read-messages.ts';
import {
  type Part as ClientPart,
  check,
  missingField,
  PART,
  unknownTag,
  unknownWord,
  unsupported,
  wrongType,
} from '../schema.ts';
import { isReference, referredId, unknownReference } from './previous-response.ts';
import {
  type CallForm,
  createResponsesContext,
  IDS,
  ITEM,
  type ResponsesContext,
} from './schema.ts';
import { CLIENT_TOOLS, type ClientToolForm, completeClientCall, readToolList } from './tools.ts';

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
  const conversation: Conversation = { system: readInstructions(body, context), turns: [] };
  const hasAnswer = (body.previous_response_id ?? null) !== null;
  const historyPath = hasAnswer ? 'previous_response_id' : 'conversation';
  for (const item of sinceSummary(history)) {
    const turn = readItem(item, historyPath, context);
    if (turn !== undefined) addTurn(conversation, turn);
  }
  const asked = readAsked(body, history.length > 0, context);
  for (const turn of endWithPictures(asked, context.receipt)) addTurn(conversation, turn);
  return conversation;
}

/** Text, or items that hold it. */
function readInstructions({ instructions }: JsonObject, context: ResponsesContext): TextPart[] {
  if (instructions === undefined || instructions === null || instructions === '') return [];
  if (typeof instructions === 'string') return [{ kind: 'text', text: instructions }];
  if (!Array.isArray(instructions)) {
    throw wrongType('instructions', 'a string or an array of items');
  }
  return readItems(instructions, 'instructions', context).flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'text' ? [part] : [])),
  );
}

/** Where the conversation is known already, nothing has to be added to it. */
function readAsked(
  { input }: JsonObject,
  hasHistory: boolean,
  context: ResponsesContext,
): readonly Turn[] {
  if (typeof input === 'string') {
    return [{ role: 'user', parts: splitInlineImages({ kind: 'text', text: input }) }];
  }
  const given = input ?? (hasHistory ? [] : undefined);
  if (given === undefined) throw missingField('input');
  if (!Array.isArray(given)) throw wrongType('input', 'an array');
  const items = isTrigger(given.at(-1)) ? given.slice(0, -1) : given;
  if (items.length === 0 && !hasHistory) {
    throw invalidRequest('input', 'input must hold at least one item.');
  }
  return readItems(items, 'input', context);
}

/** Refuses what no later request could read. @throws GatewayError 400 naming the item */
export function checkItems(items: readonly JsonObject[], path: string, receipt: Receipt): void {
  // An item that is only referred to is judged when it is used.
  const stand = { type: 'reasoning', summary: [] };
  readItems(
    items,
    path,
    createResponsesContext(receipt, () => stand),
  );
}

function readItems(
  values: readonly JsonValue[],
  path: string,
  context: ResponsesContext,
): readonly Turn[] {
  return values.flatMap((value, index) => {
    const itemPath = `${path}[${index}]`;
    const item = check(value, FREE, itemPath).value;
    // Items of other kinds are told, sent or refused as a whole; those of a role alone are messages.
    const shape = SHAPES.get(item.type ?? (item.role === undefined ? '' : 'message'));
    const unknown = shape && check(item, shape, itemPath).unknown;
    for (const inner of unknown ?? []) context.unknown.push(`${itemPath}.${inner}`);
    return readItem(item, itemPath, context) ?? [];
  });
}

const SHAPES = new Map<JsonValue, Shape>(Object.entries(ITEM));
const TYPED = openObjectOf({ type: STRING });
const WITH_TOOLS = openObjectOf({ tools: listOf(FREE) });

/** Undefined for items that say nothing to the model. An item with a role and no type is a message. */
function readItem(item: JsonObject, path: string, context: ResponsesContext): Turn | undefined {
  if (isReference(item)) return readReference(item, path, context);
  const type = check(item, TYPED, path).value.type ?? (item.role === undefined ? '' : 'message');
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
    case 'tool_search_call':
    case 'tool_search_output': {
      const tools = check(item, WITH_TOOLS, path).value.tools ?? [];
      context.inputTools.push(...readToolList(tools, { path: memberPath(path, 'tools') }, context));
      // Of a search the server ran only the tools matter.
      const isSaid = type !== 'additional_tools' && item.execution !== 'server';
      return isSaid ? readCallItem(item, path, context) : undefined;
    }
    default:
      return readCallItem(item, path, context) ?? skipItem(type, path, context);
  }
}

function readMessage(item: JsonObject, path: string): Turn {
  const message = check(item, ITEM.message, path).value;
  const contentPath = memberPath(path, 'content');
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readInstructionParts(message.content, contentPath) };
    case 'user':
    case 'assistant':
      return { role: message.role, parts: readContent(message.content, contentPath, readItemPart) };
    default:
      throw unknownTag(memberPath(path, 'role'), String(item.role), ROLES);
  }
}

/** Stands for an item of an earlier answer; thoughts that are gone change nothing, words do. */
function readReference(
  item: JsonObject,
  path: string,
  context: ResponsesContext,
): Turn | undefined {
  const { id } = check(item, ITEM.item_reference, path).value;
  const kept = context.findItem(id);
  if (kept !== undefined && referredId(kept) === undefined) return readItem(kept, path, context);
  if (id.startsWith('rs_')) {
    const reason = told`The thoughts this item refers to are not kept any more.`;
    context.receipt.add('dropped', path, reason);
    return undefined;
  }
  throw unknownReference(path, id);
}

function skipItem(type: string, path: string, context: ResponsesContext): undefined {
  if (type === '') throw missingField(memberPath(path, 'type'));
  if (!HOSTED_ITEMS.test(type)) {
    throw unsupported(memberPath(path, 'type'), `items of type "${type}" are not known here.`);
  }
  context.receipt.add('dropped', path, told`Items of type "${type}" cannot be shown to the model.`);
  return undefined;
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

const OWN_TYPES = [
  'input_text',
  'output_text',
  'input_image',
  'input_file',
  'input_audio',
  'refusal',
];

/** As chat completions have them, but files are flat and pictures may be named by an id. @throws GatewayError 400 */
function readItemPart(part: ClientPart, path: string): readonly ContentPart[] {
  // Clients mix in the words of chat completions.
  if (!PART.shapes.has(part.type)) throw unknownWord(`${path}.type`, OWN_TYPES);
  if (part.type === 'input_image' && (part.image_url ?? null) === null) {
    throw missingSource(part, path, 'image_url');
  }
  if (part.type !== 'input_file') return readPart(part, path);
  const isByAddress = (part.file_data ?? null) === null && (part.file_url ?? null) !== null;
  return readFile(part, path, isByAddress ? 'file_url' : 'file_data');
}

/** `encrypted_content` is where answers of this gateway carry the signature. @throws GatewayError 400 */
function readReasoningItem(item: JsonObject, path: string): Turn {
  const { content, summary, encrypted_content: proof } = check(item, ITEM.reasoning, path).value;
  // Summary parts were shown one paragraph each.
  const textOf = (parts: typeof content): string =>
    (parts ?? []).map(({ text }) => text ?? '').join('\n\n');
  const signature = readCarrier(proof ?? undefined);
  return assistant({ kind: 'thinking', text: textOf(content) || textOf(summary), signature });
}

/** A token of Fernet, as the vendor encrypts: version 0x80 and a time of 64 bits, in base64 (github.com/fernet/spec). */
const VENDOR_CIPHERTEXT = /^gAAAAA[\w-]+={0,2}$/;

/** User text, marked with its author and recipient. @throws GatewayError 400 */
function readAgentMessage(item: JsonObject, path: string, receipt: Receipt): Turn {
  const { author, recipient, content } = check(item, ITEM.agent_message, path).value;
  const parts = content.flatMap((part, index) =>
    readAgentPart(part, `${path}.content[${index}]`, receipt),
  );
  receipt.add('approximated', path, told`A message between agents is sent as marked user text.`);
  const opening = `<agent-message from="${author}" to="${recipient}">\n`;
  return { role: 'user', parts: [textPart(opening), ...parts, textPart('\n</agent-message>')] };
}

const CIPHER = openObjectOf({ encrypted_content: STRING });

/**
 * The vendor encrypts the argument an agent is told by (`encrypted` in its schema); this gateway does
 * not, so what a client brings back under that name is what the model wrote.
 */
function readAgentPart(part: ClientPart, path: string, receipt: Receipt): readonly ContentPart[] {
  if ((part.type as string) !== 'encrypted_content') return readItemPart(part, path);
  const text = check(part, CIPHER, path).value.encrypted_content ?? '';
  if (!VENDOR_CIPHERTEXT.test(text)) return [textPart(text)];
  receipt.add('dropped', path, told`Only its issuer can read encrypted content.`);
  return [];
}

function textPart(text: string): TextPart {
  return { kind: 'text', text };
}

/**
 * Clients name an earlier drawing behind the words that say how to change it. It is what these words are
 * about, not the beginning of the answer. `asked` are the turns of the request itself.
 */
function endWithPictures(asked: readonly Turn[], receipt: Receipt): readonly Turn[] {
  const end = asked.findLastIndex((turn) => !isPictures(turn)) + 1;
  if (end === asked.length) return asked;
  receipt.add('approximated', 'input', told`Pictures at the end are shown with the question.`);
  return asked.map((turn, index) => (index < end ? turn : { ...turn, role: 'user' }));
}

function isPictures({ role, parts }: Turn): boolean {
  return role === 'assistant' && parts.length > 0 && parts.every(({ kind }) => kind === 'media');
}

/** Undefined for an item that is none of them. @throws GatewayError 400 */
function readCallItem(item: JsonObject, path: string, context: ResponsesContext): Turn | undefined {
  const argumentsPath = memberPath(path, 'arguments');
  switch (item.type) {
    case 'function_call': {
      const call = check(item, ITEM.function_call, path).value;
      const input = readArguments(call.arguments, argumentsPath, context);
      return calls(call, path, { name: flatName(call, 'function', context), input });
    }
    case 'custom_tool_call': {
      const call = check(item, ITEM.custom_tool_call, path).value;
      const input = { input: call.input ?? '' };
      return calls(call, path, { name: flatName(call, 'custom', context), input });
    }
    case 'local_shell_call':
      return clientCall(item, path, { form: 'local_shell', context });
    case 'shell_call':
      return clientCall(item, path, { form: 'shell', context });
    case 'apply_patch_call':
      return clientCall(item, path, { form: 'apply_patch', context });
    case 'tool_search_call': {
      const call = check(item, ITEM.tool_search_call, path).value;
      // An object here, text in the other kinds of calls.
      const input = isJsonObject(call.arguments)
        ? call.arguments
        : readArguments(call.arguments, argumentsPath, context);
      const identity = { form: 'tool_search', name: 'tool_search' } as const;
      return calls(call, path, { name: context.directory.flatName(identity), input });
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'apply_patch_call_output': {
      const { output } = check(item, ITEM[item.type], path).value;
      return gives(item, path, readResultContent(output, memberPath(path, 'output'), readItemPart));
    }
    case 'shell_call_output':
      return gives(item, path, [{ kind: 'json', value: { output: item.output ?? [] } }]);
    case 'tool_search_output':
      return gives(item, path, [{ kind: 'json', value: { tools: item.tools ?? [] } }]);
    case 'web_search_call': {
      const { id, action } = check(item, ITEM.web_search_call, path).value;
      // Nothing answers to it, and clients leave the id out.
      const call = { id: id ?? path, name: 'web_search', input: action ?? {} };
      return assistant({ kind: 'server-tool-call', ...call });
    }
    case 'image_generation_call':
      return readDrawing(item, path, context);
    default:
      return undefined;
  }
}

const CALLED = openObjectOf(IDS);
type Called = ValueOf<typeof CALLED>;

function calls(
  item: Called,
  path: string,
  call: { readonly name: string; readonly input: JsonObject },
): Turn {
  return assistant({ kind: 'tool-call', id: callIdOf(item, path), ...call });
}

/** The object of the item is what the declaration takes; clients may leave out what is empty. */
function clientCall(
  item: JsonObject,
  path: string,
  { form, context }: { readonly form: ClientToolForm; readonly context: ResponsesContext },
): Turn {
  const shape: Shape = ITEM[`${form}_call`];
  check(item, shape, path);
  const given = item[CLIENT_TOOLS[form].key];
  return calls(check(item, CALLED, path).value, path, {
    name: context.directory.flatName({ form, name: form }),
    input: completeClientCall(form, isJsonObject(given) ? given : {}),
  });
}

function gives(item: JsonObject, path: string, content: readonly ToolResultContent[]): Turn {
  const callId = callIdOf(check(item, CALLED, path).value, path);
  const isError = item.status === 'failed' || item.status === 'incomplete';
  return { role: 'user', parts: [{ kind: 'tool-result', callId, content, isError }] };
}

function assistant(part: Part): Turn {
  return { role: 'assistant', parts: [part] };
}

/** Outputs of the vendor's own shell name their call by `id`. */
function callIdOf({ call_id: callId, id }: Called, path: string): string {
  return callId ?? check(id ?? undefined, FILLED, memberPath(path, 'id')).value;
}

function flatName(
  { name, namespace }: { readonly name: string; readonly namespace?: string | null },
  form: CallForm,
  { directory }: ResponsesContext,
): string {
  return directory.flatName({ form, name, namespace: namespace ?? undefined });
}

const DRAWING = openObjectOf({ result: STRING });

/** A picture of an earlier answer; one that was never finished has no bytes. */
function readDrawing(item: JsonObject, path: string, context: ResponsesContext): Turn {
  const { result } = check(item, DRAWING, path).value;
  if (!result) return readBareDrawing(item, path, context);
  const resultPath = memberPath(path, 'result');
  const media = readInline(result, resultPath);
  const { mediaType = 'image/png', source } = media;
  const modality = readModality(mediaType, resultPath);
  return assistant({ kind: 'media', modality, mediaType, source });
}

/** Named by its id alone, or sent back without its bytes. */
function readBareDrawing(item: JsonObject, path: string, context: ResponsesContext): Turn {
  const nothing = assistant({ kind: 'text', text: '' });
  const id = referredId(item);
  if (id === undefined) return nothing;
  const kept = context.findItem(id);
  if (kept !== undefined && referredId(kept) === undefined) return readDrawing(kept, path, context);
  if ((item.status ?? null) === null) throw unknownReference(path, id);
  context.receipt.add('dropped', path, told`The picture of this drawing is not kept any more.`);
  return nothing;
}

/** Opaque to clients, as what the vendor encrypts is. */
const PREFIX = 'gw1-summary:';

/**
 * True when the client wants a summary in place of the next answer. Codex accepts exactly one compaction item as
 * the answer to its trigger. Source: `openai` resources/responses, CompactionTrigger ("Must be the final input
 * item") and ResponseCompactionItem.
 */
export function wantsSummary(input: JsonValue | undefined): boolean {
  return Array.isArray(input) && isTrigger(input.at(-1));
}

/**
 * The request for a response that is the summary this body asks `/responses/compact` for: of all its input, behind
 * what is kept of earlier responses. Nothing of it is stored. Source: `openai` resources/responses, `compact`.
 */
export function withTrigger(body: JsonObject): JsonObject {
  const { input, stream: _stream, background: _background, ...rest } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  const triggered = Array.isArray(items) ? [...items, { type: 'compaction_trigger' }] : items;
  return { ...rest, input: triggered, store: false };
}

/** What `/responses/compact` answers with; a summary that is not whole is none. @throws GatewayError */
export function compactedResponse({ id, created_at, output, usage }: JsonObject): JsonObject {
  if (Array.isArray(output) && output.length > 0) {
    return {
      id: id ?? null,
      object: 'response.compaction',
      created_at: created_at ?? null,
      output,
      usage: usage ?? null,
    };
  }
  throw new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: 'The model did not finish the summary. Send the request again, or a shorter input.',
  });
}

/**
 * What of a kept conversation is still to be told: from its last summary on, behind the instructions and tools it
 * began with. A trigger that no summary followed asks for nothing any more.
 */
function sinceSummary(history: readonly JsonObject[]): readonly JsonObject[] {
  const summary = history.findLastIndex(isSummary);
  const trigger = history.findLastIndex((item, index) => index < summary && isTrigger(item));
  return history.filter((item, index) => !isTrigger(item) && (index > trigger || isSetting(item)));
}

function isSummary(item: JsonObject): boolean {
  return item.type === 'compaction' && readCompaction(item) !== undefined;
}

function isSetting({ type, role }: JsonObject): boolean {
  return type === 'additional_tools' || role === 'system' || role === 'developer';
}

function isTrigger(item: JsonValue | undefined): boolean {
  return isJsonObject(item) && item.type === 'compaction_trigger';
}

/** The request for a summary in words. */
export function askInWords(request: CanonicalRequest, receipt: Receipt): CanonicalRequest {
  receipt.add('approximated', 'input', told`The model is asked for the summary in words.`);
  return askForSummary(request, SUMMARY_INSTRUCTIONS);
}

/** A summary of this gateway's, told in its place; undefined for what only its issuer can read. */
function readCompaction({ encrypted_content: content }: JsonObject): Turn | undefined {
  if (typeof content !== 'string' || !content.startsWith(PREFIX)) return undefined;
  const summary = Buffer.from(content.slice(PREFIX.length), 'base64url').toString();
  return { role: 'user', parts: [{ kind: 'text', text: tellSummary(summary) }] };
}

/** The item as it stands in an answer. */
export function compactionItem(id: string, summary: string): JsonObject {
  const content = Buffer.from(summary).toString('base64url');
  return { id, type: 'compaction', encrypted_content: `${PREFIX}${content}` };
}
