// Reads single fields of a client's body and words what is wrong with them, naming the path.

import { invalidRequest } from '../../canonical/error.ts';
import { type ClientNames, memberPath, type Receipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { createJsonBudget, type JsonBudget } from '../../lib/json-limits.ts';
import { told } from '../../lib/localized-message.ts';
import type { ChatExtensionKey } from '../../wire/chat.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import {
  createFieldReader,
  extendShape,
  type NumberRange,
  noteUnknownFields,
  objectShape,
  type Shape,
  taggedShape,
} from '../body-schema.ts';

const TYPE_WORDS = {
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
} as const;

const fields = createFieldReader({
  wrongType: (path, expected) => wrongType(path, TYPE_WORDS[expected]),
  wrongNumber: (path, fault, range) =>
    fault === 'not-a-number'
      ? wrongType(path, describe(range))
      : invalidRequest(path, `${path} must be ${describe(range)}.`),
});

/** Optional fields; null means absent. @throws GatewayError 400 */
export const readString = fields.string;
export const readBoolean = fields.boolean;
export const readObject = fields.object;
export const readArray = fields.array;
/** A number at `path`, the whole path being given. @throws GatewayError 400 outside the range. */
export const readNumberIn = fields.number;

export function requireString(object: JsonObject, key: string, parent: string): string {
  const path = memberPath(parent, key);
  const value = readString(object, key, parent);
  if (value === undefined) throw missingField(path);
  if (value === '') throw invalidRequest(path, `${path} is empty.`);
  return value;
}

export function requireObject(object: JsonObject, key: string, parent: string): JsonObject {
  const value = readObject(object, key, parent);
  if (value === undefined) throw missingField(memberPath(parent, key));
  return value;
}

/** An array element that has to be an object. */
export function asObject(value: JsonValue | undefined, path: string): JsonObject {
  if (!isJsonObject(value)) throw wrongType(path, TYPE_WORDS.object);
  return value;
}

export function wrongType(path: string, expected: string): Error {
  return invalidRequest(path, `${path} must be ${expected}.`, 'invalid-type');
}

export function missingField(path: string): Error {
  return invalidRequest(path, `${path} is required.`, 'missing-field');
}

/** The error for a word outside a closed list. */
export function unknownWord(path: string, words: readonly string[]): Error {
  return invalidRequest(path, `${path} must be one of: ${words.join(', ')}.`);
}

function describe({ min, max, integer }: NumberRange): string {
  const noun = integer === true ? 'an integer' : 'a number';
  if (min !== undefined && max !== undefined) return `${noun} from ${min} to ${max}`;
  if (min !== undefined) return `${noun} of at least ${min}`;
  return noun;
}

/** Every part may have cache hints. Source of the shapes: `openai` resources/chat/completions. */
const PART = ['type', 'cache_control', 'prompt_cache_breakpoint'];

/** `parsed` is what the helpers of SDKs read the text as, and hand back beside it. */
const TEXT = objectShape([...PART, 'text', 'annotations', 'logprobs', 'parsed']);
const REFUSAL = objectShape([...PART, 'refusal']);
const FILE = ['file_data', 'file_url', 'file_id', 'filename', 'detail'];
const PICTURE = objectShape([...PART, 'file_id', 'detail'], {
  image_url: objectShape(['url', 'detail']),
});

/** Both protocols of this folder: clients mix in the words of the other one. */
export const PART_SHAPES: Shape = taggedShape('type', {
  text: TEXT,
  input_text: TEXT,
  output_text: TEXT,
  refusal: REFUSAL,
  image_url: PICTURE,
  input_image: PICTURE,
  video_url: objectShape(PART, { video_url: objectShape(['url']) }),
  input_audio: objectShape(PART, { input_audio: objectShape(['data', 'format']) }),
  file: objectShape(PART, { file: objectShape(FILE) }),
  input_file: objectShape([...PART, ...FILE]),
});

const MESSAGE = objectShape(['role', 'name', 'cache_control'], { content: PART_SHAPES });
const FUNCTION_CALL = objectShape(['name', 'arguments', 'parsed_arguments']);

/** Streams number their calls, and clients return the number with them. */
const TOOL_CALL = objectShape(['id', 'type', 'index', 'extra_content', 'cache_control'], {
  function: FUNCTION_CALL,
  custom: objectShape(['name', 'input']),
});

