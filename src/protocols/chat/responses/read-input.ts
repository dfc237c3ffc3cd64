// Reads `instructions` and `input` into the conversation, one turn an item, in the client's own order.

import { invalidRequest, upstreamError } from '../../../canonical/error.ts';
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
import { isJsonObject, type JsonObject, type JsonValue, writtenValue } from '../../../lib/json.ts';
import { told } from '../../../lib/localized-message.ts';
import { objectsOf } from '../../../lib/read-values.ts';
import { FILLED, FREE, openObjectOf, type Shape, STRING, type ValueOf } from '../../body-schema.ts';
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
    const turn = readItem({ item, path: historyPath, context });
    if (turn !== undefined) addTurn(conversation, turn);
  }
  const asked = readAsked(body, history.length > 0, context);
  for (const turn of endWithPictures(asked, context.receipt)) addTurn(conversation, turn);
  return conversation;
}

/** Text, or items that hold it. */
function readInstructions({ instructions }: JsonObject, context: ResponsesContext): TextPart[] {
  if (instructions === undefined || instructions === null || instructions === '') return [];
  if (typeof instructions === 'string') return [textPart(instructions)];
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
    return [{ role: 'user', parts: splitInlineImages(textPart(input)) }];
  }
  const given = input ?? (hasHistory ? [] : undefined);
  if (given === undefined) throw missingField('input');
  if (!Array.isArray(given)) throw wrongType('input', 'a string or an array of items');
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
    return readItem({ item, path: itemPath, context, unknown: context.unknown }) ?? [];
  });
}

interface ItemPlace {
  readonly item: JsonObject;
  readonly path: string;
  readonly context: ResponsesContext;
  /** Takes the paths of fields that no reader knows; nobody is told those of kept items. */
  readonly unknown?: string[];
}

/** Undefined for items that say nothing to the model. */
type ReadItem = (place: ItemPlace) => Turn | undefined;

const TYPED = openObjectOf({ type: STRING });

/** An item with a role and no type is a message. */
function readItem(place: ItemPlace): Turn | undefined {
  const { item, path } = place;
  if (isReference(item)) return READERS.get('item_reference')?.(place);
  const type = check(item, TYPED, path).value.type ?? (item.role === undefined ? '' : 'message');
  return (READERS.get(type) ?? skipItem)(place);
}

function itemOf<Value>(
  shape: Shape<Value>,
  read: (item: Value, place: ItemPlace) => Turn | undefined,
): ReadItem {
  return (place) => {
    const { value, unknown } = check(place.item, shape, place.path);
    for (const inner of unknown ?? []) place.unknown?.push(`${place.path}.${inner}`);
    return read(value, place);
  };
}

const result = itemOf(ITEM.function_call_output, ({ output }, place) =>
  gives(place, readResultContent(output, memberPath(place.path, 'output'), readItemPart)),
);

