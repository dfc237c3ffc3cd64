// Reads `messages` into instructions and turns, one turn a message, in the client's own order.

import { invalidRequest } from '../../canonical/error.ts';
import {
  modalityOf,
  sniffMediaType,
  spellMediaType,
  splitInlineImages,
} from '../../canonical/media.ts';
import { memberPath } from '../../canonical/receipt.ts';
import type {
  MediaPart,
  MediaResolution,
  MediaSource,
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
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { EXCESS_WORDS, type JsonBudget, JsonExcessError } from '../../lib/json-limits.ts';
import { told } from '../../lib/localized-message.ts';
import { findUrlFault, type UrlFault } from '../../lib/net.ts';
import {
  asObject,
  missingField,
  type ReadContext,
  readArray,
  readExtension,
  readObject,
  readString,
  requireObject,
  requireString,
  unknownWord,
  wrongType,
} from './schema.ts';

export interface Conversation {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Leading system and developer messages are the instructions; later ones keep their place. @throws GatewayError 400 */
export function readMessages(body: JsonObject, context: ReadContext): Conversation {
  const messages = readArray(body, 'messages');
  if (messages === undefined) throw missingField('messages');
  if (messages.length === 0) {
    throw invalidRequest('messages', 'messages must hold at least one message.');
  }
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  const legacyCalls = createLegacyCalls();
  for (const [index, value] of messages.entries()) {
    const path = `messages[${index}]`;
    const turn = readMessage({ value, path, context, legacyCalls });
    if (turn.role !== 'system' || turns.length > 0) turns.push(turn);
    else for (const part of turn.parts) system.push(part);
  }
  return { system, turns };
}

interface MessageInput {
  readonly value: JsonValue;
  readonly path: string;
  readonly context: ReadContext;
  readonly legacyCalls: LegacyCalls;
}

function readMessage({ value, path, context, legacyCalls }: MessageInput): Turn {
  const message = asObject(value, path);
  const place = { path, context };
  const role = requireString(message, 'role', path);
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readNamed(message, readSystem(message, path), place) };
    case 'user':
      return { role: 'user', parts: readNamed(message, readUser(message, path), place) };
    case 'assistant':
      noteAssistantName(message, place);
      return {
        role: 'assistant',
        parts: readAssistantParts(message, { path, context, legacyCalls }),
      };
    case 'tool':
      return {
        role: 'user',
        parts: [readResult(message, path, requireString(message, 'tool_call_id', path))],
      };
    case 'function': {
      const name = requireString(message, 'name', path);
      return { role: 'user', parts: [readResult(message, path, legacyCalls.take(name, path))] };
    }
    default:
      throw unknownWord(`${path}.role`, ROLES);
  }
}

function readSystem(message: JsonObject, path: string): readonly TextPart[] {
  return readTextContent(message.content, `${path}.content`);
}

function readUser(message: JsonObject, path: string): ReturnType<typeof readContent> {
  if (message.content === undefined || message.content === null) {
    throw missingField(`${path}.content`);
  }
  return readContent(message.content, `${path}.content`);
}

type Place = Pick<MessageInput, 'path' | 'context'>;

/**
 * `name` tells participants of one role apart: https://platform.openai.com/docs/api-reference/chat/create. The
 * upstream has no field for it, so it stands before what was said.
 */
function readNamed<P extends ContentPart>(
  message: JsonObject,
  parts: readonly P[],
  { path, context }: Place,
): readonly (P | TextPart)[] {
  const name = readString(message, 'name', path) ?? '';
  const isSilent = parts.every((part) => part.kind === 'text' && part.text === '');
  if (name === '' || isSilent) return withHint(message, parts);
  context.receipt.add('approximated', `${path}.name`, told`said in the text`);
  const [first, ...others] = parts;
  if (first?.kind !== 'text') {
    return withHint(message, [{ kind: 'text', text: `${name}:` } as const, ...parts]);
  }
  return withHint(message, [{ ...first, text: `${name}: ${first.text}` }, ...others]);
}

/** Not told in the text: a model goes on as its own turns begin, and its answer would begin with a name. */
function noteAssistantName(message: JsonObject, { path, context }: Place): void {
  if ((readString(message, 'name', path) ?? '') === '') return;
  context.receipt.add(
    'dropped',
    `${path}.name`,
    told`Upstreams have no place for the names of assistants.`,
  );
}