/** What answers of this protocol carry and SDKs hand back, the text already says. */
const ASSISTANT = extendShape(
  MESSAGE,
  [
    ...['refusal', 'reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'],
    ...['annotations', 'parsed'],
  ],
  {
    tool_calls: TOOL_CALL,
    function_call: FUNCTION_CALL,
    images: objectShape(['type', 'index'], { image_url: objectShape(['url', 'detail']) }),
  },
);

export const MESSAGE_SHAPES: Shape = taggedShape('role', {
  system: MESSAGE,
  developer: MESSAGE,
  user: MESSAGE,
  assistant: ASSISTANT,
  tool: extendShape(MESSAGE, ['tool_call_id']),
  function: MESSAGE,
});

const NAMED = objectShape(['name']);
/** Of the Responses protocol too, which names tools beside their type. */
const CHOSEN = objectShape(['type', 'name', 'namespace'], { function: NAMED, custom: NAMED });

export const CHOICE_SHAPE: Shape = extendShape(CHOSEN, ['mode', 'server_label'], {
  tools: CHOSEN,
  allowed_tools: objectShape(['mode'], { tools: CHOSEN }),
});

export const FORMAT_SHAPE: Shape = objectShape(['type'], {
  json_schema: objectShape(['name', 'description', 'schema', 'strict']),
});

export const STREAM_OPTIONS_SHAPE: Shape = objectShape(['include_usage', 'include_obfuscation']);

export const SAFETY_SHAPE: Shape = objectShape(['category', 'threshold', 'method']);

/** Client field names that receipts and errors use. */
const NAMES: ClientNames = {
  system: 'messages',
  redacted_thinking: 'messages',
  response_schema: 'response_format.json_schema.schema',
  tool_calls: 'choices.message.tool_calls',
  answer: 'choices.message.content',
};

const LEGACY_NAMES: ClientNames = {
  tool_choice: 'function_call',
  parallel_tool_calls: 'functions',
  tool_calls: 'choices.message.function_call',
};

/** Of several names for one field the client's own; `thinkingPath` is absent when no field says it. */
export function clientNamesOf(
  body: JsonObject,
  {
    thinkingPath,
    isLegacy,
  }: { readonly thinkingPath: string | undefined; readonly isLegacy: boolean },
): ClientNames {
  const firstOf = (...keys: readonly [string, ...string[]]): string =>
    keys.find((key) => (body[key] ?? null) !== null) ?? keys[0];
  return {
    ...NAMES,
    max_tokens: firstOf('max_completion_tokens', 'max_tokens'),
    thinking: thinkingPath ?? 'model',
    size: firstOf('size', 'imageSize', 'quality'),
    ...(isLegacy ? LEGACY_NAMES : {}),
  };
}

export interface NoteOptions {
  /** What is known, at any depth. */
  readonly known: Shape;
  /** Path of the object; '' for the body. */
  readonly path: string;
  readonly context: Pick<ReadContext, 'receipt'>;
}

/** Notes every field outside `known` that says something. */
export function noteUnreadFields(object: JsonObject, { known, path, context }: NoteOptions): void {
  noteUnknownFields(object, {
    shape: known,
    path,
    note: (unread) => context.receipt.add('dropped', unread, told`This field has no effect here.`),
  });
}

/** Shared by the readers of one request. */
export interface ReadContext {
  readonly receipt: Receipt;
  /** Of all JSON texts within the request. */
  readonly jsonBudget: JsonBudget;
  /** The word for the vendor extension object the request used; the official one until then. */
  extensionKey: ChatExtensionKey;
  /** Path of the field that says how much to think. */
  thinkingPath: string | undefined;
  /** Paths of the names that tools lack. */
  readonly missingNames: string[];
}

/** A vendor extension object and where it stood. */
export interface Extension {
  readonly value: JsonObject;
  readonly path: string;
}

export function createReadContext(receipt: Receipt): ReadContext {
  return {
    receipt,
    jsonBudget: createJsonBudget(),
    extensionKey: CHAT_EXTENSION_KEYS[0],
    thinkingPath: undefined,
    missingNames: [],
  };
}

/** The vendor extension inside `holder` (`extra_content`, `extra_body` or the body itself). */
export function readExtension(
  holder: JsonObject | undefined,
  path: string,
  context: ReadContext,
): Extension | undefined {
  if (holder === undefined) return undefined;
  for (const key of CHAT_EXTENSION_KEYS) {
    const value = readObject(holder, key, path);
    if (value === undefined) continue;
    context.extensionKey = key;
    return { value, path: memberPath(path, key) };
  }
  return undefined;
}