/** By type. Items of other kinds are refused, or skipped as a whole. */
const READERS: ReadonlyMap<string, ReadItem> = new Map(
  Object.entries({
    message: itemOf(ITEM.message, readMessage),
    item_reference: itemOf(ITEM.item_reference, readReference),
    compaction: itemOf(ITEM.compaction, readCompaction),
    context_compaction: itemOf(openObjectOf({}), readCompaction),
    agent_message: itemOf(ITEM.agent_message, readAgentMessage),
    reasoning: itemOf(ITEM.reasoning, readReasoningItem),
    additional_tools: itemOf(ITEM.additional_tools, addTools),
    function_call: itemOf(ITEM.function_call, (call, place) => {
      const path = memberPath(place.path, 'arguments');
      const input = readArguments(call.arguments, path, place.context);
      return calls(place, flatName(call, 'function', place), input);
    }),
    custom_tool_call: itemOf(ITEM.custom_tool_call, (call, place) =>
      calls(place, flatName(call, 'custom', place), { input: call.input ?? '' }),
    ),
    local_shell_call: clientCall('local_shell'),
    shell_call: clientCall('shell'),
    apply_patch_call: clientCall('apply_patch'),
    tool_search_call: itemOf(ITEM.tool_search_call, (call, place) => {
      addTools(call, place);
      // Of a search the server ran only the tools matter.
      if (call.execution === 'server') return undefined;
      // An object here, text in the other kinds of calls.
      const path = memberPath(place.path, 'arguments');
      const input = isJsonObject(call.arguments)
        ? call.arguments
        : readArguments(call.arguments, path, place.context);
      return calls(place, flatName({ name: 'tool_search' }, 'tool_search', place), input);
    }),
    function_call_output: result,
    custom_tool_call_output: result,
    local_shell_call_output: result,
    apply_patch_call_output: result,
    shell_call_output: itemOf(ITEM.shell_call_output, ({ output }, place) =>
      gives(place, [{ kind: 'json', value: { output: output ?? [] } }]),
    ),
    tool_search_output: itemOf(ITEM.tool_search_output, (found, place) => {
      addTools(found, place);
      if (found.execution === 'server') return undefined;
      return gives(place, [{ kind: 'json', value: { tools: place.item.tools ?? [] } }]);
    }),
    // Nothing answers to it, and clients leave the id out.
    web_search_call: itemOf(ITEM.web_search_call, ({ id, action }, { path }) =>
      assistant({
        kind: 'server-tool-call',
        id: id ?? path,
        name: 'web_search',
        input: action ?? {},
      }),
    ),
    image_generation_call: itemOf(openObjectOf({ result: STRING }), readDrawing),
  }),
);

/** Clients declare a tool anew as the conversation goes on (Codex when the model changes): the newest counts. */
function addTools({ tools }: ValueOf<typeof ITEM.additional_tools>, place: ItemPlace): undefined {
  const { path, context } = place;
  const list = { path: memberPath(path, 'tools') };
  const names = new Set<string>();
  for (const tool of readToolList(tools ?? [], list, context)) {
    const isNamed = 'name' in tool && !names.has(tool.name);
    if (isNamed) names.add(tool.name);
    context.inputTools.set(isNamed ? tool.name : (tool.path ?? tool.kind), tool);
  }
}

function readMessage(message: ValueOf<typeof ITEM.message>, { item, path }: ItemPlace): Turn {
  const contentPath = memberPath(path, 'content');
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readInstructionParts(message.content, contentPath) };
    case 'user':
    case 'assistant':
      return { role: message.role, parts: readContent(message.content, contentPath, readItemPart) };
    default:
      throw unknownTag(memberPath(path, 'role'), writtenValue(item.role), ROLES);
  }
}

/** Stands for an item of an earlier answer; thoughts that are gone change nothing, words do. */
function readReference(
  { id }: ValueOf<typeof ITEM.item_reference>,
  { path, context }: ItemPlace,
): Turn | undefined {
  const kept = context.findItem(id);
  if (kept !== undefined) return readItem({ item: kept, path, context });
  if (!id.startsWith('rs_')) throw unknownReference(path, id);
  const reason = told`The thoughts this item refers to are not kept any more.`;
  context.receipt.add('dropped', path, reason);
  return undefined;
}

function skipItem({ item, path, context }: ItemPlace): undefined {
  const type = String(item.type ?? '');
  if (type === '') throw missingField(memberPath(path, 'type'));
  if (!HOSTED_ITEMS.test(type)) {
    throw unsupported(memberPath(path, 'type'), `items of type "${type}" are not known here.`);
  }
  context.receipt.add('dropped', path, told`Items of type "${type}" cannot be shown to the model.`);
}

