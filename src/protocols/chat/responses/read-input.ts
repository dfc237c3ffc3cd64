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
  type ContentPart,
  readArguments,
  readContent,
  readFile,
  readInline,
  readModality,
  readPart,
  readTextContent,
} from '../read-messages.ts';
import {
  asObject,
  createReadContext,
  missingField,
  readArray,
  readObject,
  readString,
  requireObject,
  requireString,
  unknownWord,
  wrongType,
} from '../schema.ts';
import { isReference, referredId, unknownReference } from './previous-response.ts';
import { type CallForm, createToolDirectory, type ResponsesContext } from './schema.ts';
import { type ClientToolForm, completeClientCall, OBJECT_KEYS, readToolList } from './tools.ts';

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

const OWN_TYPES = [
  'input_text',
  'output_text',
  'input_image',
  'input_file',
  'input_audio',
  'refusal',
];
/** Clients mix in the words of chat completions. */
const PART_TYPES: ReadonlySet<string> = new Set([
  ...OWN_TYPES,
  'text',
  'image_url',
  'video_url',
  'file',
]);

/** User, assistant and tool content. @throws GatewayError 400 */
function readItemContent(value: JsonValue | undefined, path: string): readonly ContentPart[] {
  if (!Array.isArray(value)) return readContent(value, path);
  return value.flatMap((part, index) => readItemPart(part, `${path}[${index}]`));
}

/** As chat completions have them, but files are flat and pictures may be named by an id. @throws GatewayError 400 */
function readItemPart(value: JsonValue, path: string): readonly ContentPart[] {
  if (!isJsonObject(value)) return readPart(value, path);
  if (value.type === 'input_image' && isAbsent(value.image_url)) {
    throw missingSource(value, path, 'image_url');
  }
  if (typeof value.type === 'string' && !PART_TYPES.has(value.type)) {
    throw unknownWord(`${path}.type`, OWN_TYPES);
  }
  if (value.type !== 'input_file') return readPart(value, path);
  const key = isAbsent(value.file_data) ? 'file_url' : 'file_data';
  if (isAbsent(value[key])) throw missingSource(value, path, 'file_data');
  return readFile(value, path, key);
}