/** A cache mark on the whole message is one on its last part. */
function withHint<P extends object>(message: JsonObject, parts: readonly P[]): readonly P[] {
  const last = parts.at(-1);
  if (last === undefined || !isJsonObject(message.cache_control)) return parts;
  return [...parts.slice(0, -1), { ...last, cacheHint: true }];
}

/** Tool messages may be empty: clients send no content for calls that printed nothing. */
function readResult(message: JsonObject, path: string, callId: string): ToolResultPart {
  const name = readString(message, 'name', path);
  return {
    kind: 'tool-result',
    callId,
    name: name === '' ? undefined : name,
    content: readResultContent(message.content, `${path}.content`),
    isError: false,
    cacheHint: isJsonObject(message.cache_control) ? true : undefined,
  };
}

/** A plain string is the tool's own output and stays as it is, also when it looks like markdown. */
function readResultContent(
  value: JsonValue | undefined,
  path: string,
): readonly ToolResultContent[] {
  if (typeof value === 'string') return [{ kind: 'text', text: value }];
  return readContent(value, path).map((part) =>
    part.kind === 'text' ? { kind: 'text', text: part.text } : part,
  );
}

interface AssistantContext {
  readonly path: string;
  readonly context: ReadContext;
  readonly legacyCalls: LegacyCalls;
}

/** The deprecated `function_call` has no id; results find their call by name, oldest first. */
interface LegacyCalls {
  add(name: string): string;
  /** @throws GatewayError 400 when no such call waits for its result. */
  take(name: string, path: string): string;
}

function createLegacyCalls(): LegacyCalls {
  const waiting = new Map<string, { readonly ids: string[]; next: number }>();
  let count = 0;
  return {
    add(name) {
      const id = `call_function_${count++}`;
      const calls = waiting.get(name);
      if (calls === undefined) waiting.set(name, { ids: [id], next: 0 });
      else calls.ids.push(id);
      return id;
    },
    take(name, path) {
      const calls = waiting.get(name);
      const id = calls?.ids[calls.next];
      if (calls !== undefined && id !== undefined) {
        calls.next += 1;
        return id;
      }
      throw invalidRequest(
        memberPath(path, 'name'),
        `${memberPath(path, 'name')}: no earlier assistant message calls the function "${name}".`,
      );
    },
  };
}

/** Thoughts first, then content, then calls: the order in which the model produced them. @throws GatewayError 400 */
function readAssistantParts(message: JsonObject, assistant: AssistantContext): Part[] {
  const { path, context } = assistant;
  const parts: Part[] = [];
  const thoughts = readThoughts(message);
  if (thoughts !== '') parts.push({ kind: 'thinking', text: thoughts });
  const content = readContent(message.content, `${path}.content`);
  const signature = readSignature(message, path, context);
  const drawn = readDrawnImages(message, content, path);
  for (const part of [...withSignature(content, signature), ...drawn]) parts.push(part);
  const refusal = readString(message, 'refusal', path);
  if (refusal !== undefined) parts.push({ kind: 'text', text: refusal });
  for (const [index, value] of (readArray(message, 'tool_calls', path) ?? []).entries()) {
    parts.push(readToolCall(value, `${path}.tool_calls[${index}]`, context));
  }
  const legacy = readObject(message, 'function_call', path);
  if (legacy !== undefined) parts.push(readLegacyCall(legacy, assistant));
  return parts;
}

/** The vendor's own service signs a message where its last text was signed. */
function withSignature(
  content: readonly ContentPart[],
  signature: Signature | undefined,
): readonly ContentPart[] {
  const last = content.findLastIndex((part) => part.kind === 'text');
  if (signature === undefined) return content;
  return content.map((part, index) => (index === last ? { ...part, signature } : part));
}

/** `reasoning` is an object with some clients: then it is not the thoughts. */
function readThoughts(message: JsonObject): string {
  if (typeof message.reasoning_content === 'string') return message.reasoning_content;
  return typeof message.reasoning === 'string' ? message.reasoning : '';
}

/** Drawn pictures stand in the content too; `images` counts only when a client cut them out of it. */
function readDrawnImages(
  message: JsonObject,
  content: readonly ContentPart[],
  path: string,
): Part[] {
  if (content.some((part) => part.kind === 'media')) return [];
  return (readArray(message, 'images', path) ?? []).map((value, index) => {
    const imagePath = `${path}.images[${index}]`;
    const holder = requireObject(asObject(value, imagePath), 'image_url', imagePath);
    const urlPath = `${imagePath}.image_url`;
    const { mediaType, source } = readMediaUrl(requireString(holder, 'url', urlPath), urlPath);
    return { kind: 'media', modality: 'image', mediaType, source };
  });
}

