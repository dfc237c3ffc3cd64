// Reads `messages` into instructions and turns, one turn a message, in the client's own order.

import { type CacheHint, readCacheHint } from '../../canonical/cache-hint.ts';
import { invalidRequest } from '../../canonical/error.ts';
import {
  isTextType,
  modalityOf,
  readTextFile,
  sniffMediaType,
  spellMediaType,
  splitInlineImages,
} from '../../canonical/media.ts';
import type {
  MediaPart,
  MediaResolution,
  Modality,
  Part,
  Signature,
  TextPart,
  ToolCallPart,
  ToolResultContent,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts';
import { readCarrier } from '../../canonical/signatures.ts';
import { tidyBase64 } from '../../lib/base64.ts';
import {
  EXCESS_WORDS,
  isJsonObject,
  JsonLimitError,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { findUrlFault, type UrlFault } from '../../lib/net.ts';
import { usedKey } from '../../lib/read-values.ts';
import { thoughtIn } from '../../wire/chat.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import type { ValueOf } from '../body-schema.ts';
import {
  type Assistant,
  type Part as ClientPart,
  type Content,
  type File,
  filled,
  type INSTRUCTIONS,
  type Message,
  missingField,
  type ReadContext,
  type ToolCall,
  unknownTag,
  unknownWord,
  unsupported,
} from './schema.ts';

export interface Conversation {
  readonly system: TextPart[];
  readonly turns: Turn[];
}

/** Leading system messages are the instructions; later ones keep their place. */
export function addTurn({ system, turns }: Conversation, turn: Turn): void {
  if (turn.role !== 'system' || turns.length > 0) turns.push(turn);
  else for (const part of turn.parts) system.push(part);
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

interface Place {
  readonly path: string;
  readonly context: ReadContext;
  readonly legacyCalls: () => LegacyCalls;
}

/** @throws GatewayError 400 */
export function readMessages(messages: readonly Message[], context: ReadContext): Conversation {
  if (messages.length === 0) {
    throw invalidRequest('messages', 'messages must hold at least one message.');
  }
  const conversation: Conversation = { system: [], turns: [] };
  let calls: LegacyCalls | undefined;
  const legacyCalls = (): LegacyCalls => (calls ??= new LegacyCalls());
  for (const [index, message] of messages.entries()) {
    const place = { path: `messages[${index}]`, context, legacyCalls };
    addTurn(conversation, readMessage(message, place));
  }
  return conversation;
}

function readMessage(message: Message, place: Place): Turn {
  const { path, legacyCalls } = place;
  const contentPath = `${path}.content`;
  switch (message.role) {
    case 'system':
    case 'developer': {
      const parts = readInstructions(message.content, contentPath);
      return { role: 'system', parts: readNamed(message, parts, place) };
    }
    case 'user': {
      const parts = readContent(message.content, contentPath);
      return { role: 'user', parts: readNamed(message, parts, place) };
    }
    case 'assistant':
      return { role: 'assistant', parts: readAssistantParts(message, place) };
    case 'tool':
      return readResult(message, message.tool_call_id, path);
    case 'function':
      return readResult(message, legacyCalls().take(message.name, path), path);
    default:
      throw unknownTag(`${path}.role`, (message as Message).role, ROLES);
  }
}

/**
 * `name` tells participants of one role apart: https://platform.openai.com/docs/api-reference/chat/create. The
 * upstream has no field for it, so it stands before what was said.
 */
function readNamed<P extends ContentPart>(
  message: Pick<Message, 'name' | 'cache_control'>,
  parts: readonly P[],
  { path, context }: Place,
): readonly (P | TextPart)[] {
  const { name, cache_control: mark } = message;
  let said: readonly (P | TextPart)[] = parts;
  if (name && !parts.every((part) => part.kind === 'text' && part.text === '')) {
    context.receipt.add('approximated', `${path}.name`, told`said in the text`);
    const [first, ...others] = parts;
    said =
      first?.kind === 'text'
        ? [{ ...first, text: `${name}: ${first.text}` }, ...others]
        : [{ kind: 'text', text: `${name}:` }, ...parts];
  }
  const last = said.at(-1);
  // A cache mark on the whole message is one on its last part.
  const cacheHint = mark ? readCacheHint(mark) : undefined;
  return last !== undefined && cacheHint ? [...said.slice(0, -1), { ...last, cacheHint }] : said;
}

/** Tool messages may be empty: clients send no content for calls that printed nothing. */
function readResult(
  { name, content, cache_control: mark }: Extract<Message, { role: 'tool' | 'function' }>,
  callId: string,
  path: string,
): Turn {
  const result: ToolResultPart = {
    kind: 'tool-result',
    callId,
    name: name === null || name === '' ? undefined : name,
    content: readResultContent(content, `${path}.content`),
    isError: false,
    cacheHint: readCacheHint(mark),
    path,
  };
  return { role: 'user', parts: [result] };
}

/** A plain string is the tool's own output and stays as it is, also when it looks like markdown. */
export function readResultContent(
  value: Content,
  path: string,
  read = readPart,
): readonly ToolResultContent[] {
  if (typeof value === 'string') return [{ kind: 'text', text: value }];
  return readContent(value, path, read).map((part) =>
    part.kind === 'text' ? { kind: 'text', text: part.text } : part,
  );
}

/** The deprecated `function_call` has no id; results find their call by name, oldest first. */
class LegacyCalls {
  readonly #waiting = new Map<string, { readonly ids: string[]; next: number }>();
  #count = 0;

  add(name: string): string {
    const id = `call_function_${this.#count++}`;
    const calls = this.#waiting.get(name);
    if (calls === undefined) this.#waiting.set(name, { ids: [id], next: 0 });
    else calls.ids.push(id);
    return id;
  }

  /** @throws GatewayError 400 when no such call waits for its result. */
  take(name: string, path: string): string {
    const calls = this.#waiting.get(name);
    const id = calls?.ids[calls.next];
    if (calls === undefined || id === undefined) {
      const message = `${path}.name: no earlier assistant message calls the function "${name}".`;
      throw invalidRequest(`${path}.name`, message);
    }
    calls.next += 1;
    return id;
  }
}

/** Thoughts first, then content, then calls: the order in which the model produced them. @throws GatewayError 400 */
function readAssistantParts(message: Assistant, { path, context, legacyCalls }: Place): Part[] {
  if ((message.name ?? '') !== '') {
    // Not told in the text: a model goes on as its own turns begin, and its answer would begin with a name.
    const reason = told`Upstreams have no field for the names of assistants.`;
    context.receipt.add('dropped', `${path}.name`, reason);
  }
  const parts: Part[] = readThoughts(message);
  const content = readContent(message.content, `${path}.content`, readAnswerPart);
  const signature = readSignature(message, context);
  // The vendor's own service signs a message where its last text was signed.
  const signed = content.findLastIndex((part) => part.kind === 'text');
  for (const [index, part] of content.entries()) {
    parts.push(signature !== undefined && index === signed ? { ...part, signature } : part);
  }
  // Drawn pictures stand in the content too; `images` counts only when a client cut them out of it.
  const isDrawn = content.some((part) => part.kind === 'media');
  for (const [index, image] of (isDrawn ? [] : (message.images ?? [])).entries()) {
    const { mediaType, source } = readMediaUrl(
      image.image_url.url,
      `${path}.images[${index}].image_url`,
    );
    parts.push({ kind: 'media', modality: 'image', mediaType, source });
  }
  if (typeof message.refusal === 'string') parts.push({ kind: 'text', text: message.refusal });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    parts.push(readToolCall(call, `${path}.tool_calls[${index}]`, context));
  }
  const legacy = message.function_call;
  if (legacy) {
    const input = readArguments(legacy.arguments, `${path}.function_call.arguments`, context);
    parts.push({ kind: 'tool-call', id: legacyCalls().add(legacy.name), name: legacy.name, input });
  }
  return parts;
}

function readThoughts({ reasoning_content: thoughts, reasoning, content }: Assistant): Part[] {
  // An object with some clients: then it is not the thoughts.
  const text = typeof thoughts === 'string' ? thoughts : reasoning;
  const texts = typeof text === 'string' ? [text] : [];
  for (const part of Array.isArray(content) ? content : []) {
    if (part.type === 'thinking') texts.push(thoughtIn(part));
  }
  return texts.filter((one) => one !== '').map((one) => ({ kind: 'thinking', text: one }));
}

/** Mistral's models think in parts of the content: docs.mistral.ai, "Reasoning". */
function readAnswerPart(part: ClientPart, path: string): readonly ContentPart[] {
  return part.type === 'thinking' ? [] : readPart(part, path);
}

function readToolCall(call: ToolCall, path: string, context: ReadContext): ToolCallPart {
  const { id, type } = call;
  const signature = readSignature(call, context);
  switch (type ?? 'function') {
    case 'function': {
      if (!call.function) throw missingField(`${path}.function`);
      const { name, arguments: given } = call.function;
      const input = readArguments(given, `${path}.function.arguments`, context);
      return { kind: 'tool-call', id, name, input, signature };
    }
    case 'custom': {
      if (!call.custom) throw missingField(`${path}.custom`);
      const { name, input } = call.custom;
      return { kind: 'tool-call', id, name, input: { input: input ?? '' }, signature };
    }
    default:
      throw unknownWord(`${path}.type`, ['function', 'custom']);
  }
}

/** Stands in `extra_content.<vendor>.thought_signature` (ai.google.dev, "OpenAI compatibility"). */
function readSignature(
  { extra_content: extra }: Pick<ToolCall, 'extra_content'>,
  context: ReadContext,
): Signature | undefined {
  const key = extra ? usedKey(extra, CHAT_EXTENSION_KEYS) : undefined;
  if (key === undefined) return undefined;
  context.extensionKey = key;
  return readCarrier(extra?.[key]?.thought_signature ?? undefined);
}

/** Media that a client sends inline or by URL; the type is absent only for URLs. */
type Media = Pick<MediaPart, 'mediaType' | 'source'>;

const URL_FAULTS: Readonly<Record<UrlFault, string>> = {
  malformed: 'is not a valid URL.',
  credentials: 'must not hold credentials.',
  private: 'must be on a public host; send the data as a data URI.',
};

/**
 * Media by address: a data URI, or an http(s) URL of a public host.
 * @throws GatewayError 400 for anything else: local files are never read for a request.
 */
function readMediaUrl(url: string, path: string): Media {
  const scheme = url.slice(0, 8).toLowerCase();
  if (scheme.startsWith('data:')) return readDataUri(url, path);
  if (scheme.startsWith('https://') || scheme.startsWith('http://')) {
    const fault = findUrlFault(url);
    if (fault !== undefined) throw invalidRequest(path, `${path} ${URL_FAULTS[fault]}`);
    return { source: { kind: 'url', url, path } };
  }
  throw invalidRequest(
    path,
    `${path} must be a data URI (data:<type>;base64,…) or an https URL; files are not read.`,
  );
}

/** An address, or base64 alone, as some clients send it. @throws GatewayError 400 */
export function readMedia(text: string, path: string): Media {
  const isAddress = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text.slice(0, 40));
  return isAddress ? readMediaUrl(text, path) : readInline(text, path);
}

/** `data:<type>;base64,<data>`; the type is taken from the bytes when the URI does not say. */
function readDataUri(uri: string, path: string): Media {
  const comma = uri.indexOf(',');
  const header = comma < 0 ? '' : uri.slice('data:'.length, comma).toLowerCase();
  if (!header.endsWith(';base64')) {
    throw invalidRequest(path, `${path} must be a base64 data URI: data:<type>;base64,<data>.`);
  }
  const declared = header.slice(0, header.indexOf(';')).trim();
  return readInline(uri.slice(comma + 1), path, declared);
}

/** Base64 of the declared type, or of the one that its bytes tell. @throws GatewayError 400 */
export function readInline(text: string, path: string, declared = ''): Media {
  // Without white space and with its padding.
  const base64 = tidyBase64(text);
  if (base64 === undefined) throw invalidRequest(path, `${path} does not hold valid base64.`);
  const isSilent = declared === '' || declared === 'application/octet-stream';
  const mediaType = isSilent ? sniffMediaType(base64) : declared;
  if (mediaType === undefined) {
    throw invalidRequest(path, `${path}: the media type is missing and not recognisable.`);
  }
  return { mediaType: spellMediaType(mediaType), source: { kind: 'base64', base64 } };
}

/** What kind of media a type is. @throws GatewayError 400 for types no upstream takes. */
export function readModality(mediaType: string, path: string): Modality {
  const modality = modalityOf(mediaType);
  if (modality !== undefined) return modality;
  throw unsupported(path, `media type "${mediaType}" is not supported.`);
}

/**
 * `{file_data, filename}` at `filePath`; the content may stand in another field. The name is what a question calls
 * the file by, and the upstream has no field for it: it stands before the file. @throws GatewayError 400
 */
export function readFile(
  file: File,
  filePath: string,
  key: 'file_data' | 'file_url' = 'file_data',
): readonly ContentPart[] {
  const title = file.filename ?? '';
  const content = file[key];
  if (typeof content !== 'string') throw missingSource(file, filePath, 'file_data');
  const contentPath = `${filePath}.${key}`;
  const { mediaType, source } = readMedia(content, contentPath);
  if (source.kind === 'base64' && isTextType(mediaType)) {
    return [{ kind: 'text', text: readTextFile(source.base64, title) }];
  }
  const modality = mediaType === undefined ? 'document' : readModality(mediaType, contentPath);
  const bytes: ContentPart = { kind: 'media', modality, source, mediaType };
  return title === '' ? [bytes] : [{ kind: 'text', text: title }, bytes];
}

/** `file_id` alone is refused, for the gateway stores no files. */
export function missingSource(part: Pick<File, 'file_id'>, path: string, wanted: string): Error {
  if ((part.file_id ?? null) === null) return missingField(`${path}.${wanted}`);
  const text = `the gateway stores no files; send the content as ${wanted}.`;
  return unsupported(`${path}.file_id`, text);
}

export type ContentPart = TextPart | MediaPart;

const AUDIO_TYPES = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mp3'],
  ['aac', 'audio/aac'],
  ['aiff', 'audio/aiff'],
  ['flac', 'audio/flac'],
  ['m4a', 'audio/m4a'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['webm', 'audio/webm'],
]);