function missingSource(part: JsonObject, path: string, wanted: string): Error {
  if (isAbsent(part.file_id)) return missingField(`${path}.${wanted}`);
  return invalidRequest(
    `${path}.file_id`,
    `${path}.file_id: the gateway stores no files; send the content as ${wanted}.`,
    'unsupported',
  );
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

/** `encrypted_content` is where answers of this gateway carry the signature. @throws GatewayError 400 */
function readReasoningItem(item: JsonObject, path: string): Turn {
  const raw = readTexts(item, 'content', path);
  const text = raw === '' ? readTexts(item, 'summary', path) : raw;
  const signature = readCarrier(readString(item, 'encrypted_content', path));
  return { role: 'assistant', parts: [{ kind: 'thinking', text, signature }] };
}

/** Summary parts were shown one paragraph each. */
function readTexts(item: JsonObject, key: 'content' | 'summary', path: string): string {
  const parts = readArray(item, key, path) ?? [];
  return parts
    .map((value, index) => {
      const partPath = `${memberPath(path, key)}[${index}]`;
      return readString(asObject(value, partPath), 'text', partPath) ?? '';
    })
    .join('\n\n');
}

/** A token of Fernet, as the vendor encrypts: version 0x80 and a time of 64 bits, in base64 (github.com/fernet/spec). */
const VENDOR_CIPHERTEXT = /^gAAAAA[\w-]+={0,2}$/;

/**
 * User text, marked with its author and recipient. @throws GatewayError 400
 * Source: `openai` resources/beta/responses, ResponseInputItem.AgentMessage.
 */
function readAgentMessage(item: JsonObject, path: string, receipt: Receipt): Turn {
  const author = requireString(item, 'author', path);
  const recipient = requireString(item, 'recipient', path);
  const contentPath = memberPath(path, 'content');
  const content = readArray(item, 'content', path);
  if (content === undefined) throw missingField(contentPath);
  const parts = content.flatMap((part, index) =>
    readAgentPart(part, `${contentPath}[${index}]`, receipt),
  );
  receipt.add('approximated', path, told`A message between agents is sent as marked user text.`);
  const opening = `<agent-message from="${author}" to="${recipient}">\n`;
  return { role: 'user', parts: [textPart(opening), ...parts, textPart('\n</agent-message>')] };
}

/**
 * The vendor encrypts the argument an agent is told by (`encrypted` in its schema); this gateway does
 * not, so what a client brings back under that name is what the model wrote.
 */
function readAgentPart(part: JsonValue, path: string, receipt: Receipt): readonly ContentPart[] {
  if (!isJsonObject(part) || part.type !== 'encrypted_content') {
    return readItemPart(part, path);
  }
  const text = readString(part, 'encrypted_content', path) ?? '';
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
  switch (item.type) {
    case 'function_call':
      return call(item, path, {
        name: flatName(item, path, { form: 'function', context }),
        input: readArguments(item.arguments, memberPath(path, 'arguments'), context),
      });
    case 'custom_tool_call':
      return call(item, path, {
        name: flatName(item, path, { form: 'custom', context }),
        input: { input: readString(item, 'input', path) ?? '' },
      });
    case 'local_shell_call':
      return clientCall(item, path, { form: 'local_shell', context });
    case 'shell_call':
      return clientCall(item, path, { form: 'shell', context });
    case 'apply_patch_call':
      return clientCall(item, path, { form: 'apply_patch', context });
    case 'shell_call_output':
      return output(item, path, [{ kind: 'json', value: { output: item.output ?? [] } }]);
    case 'tool_search_call':
      return call(item, path, {
        name: context.directory.flatName({ form: 'tool_search', name: 'tool_search' }),
        input: readSearchInput(item, path, context),
      });
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'apply_patch_call_output':
      return output(item, path, readOutput(item.output, memberPath(path, 'output')));
    case 'tool_search_output':
      return output(item, path, [{ kind: 'json', value: { tools: item.tools ?? [] } }]);
    case 'web_search_call':
      return assistant({
        kind: 'server-tool-call',
        // Nothing answers to it, and clients leave it out.
        id: readString(item, 'id', path) ?? path,
        name: 'web_search',
        input: readObject(item, 'action', path) ?? {},
      });
    case 'image_generation_call':
      return readDrawing(item, path, context);
    default:
      return undefined;
  }
}

interface FormPlace {
  readonly form: CallForm;
  readonly context: ResponsesContext;
}

function call(
  item: JsonObject,
  path: string,
  { name, input }: { readonly name: string; readonly input: JsonObject },
): Turn {
  return assistant({ kind: 'tool-call', id: callIdOf(item, path), name, input });
}

/** The object of the item is what the declaration takes; clients may leave out what is empty. */
function clientCall(
  item: JsonObject,
  path: string,
  { form, context }: FormPlace & { readonly form: ClientToolForm },
): Turn {
  return call(item, path, {
    name: context.directory.flatName({ form, name: form }),
    input: completeClientCall(form, requireObject(item, OBJECT_KEYS[form], path)),
  });
}

function output(item: JsonObject, path: string, content: readonly ToolResultContent[]): Turn {
  const isError = item.status === 'failed' || item.status === 'incomplete';
  return {
    role: 'user',
    parts: [{ kind: 'tool-result', callId: callIdOf(item, path), content, isError }],
  };
}

function assistant(part: Part): Turn {
  return { role: 'assistant', parts: [part] };
}

/** Outputs of the vendor's own shell name their call by `id`. */
function callIdOf(item: JsonObject, path: string): string {
  return readString(item, 'call_id', path) ?? requireString(item, 'id', path);
}

function flatName(item: JsonObject, path: string, { form, context }: FormPlace): string {
  const name = requireString(item, 'name', path);
  return context.directory.flatName({
    form,
    name,
    namespace: readString(item, 'namespace', path),
  });
}

/** An object here, text in the other kinds of calls. */
function readSearchInput(item: JsonObject, path: string, context: ResponsesContext): JsonObject {
  if (isJsonObject(item.arguments)) return item.arguments;
  return readArguments(item.arguments, memberPath(path, 'arguments'), context);
}

/** A plain string is the tool's own output and stays as it is. */
function readOutput(value: JsonValue | undefined, path: string): readonly ToolResultContent[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [{ kind: 'text', text: value }];
  if (!Array.isArray(value)) throw wrongType(path, 'a string or an array of parts');
  return readItemContent(value, path).map((part) =>
    part.kind === 'text' ? { kind: 'text', text: part.text } : part,
  );
}

/** A picture of an earlier answer; one that was never finished has no bytes. */
function readDrawing(item: JsonObject, path: string, context: ResponsesContext): Turn {
  const result = readString(item, 'result', path) ?? '';
  if (result === '') return readBareDrawing(item, path, context);
  const resultPath = memberPath(path, 'result');
  const { mediaType = 'image/png', source } = readInline(result, {
    declared: '',
    path: resultPath,
  });
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

/** The items the summary is of. */
function withoutTrigger(items: readonly JsonValue[]): readonly JsonValue[] {
  return isTrigger(items.at(-1)) ? items.slice(0, -1) : items;
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