function readToolCall(value: JsonValue, path: string, context: ReadContext): ToolCallPart {
  const call = asObject(value, path);
  const id = requireString(call, 'id', path);
  const signature = readSignature(call, path, context);
  const type = readString(call, 'type', path) ?? 'function';
  switch (type) {
    case 'function': {
      const holder = requireObject(call, 'function', path);
      const functionPath = `${path}.function`;
      const name = requireString(holder, 'name', functionPath);
      const input = readArguments(holder.arguments, `${functionPath}.arguments`, context);
      return { kind: 'tool-call', id, name, input, signature };
    }
    case 'custom': {
      const holder = requireObject(call, 'custom', path);
      const name = requireString(holder, 'name', `${path}.custom`);
      const input = { input: readString(holder, 'input', `${path}.custom`) ?? '' };
      return { kind: 'tool-call', id, name, input, signature };
    }
    default:
      throw unknownWord(`${path}.type`, ['function', 'custom']);
  }
}

function readLegacyCall(call: JsonObject, { path, context, legacyCalls }: AssistantContext): Part {
  const callPath = `${path}.function_call`;
  const name = requireString(call, 'name', callPath);
  const input = readArguments(call.arguments, `${callPath}.arguments`, context);
  return { kind: 'tool-call', id: legacyCalls.add(name), name, input };
}

/** Stands in `extra_content.<vendor>.thought_signature` (ai.google.dev, "OpenAI compatibility"). */
function readSignature(
  holder: JsonObject,
  path: string,
  context: ReadContext,
): Signature | undefined {
  const extra = readObject(holder, 'extra_content', path);
  const extension = readExtension(extra, `${path}.extra_content`, context);
  if (extension === undefined) return undefined;
  return readCarrier(readString(extension.value, 'thought_signature', extension.path));
}

/** Media that a client sends inline or by URL: data URI, bare base64, public http(s) URL. */
export interface ReadMedia {
  /** Absent only for URLs. */
  readonly mediaType?: string | undefined;
  readonly source: MediaSource;
}

const URL_FAULTS: Readonly<Record<UrlFault, string>> = {
  malformed: 'is not a valid URL.',
  credentials: 'must not hold credentials.',
  private: 'must be on a public host; send the data as a data URI.',
};

/**
 * Media by address: a data URI, or an http(s) URL of a public host.
 * @throws GatewayError 400 for anything else: local files are never read for a request.
 */