const RESOLUTIONS = new Map<string, MediaResolution | undefined>([
  ['auto', undefined],
  ['low', 'low'],
  ['high', 'high'],
  ['original', 'high'],
]);

/** User, assistant and tool content. `null` and absent give no part. @throws GatewayError 400 */
export function readContent(value: Content, path: string, read = readPart): readonly ContentPart[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return splitInlineImages({ kind: 'text', text: value });
  return value.flatMap((part, index) => read(part, `${path}[${index}]`));
}

/** System content: a string or text parts, one part each. @throws GatewayError 400 */
export function readInstructions(
  value: ValueOf<typeof INSTRUCTIONS>,
  path: string,
): readonly TextPart[] {
  if (typeof value === 'string') return [{ kind: 'text', text: value }];
  return value.map((part, index) => {
    const partPath = `${path}[${index}]`;
    if (part.type !== 'text' && part.type !== 'input_text') {
      throw unknownWord(`${partPath}.type`, ['text']);
    }
    const { text } = part;
    if (typeof text !== 'string') throw missingField(`${partPath}.text`);
    return { kind: 'text', text, cacheHint: cacheHintOf(part) };
  });
}

const PART_WORDS = ['text', 'image_url', 'video_url', 'input_audio', 'file', 'refusal'];

/** One part of a content list; pictures inside a text become parts of their own. @throws GatewayError 400 */
export function readPart(part: ClientPart, path: string): readonly ContentPart[] {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text': {
      const text: TextPart = { kind: 'text', text: part.text, cacheHint: cacheHintOf(part) };
      const parts = splitInlineImages(text);
      return part.refusal ? [...parts, { kind: 'text', text: part.refusal }] : parts;
    }
    case 'refusal':
      return [{ kind: 'text', text: part.refusal }];
    case 'image_url':
    case 'input_image':
      return [readImagePart(part, path)];
    case 'video_url': {
      // As several servers of this protocol have it: an address like that of a picture.
      const media = readAddress(part.video_url, `${path}.video_url`, 'video');
      return [{ ...media, cacheHint: cacheHintOf(part) }];
    }
    case 'document_url': {
      // Mistral's: docs.mistral.ai, "Document AI".
      const media = readAddress(part.document_url, `${path}.document_url`, 'document');
      return [{ ...media, cacheHint: cacheHintOf(part) }];
    }
    case 'input_audio':
      return [readAudioPart(part.input_audio, `${path}.input_audio`)];
    case 'file':
      return readFile(part.file, `${path}.file`);
    default:
      throw unknownTag(`${path}.type`, part.type, PART_WORDS);
  }
}