/** The items of a request as they are kept for later ones; a text is one message of the user. */
export function listInputItems(input: JsonValue | undefined): readonly JsonObject[] {
  if (typeof input === 'string') {
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
  }
  return objectsOf(input).map(writeOut);
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
function readReasoningItem({
  content,
  summary,
  encrypted_content: proof,
}: ValueOf<typeof ITEM.reasoning>): Turn {
  // Summary parts were shown one paragraph each.
  const textOf = (parts: typeof content): string =>
    (parts ?? []).map(({ text }) => text ?? '').join('\n\n');
  const signature = readCarrier(proof ?? undefined);
  return assistant({ kind: 'thinking', text: textOf(content) || textOf(summary), signature });
}

/** A token of Fernet, as the vendor encrypts: version 0x80 and a time of 64 bits, in base64 (github.com/fernet/spec). */
const VENDOR_CIPHERTEXT = /^gAAAAA[\w-]+={0,2}$/;

/** User text, marked with its author and recipient. @throws GatewayError 400 */
function readAgentMessage(
  { author, recipient, content }: ValueOf<typeof ITEM.agent_message>,
  { path, context: { receipt } }: ItemPlace,
): Turn {
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

/** The object of the item is what the declaration takes; clients may leave out what is empty. */
function clientCall(form: ClientToolForm): ReadItem {
  const shape: Shape = ITEM[`${form}_call`];
  return itemOf(shape, (_call, place) => {
    const given = place.item[CLIENT_TOOLS[form].key];
    const input = completeClientCall(form, isJsonObject(given) ? given : {});
    return calls(place, flatName({ name: form }, form, place), input);
  });
}

function calls(place: ItemPlace, name: string, input: JsonObject): Turn {
  return assistant({ kind: 'tool-call', id: callIdOf(place), name, input });
}

function gives(place: ItemPlace, content: readonly ToolResultContent[]): Turn {
  const { path } = place;
  const { status } = place.item;
  const isError = status === 'failed' || status === 'incomplete';
  return {
    role: 'user',
    parts: [{ kind: 'tool-result', callId: callIdOf(place), content, isError, path }],
  };
}

function assistant(part: Part): Turn {
  return { role: 'assistant', parts: [part] };
}

const CALLED = openObjectOf(IDS);

/** Outputs of the vendor's own shell name their call by `id`. */
function callIdOf({ item, path }: ItemPlace): string {
  const { call_id: callId, id } = check(item, CALLED, path).value;
  if (callId !== undefined && callId !== null) return callId;
  if (id === undefined || id === null) throw missingField(memberPath(path, 'call_id'));
  return check(id, FILLED, memberPath(path, 'id')).value;
}

function flatName(
  { name, namespace }: { readonly name: string; readonly namespace?: string | null | undefined },
  form: CallForm,
  { context }: ItemPlace,
): string {
  return context.directory.flatName({ form, name, namespace: namespace ?? undefined });
}

/** A picture of an earlier answer; one that was never finished has no bytes. */
function readDrawing(
  { result }: { readonly result?: string | null },
  place: ItemPlace,
): Turn | undefined {
  if (!result) return readBareDrawing(place);
  const path = memberPath(place.path, 'result');
  const { mediaType = 'image/png', source } = readInline(result, path);
  return assistant({ kind: 'media', modality: readModality(mediaType, path), mediaType, source });
}

/** Named by its id alone, or sent back without its bytes. */
function readBareDrawing({ item, path, context }: ItemPlace): Turn | undefined {
  const id = referredId(item);
  const kept = id === undefined ? undefined : context.findItem(id);
  if (kept !== undefined) return readItem({ item: kept, path, context });
  if (id !== undefined) {
    if ((item.status ?? null) === null) throw unknownReference(path, id);
    context.receipt.add('dropped', path, told`The picture of this drawing is not kept any more.`);
  }
  return assistant(textPart(''));
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
  throw upstreamError(
    'upstream-unavailable',
    'The model did not finish the summary. Send the request again, or a shorter input.',
  );
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

function isSummary({ type, encrypted_content: content }: JsonObject): boolean {
  return type === 'compaction' && summaryOf(content) !== undefined;
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

/** A summary of this gateway's, told in its place; what only its issuer can read is skipped. */
function readCompaction(_item: unknown, place: ItemPlace): Turn | undefined {
  const summary = summaryOf(place.item.encrypted_content);
  if (summary === undefined) return skipItem(place);
  return { role: 'user', parts: [textPart(tellSummary(summary))] };
}

function summaryOf(content: JsonValue | undefined): string | undefined {
  if (typeof content !== 'string' || !content.startsWith(PREFIX)) return undefined;
  return Buffer.from(content.slice(PREFIX.length), 'base64url').toString();
}

/** The item as it stands in an answer. */
export function compactionItem(id: string, summary: string): JsonObject {
  const content = Buffer.from(summary).toString('base64url');
  return { id, type: 'compaction', encrypted_content: `${PREFIX}${content}` };
}