export function readMediaUrl(url: string, path: string): ReadMedia {
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

/** `data:<type>;base64,<data>`; the type is taken from the bytes when the URI does not say. */
function readDataUri(uri: string, path: string): ReadMedia {
  const comma = uri.indexOf(',');
  const header = comma < 0 ? '' : uri.slice('data:'.length, comma).toLowerCase();
  if (!header.endsWith(';base64')) {
    throw invalidRequest(path, `${path} must be a base64 data URI: data:<type>;base64,<data>.`);
  }
  const declared = header.slice(0, header.indexOf(';')).trim();
  return readInline(uri.slice(comma + 1), { declared, path });
}

/** Bare base64 with an optional declared type. */
export function readInline(
  text: string,
  { declared, path }: { readonly declared: string; readonly path: string },
): ReadMedia {
  const base64 = readBase64(text, path);
  const isSilent = declared === '' || declared === 'application/octet-stream';
  const mediaType = isSilent ? sniffMediaType(base64) : declared;
  if (mediaType === undefined) {
    throw invalidRequest(path, `${path}: the media type is missing and not recognisable.`);
  }
  return { mediaType: spellMediaType(mediaType), source: { kind: 'base64', base64 } };
}

/** Base64 without white space and with its padding. @throws GatewayError 400 */
function readBase64(text: string, path: string): string {
  const base64 = tidyBase64(text);
  if (base64 === undefined) throw invalidRequest(path, `${path} does not hold valid base64.`);
  return base64;
}

/** What kind of media a type is. @throws GatewayError 400 for types no upstream takes. */
export function readModality(mediaType: string, path: string): Modality {
  const modality = modalityOf(mediaType);
  if (modality !== undefined) return modality;
  throw invalidRequest(path, `${path}: media type "${mediaType}" is not supported.`, 'unsupported');
}

const TEXT_TYPES = new Set([
  'application/json',
  'application/xml',
  'application/yaml',
  'application/x-yaml',
  'application/javascript',
  'application/x-ndjson',
]);

type FilePart = TextPart | MediaPart;

/** @throws GatewayError 400; `file_id` is refused, for the gateway stores no files. */
function readFilePart(part: JsonObject, path: string): readonly FilePart[] {
  return readFile(requireObject(part, 'file', path), `${path}.file`);
}

/**
 * `{file_data, filename}` at `filePath`; the content may stand in another field. The name is what a question calls
 * the file by, and the upstream has no field for it: it stands before the file. @throws GatewayError 400
 */
export function readFile(
  file: JsonObject,
  filePath: string,
  key: 'file_data' | 'file_url' = 'file_data',
): readonly FilePart[] {
  const title = readString(file, 'filename', filePath) ?? '';
  const content = readString(file, key, filePath);
  if (content === undefined) throw missingContent(file, filePath);
  const contentPath = `${filePath}.${key}`;
  const media = readFileContent(content, contentPath);
  const { mediaType, source } = media;
  if (mediaType !== undefined && isText(mediaType) && source.kind === 'base64') {
    const text = Buffer.from(source.base64, 'base64').toString('utf8');
    return [{ kind: 'text', text: title === '' ? text : `${title}\n${text}` }];
  }
  const modality = mediaType === undefined ? 'document' : readModality(mediaType, contentPath);
  const bytes: FilePart = { kind: 'media', modality, source, mediaType };
  return title === '' ? [bytes] : [{ kind: 'text', text: title }, bytes];
}

/** A data URI or an address; some clients send the base64 alone. */
function readFileContent(content: string, path: string): ReadMedia {
  const isAddress = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(content.slice(0, 40));
  return isAddress ? readMediaUrl(content, path) : readInline(content, { declared: '', path });
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || TEXT_TYPES.has(mediaType);
}

function missingContent(file: JsonObject, filePath: string): Error {
  if (file.file_id === undefined || file.file_id === null) {
    return missingField(`${filePath}.file_data`);
  }
  return invalidRequest(
    `${filePath}.file_id`,
    `${filePath}.file_id: the gateway stores no files; send the content as file_data.`,
    'unsupported',
  );
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
export function readContent(value: JsonValue | undefined, path: string): readonly ContentPart[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return splitInlineImages({ kind: 'text', text: value });
  if (!Array.isArray(value)) throw wrongType(path, 'a string or an array of content parts');
  return value.flatMap((part, index) => readPart(part, `${path}[${index}]`));
}

/** System content: a string or text parts, one part each. @throws GatewayError 400 */
export function readTextContent(value: JsonValue | undefined, path: string): readonly TextPart[] {
  if (value === undefined || value === null) throw missingField(path);
  if (typeof value === 'string') return [{ kind: 'text', text: value }];
  if (!Array.isArray(value)) throw wrongType(path, 'a string or an array of text parts');
  return value.map((item, index) => {
    const part = asObject(item, `${path}[${index}]`);
    const type = readString(part, 'type', `${path}[${index}]`);
    if (type === 'text' || type === 'input_text') return readTextPart(part, `${path}[${index}]`);
    throw unknownWord(`${path}[${index}].type`, ['text']);
  });
}

const PART_WORDS = ['text', 'image_url', 'video_url', 'input_audio', 'file', 'refusal'];

/** One part of a content list; pictures inside a text become parts of their own. @throws GatewayError 400 */
export function readPart(value: JsonValue, path: string): readonly ContentPart[] {
  const part = asObject(value, path);
  const type = requireString(part, 'type', path);
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return splitInlineImages(readTextPart(part, path));
    case 'refusal':
      return [{ kind: 'text', text: requireText(part, 'refusal', path) }];
    case 'image_url':
    case 'input_image':
      return [readImagePart(part, path)];
    case 'video_url':
      return [readVideoPart(part, path)];
    case 'input_audio':
      return [readAudioPart(part, path)];
    case 'file':
      return readFilePart(part, path);
    default:
      throw unknownWord(`${path}.type`, PART_WORDS);
  }
}

function readTextPart(part: JsonObject, path: string): TextPart {
  const text = requireText(part, 'text', path);
  return { kind: 'text', text, cacheHint: hasCacheHint(part) ? true : undefined };
}

/** As required, but an empty text is legal. */
function requireText(part: JsonObject, key: string, path: string): string {
  const text = readString(part, key, path);
  if (text === undefined) throw missingField(memberPath(path, key));
  return text;
}

function readImagePart(part: JsonObject, path: string): MediaPart {
  const holder = isJsonObject(part.image_url) ? part.image_url : undefined;
  const { url, urlPath } = readAddress(part, 'image_url', path);
  const { mediaType, source } = readMediaUrl(url, urlPath);
  const modality = mediaType === undefined ? 'image' : readModality(mediaType, urlPath);
  const resolution = readDetail(holder ?? part, holder === undefined ? path : `${path}.image_url`);
  return {
    kind: 'media',
    modality,
    source,
    mediaType,
    resolution,
    cacheHint: hasCacheHint(part) ? true : undefined,
  };
}

/** As several servers of this protocol have it: an address like that of a picture. */
function readVideoPart(part: JsonObject, path: string): MediaPart {
  const { url, urlPath } = readAddress(part, 'video_url', path);
  const { mediaType, source } = readMediaUrl(url, urlPath);
  const modality = mediaType === undefined ? 'video' : readModality(mediaType, urlPath);
  const cacheHint = hasCacheHint(part) ? true : undefined;
  return { kind: 'media', modality, source, mediaType, cacheHint };
}

/** In an object; clients also send the bare address, as the Responses protocol has it. */
function readAddress(
  part: JsonObject,
  key: 'image_url' | 'video_url',
  path: string,
): { readonly url: string; readonly urlPath: string } {
  const holder = part[key];
  const place = `${path}.${key}`;
  if (!isJsonObject(holder)) return { url: requireString(part, key, path), urlPath: place };
  return { url: requireString(holder, 'url', place), urlPath: `${place}.url` };
}

function readDetail(holder: JsonObject, path: string): MediaResolution | undefined {
  const detail = readString(holder, 'detail', path);
  if (detail === undefined) return undefined;
  if (!RESOLUTIONS.has(detail)) throw unknownWord(`${path}.detail`, [...RESOLUTIONS.keys()]);
  return RESOLUTIONS.get(detail);
}

function readAudioPart(part: JsonObject, path: string): MediaPart {
  const audioPath = `${path}.input_audio`;
  const audio = requireObject(part, 'input_audio', path);
  const format = requireString(audio, 'format', audioPath).toLowerCase();
  const mediaType = AUDIO_TYPES.get(format);
  if (mediaType === undefined) {
    throw invalidRequest(
      `${audioPath}.format`,
      `${audioPath}.format must be one of: ${[...AUDIO_TYPES.keys()].join(', ')}.`,
      'unsupported',
    );
  }
  const base64 = readBase64(requireString(audio, 'data', audioPath), `${audioPath}.data`);
  return { kind: 'media', modality: 'audio', mediaType, source: { kind: 'base64', base64 } };
}

function hasCacheHint(part: JsonObject): boolean {
  return isJsonObject(part.cache_control) || isJsonObject(part.prompt_cache_breakpoint);
}

/** The arguments are JSON text; '' and `null` mean none. Some clients send the object itself. */
export function readArguments(
  value: JsonValue | undefined,
  path: string,
  context: ReadContext,
): JsonObject {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) {
    context.receipt.add(
      'repaired',
      path,
      told`Arguments are JSON text; the object was taken as it is.`,
    );
    return value;
  }
  if (typeof value !== 'string') {
    throw invalidRequest(path, `${path} must be a string of JSON.`, 'invalid-type');
  }
  if (value.trim() === '') return {};
  const parsed = parseArguments(value, path, context.jsonBudget);
  if (isJsonObject(parsed)) return parsed;
  if (parsed === null) return {};
  context.receipt.add(
    'repaired',
    path,
    told`Arguments that are no object are sent as {"value": \u2026}.`,
  );
  return { value: parsed };
}

function parseArguments(text: string, path: string, budget: JsonBudget): JsonValue {
  try {
    return parseJson(text, budget);
  } catch (error) {
    throw invalidRequest(path, `${path} ${faultOf(error)}.`, 'invalid-json');
  }
}

function faultOf(error: unknown): string {
  if (!(error instanceof JsonExcessError)) return 'is not valid JSON';
  const words = EXCESS_WORDS[error.excess];
  return error.excess === 'tokens' ? `${words}, with the arguments before it` : words;
}