function readImagePart(
  part: Extract<ClientPart, { type: 'image_url' | 'input_image' }>,
  path: string,
): MediaPart {
  const { image_url: address } = part;
  const place = `${path}.image_url`;
  const media = readAddress(address, place, 'image');
  const isBare = typeof address === 'string';
  const detail = isBare ? part.detail : address?.detail;
  if (typeof detail === 'string' && !RESOLUTIONS.has(detail)) {
    throw unknownWord(`${isBare ? path : place}.detail`, [...RESOLUTIONS.keys()]);
  }
  const resolution = RESOLUTIONS.get(detail ?? '');
  return { ...media, resolution, cacheHint: cacheHintOf(part) };
}

/** In an object; clients also send the bare address, as the Responses protocol has it. */
function readAddress(
  address: string | { readonly url: string } | null | undefined,
  path: string,
  otherwise: Modality,
): MediaPart {
  const isBare = typeof address !== 'object' || address === null;
  const url = isBare ? filled(address, path) : address.url;
  const urlPath = isBare ? path : `${path}.url`;
  const { mediaType, source } = readMediaUrl(url, urlPath);
  const modality = mediaType === undefined ? otherwise : readModality(mediaType, urlPath);
  return { kind: 'media', modality, source, mediaType };
}

function readAudioPart(
  { format, data }: Extract<ClientPart, { type: 'input_audio' }>['input_audio'],
  path: string,
): MediaPart {
  const mediaType = AUDIO_TYPES.get(format.toLowerCase());
  if (mediaType === undefined) {
    const message = `${path}.format must be one of: ${[...AUDIO_TYPES.keys()].join(', ')}.`;
    throw invalidRequest(`${path}.format`, message, 'unsupported');
  }
  const { source } = readInline(data, `${path}.data`, mediaType);
  return { kind: 'media', modality: 'audio', mediaType, source };
}

function cacheHintOf({
  cache_control: mark,
  prompt_cache_breakpoint: breakpoint,
}: Pick<ClientPart, 'cache_control' | 'prompt_cache_breakpoint'>): CacheHint | undefined {
  const hint = mark ? readCacheHint(mark) : undefined;
  return hint ?? (isJsonObject(breakpoint) ? true : undefined);
}

/** The arguments are JSON text; '' and `null` mean none. Some clients send the object itself. */
export function readArguments(
  value: JsonValue | undefined,
  path: string,
  context: ReadContext,
): JsonObject {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) {
    const reason = told`Arguments are JSON text; the object was taken as it is.`;
    context.receipt.add('repaired', path, reason);
    return value;
  }
  if (typeof value !== 'string') {
    throw invalidRequest(path, `${path} must be a string of JSON.`, 'invalid-type');
  }
  if (value.trim() === '') return {};
  let parsed: JsonValue;
  try {
    parsed = parseJson(value, context.jsonBudget);
  } catch (error) {
    throw invalidRequest(path, `${path} ${faultOf(error)}.`, 'invalid-json');
  }
  if (isJsonObject(parsed)) return parsed;
  if (parsed === null) return {};
  const reason = told`Arguments that are no object are sent as {"value": \u2026}.`;
  context.receipt.add('repaired', path, reason);
  return { value: parsed };
}

function faultOf(error: unknown): string {
  if (!(error instanceof JsonLimitError)) return 'is not valid JSON';
  const words = EXCESS_WORDS[error.excess];
  return error.excess === 'tokens' ? `${words}, with the arguments before it` : words;
}
