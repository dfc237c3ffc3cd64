// What a Chat Completions body may hold, at any depth, and how what is wrong with it is worded.
// Source of the shapes: `openai` resources/chat/completions.

import { BUDGET_KEYS, LEVEL_KEYS } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/error.ts';
import { IMAGE_NUMBERS, IMAGE_WORDS } from '../../canonical/image-options.ts';
import { type ClientNames, memberPath, type Receipt } from '../../canonical/receipt.ts';
import { JSON_BUDGET, type JsonBudget, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { usedKey } from '../../lib/read-values.ts';
import type { ChatExtensionKey } from '../../wire/chat.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import {
  ANYTHING,
  BOOLEAN,
  type Checked,
  checkShape,
  type Fault,
  FILLED,
  FREE,
  listOf,
  type NumberRange,
  needed,
  numberIn,
  objectOf,
  openObjectOf,
  type Shape,
  type ShapesByName,
  STRING,
  taggedShape,
  textOr,
  textOrListOf,
  type ValueOf,
  wordOf,
} from '../body-schema.ts';

/** Several fields of one shape. */
export function each<const Keys extends readonly string[], Of extends Shape>(
  keys: Keys,
  shape: Of,
): Readonly<Record<Keys[number], Of>> {
  return Object.fromEntries(keys.map((key) => [key, shape])) as Record<Keys[number], Of>;
}

/** Of a request for a picture, and of the tool that draws. */
export const DETAILS_OF_DRAWING = {
  ...each(IMAGE_WORDS, STRING),
  ...each(IMAGE_NUMBERS, numberIn({ min: 0, integer: true })),
};

/** Every part may have cache hints. */
function part<Fields extends ShapesByName, const Known extends string = never>(
  fields: Fields,
  known: readonly Known[] = [],
) {
  const hints = each(['cache_control', 'prompt_cache_breakpoint'], ANYTHING);
  return objectOf({ type: STRING, ...hints, ...fields }, known);
}

/** `parsed` is what the helpers of SDKs read the text as, and hand back beside it. */
const TEXT_HINTS = ['annotations', 'logprobs', 'parsed'] as const;
/** `@openai/agents` hands a whole answer back on the part that holds its text. */
const TEXT = part({ text: needed(STRING), refusal: STRING }, [...TEXT_HINTS, 'role']);
const FILE = { ...each(['file_data', 'file_url', 'filename'], STRING), file_id: ANYTHING };
const ADDRESS = objectOf({ url: needed(FILLED), detail: STRING });
const PICTURE = part({
  image_url: textOr(ADDRESS),
  file_id: ANYTHING,
  detail: STRING,
});
const SOUND = objectOf({ data: needed(FILLED), format: needed(FILLED) });

/** Both protocols of this folder: clients mix in the words of the other one. */
export const PART = taggedShape('type', {
  text: TEXT,
  input_text: TEXT,
  output_text: TEXT,
  refusal: part({ refusal: needed(STRING) }),
  image_url: PICTURE,
  input_image: PICTURE,
  video_url: part({ video_url: textOr(objectOf({ url: needed(FILLED) })) }),
  input_audio: part({ input_audio: needed(SOUND) }),
  thinking: part({ thinking: needed(ANYTHING) }, ['closed', 'signature']),
  document_url: part({ document_url: needed(FILLED) }, ['document_name']),
  file: part({ file: needed(objectOf(FILE)) }),
  input_file: part(FILE),
});
export const CONTENT = textOrListOf(PART);
/** What a tool of the Responses protocol gives. */
export const OUTPUT = textOrListOf(PART);
const INSTRUCTION = part({ text: STRING }, TEXT_HINTS);
export const INSTRUCTIONS = textOrListOf(INSTRUCTION);

export type Part = ValueOf<typeof PART>;
export type Content = ValueOf<typeof CONTENT> | null | undefined;
export type File = Pick<Extract<Part, { type: 'input_file' }>, keyof typeof FILE>;

const HEAD = { role: STRING, name: STRING, cache_control: ANYTHING };
const SYSTEM = objectOf({ ...HEAD, content: needed(INSTRUCTIONS) });
const CALL = objectOf({ name: needed(FILLED), arguments: ANYTHING }, ['parsed_arguments']);
const EXTRA = openObjectOf(each(CHAT_EXTENSION_KEYS, openObjectOf({ thought_signature: STRING })));

/** Streams number their calls, and clients return the number with them. */
const TOOL_CALL = objectOf(
  {
    id: needed(FILLED),
    type: STRING,
    function: CALL,
    custom: objectOf({ name: needed(FILLED), input: STRING }),
    extra_content: EXTRA,
  },
  ['index', 'cache_control'],
);

const MESSAGE = taggedShape('role', {
  system: SYSTEM,
  developer: SYSTEM,
  user: objectOf({ ...HEAD, content: needed(CONTENT) }),
  assistant: objectOf(
    {
      ...HEAD,
      content: CONTENT,
      refusal: STRING,
      reasoning_content: ANYTHING,
      reasoning: ANYTHING,
      extra_content: EXTRA,
      tool_calls: listOf(TOOL_CALL),
      function_call: CALL,
      images: listOf(objectOf({ image_url: needed(ADDRESS) }, ['type', 'index'])),
    },
    // What answers of this protocol carry and SDKs hand back, the text already says. A last answer is gone on from anyway.
    ['reasoning_details', 'annotations', 'parsed', 'prefix'],
  ),
  tool: objectOf({ ...HEAD, content: CONTENT, tool_call_id: needed(FILLED) }),
  function: objectOf({ ...HEAD, content: CONTENT, name: needed(FILLED) }),
});

export type Message = ValueOf<typeof MESSAGE>;
export type Assistant = Extract<Message, { role: 'assistant' }>;
export type ToolCall = ValueOf<typeof TOOL_CALL>;

const NAMED = objectOf({ name: needed(FILLED) });
/** Of the Responses protocol too, which names tools beside their type. */
const CHOSEN = { type: STRING, name: ANYTHING, namespace: STRING, function: NAMED, custom: NAMED };

/** Of `tool_choice`, and of a list of tools it allows. */
export const CHOICE = textOr(
  objectOf(
    {
      ...CHOSEN,
      mode: STRING,
      tools: listOf(objectOf(CHOSEN)),
      allowed_tools: objectOf({ mode: STRING, tools: listOf(objectOf(CHOSEN)) }),
    },
    ['server_label'],
  ),
);

export type Choice = Exclude<ValueOf<typeof CHOICE>, string>;

export const SCHEMA_FORMAT = {
  ...each(['name', 'description'], STRING),
  schema: ANYTHING,
  strict: BOOLEAN,
};
export const STREAM_OPTIONS = objectOf(each(['include_usage', 'include_obfuscation'], BOOLEAN));

/** What other libraries call a level and a budget. */
export const AMOUNTS = {
  ...each(['effort', ...LEVEL_KEYS], STRING),
  ...each(BUDGET_KEYS, numberIn({ min: 0, integer: true })),
};

const CONFIG = objectOf({
  ...each(['thinking_budget', 'thinkingBudget'], numberIn({ min: -1, integer: true })),
  ...each(['thinking_level', 'thinkingLevel'], STRING),
  ...each(['include_thoughts', 'includeThoughts'], BOOLEAN),
});
const SAFETY = listOf(objectOf(each(['category', 'threshold'], needed(FILLED)), ['method']));
/** The vendor's own words: how much to think, and what to let pass. */
export const EXTENSION = objectOf({
  ...each(['thinking_config', 'thinkingConfig'], CONFIG),
  safety_settings: SAFETY,
});

/** What vLLM, SGLang, NVIDIA's NIM and llama.cpp give the template of a model; which word it has depends on the model. */
export const TEMPLATE = objectOf(each(['enable_thinking', 'thinking'], BOOLEAN));

const SHARE = numberIn({ min: 0, max: 1 });
const PENALTY = numberIn({ min: -2, max: 2 });
export const COUNT = numberIn({ min: 1, integer: true });

/** Of all surfaces that answer in words. */
export const SAMPLING = {
  temperature: numberIn({ min: 0, max: 2 }),
  top_p: SHARE,
  ...each(['presence_penalty', 'frequency_penalty'], PENALTY),
};
export const SEED = numberIn({ integer: true });
export const TOP_LOGPROBS = numberIn({ min: 0, max: 20, integer: true });
export const CHOICES = numberIn({ min: 1, max: 128, integer: true });

/** Fields that are read, or that only concern caching, bookkeeping and stored answers. */
export const BODY = objectOf(
  {
    model: needed(STRING),
    messages: needed(listOf(MESSAGE)),
    stream: BOOLEAN,
    stream_options: STREAM_OPTIONS,
    ...each(['max_completion_tokens', 'max_tokens'], COUNT),
    ...SAMPLING,
    // The second is Mistral's word.
    ...each(['seed', 'random_seed'], SEED),
    // Servers that know the field read 0 and −1 as "no limit".
    top_k: numberIn({ min: -1, integer: true }),
    stop: ANYTHING,
    logprobs: BOOLEAN,
    top_logprobs: TOP_LOGPROBS,
    n: CHOICES,
    ...each(['tools', 'functions', 'modalities'], listOf(ANYTHING)),
    ...each(['tool_choice', 'function_call'], CHOICE),
    parallel_tool_calls: BOOLEAN,
    web_search_options: FREE,
    response_format: objectOf({
      type: needed(FILLED),
      json_schema: objectOf(SCHEMA_FORMAT),
      ...each(['schema', 'value'], ANYTHING),
    }),
    safety_settings: SAFETY,
    ...each(['reasoning_effort', 'reasoningEffort'], STRING),
    reasoning: objectOf({ ...AMOUNTS, ...each(['enabled', 'exclude'], BOOLEAN) }, ['summary']),
    thinking: objectOf({
      ...AMOUNTS,
      type: wordOf(['enabled', 'disabled', 'adaptive', 'auto']),
      ...each(['include_thoughts', 'includeThoughts'], BOOLEAN),
    }),
    enable_thinking: BOOLEAN,
    thinking_budget: numberIn({ min: -1, integer: true }),
    ...each(['thinking_config', 'thinkingConfig', 'extra_body', ...CHAT_EXTENSION_KEYS], FREE),
    chat_template_kwargs: FREE,
    // OpenRouter's words: openrouter.ai/docs, "Image Generation".
    image_config: objectOf(each(['aspect_ratio', 'image_size'], STRING)),
    ...each(['size', 'quality', 'imageSize', 'user', 'prompt_cache_key'], STRING),
    ...each(['verbosity', 'service_tier'], STRING),
  },
  ['metadata', 'safety_identifier', 'prompt_cache_options', 'prompt_cache_retention'],
);

export type Body = ValueOf<typeof BODY>;

/** What is asked with `extra_body`. */
export const EXTRA_BODY = objectOf(each(CHAT_EXTENSION_KEYS, FREE));

const FUNCTION_TYPE = ['cache_control', 'type', 'defer_loading'] as const;
/** Nothing is deferred: every tool is declared from the start. Clients of several protocols send the tools of Messages. */
export const FUNCTION = objectOf(
  {
    ...each(['name', 'description'], STRING),
    ...each(['parameters', 'input_schema'], ANYTHING),
    strict: BOOLEAN,
  },
  FUNCTION_TYPE,
);
const GRAMMAR = each(['syntax', 'definition'], FILLED);
/** Beside a flat format, as Responses have it, stands `type`, and the grammar within the format. */
export const FREEFORM = objectOf(
  {
    ...each(['name', 'description'], STRING),
    format: objectOf({ type: needed(FILLED), ...GRAMMAR, grammar: objectOf(GRAMMAR) }),
  },
  FUNCTION_TYPE,
);

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

/**
 * Client field names that receipts and errors use: of several names for one field the client's own; without any field
 * it was the model's name that asked for thoughts.
 */
export function clientNamesOf(
  body: Body,
  { thinkingPath }: ReadContext,
  isLegacy: boolean,
): ClientNames {
  const names = {
    ...NAMES,
    max_tokens: usedKey(body, ['max_completion_tokens', 'max_tokens']) ?? 'max_completion_tokens',
    thinking: thinkingPath ?? 'model',
    size: usedKey(body, ['size', 'imageSize', 'quality', 'image_config']) ?? 'size',
  };
  return isLegacy ? { ...names, ...LEGACY_NAMES } : names;
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

export function createReadContext(receipt: Receipt): ReadContext {
  return {
    receipt,
    jsonBudget: { ...JSON_BUDGET },
    extensionKey: CHAT_EXTENSION_KEYS[0],
    thinkingPath: undefined,
    missingNames: [],
  };
}

/** The value at `path`, which is as the shape says. @throws GatewayError 400 naming the field */
export function check<Value>(value: unknown, shape: Shape<Value>, path: string): Checked<Value> {
  return checkShape(value, shape, (fault) => faultError(fault, path));
}

interface Place {
  readonly path: string;
  readonly receipt: Receipt;
}

/** As `check`; fields outside the shape are told. */
export function readAll<Value>(value: unknown, shape: Shape<Value>, place: Place): Value {
  const { value: read, unknown } = check(value, shape, place.path);
  noteUnread(unknown, place);
  return read;
}

/** `unknown` are the paths, from `path` on, of fields that no reader knows. */
export function noteUnread(unknown: readonly string[] = [], { path, receipt }: Place): void {
  for (const inner of unknown) {
    receipt.add('dropped', memberPath(path, inner), told`This field has no effect here.`);
  }
}

export function wrongType(path: string, expected: string): Error {
  return invalidRequest(path, `${path} must be ${expected}.`, 'invalid-type');
}

export function missingField(path: string): Error {
  return invalidRequest(path, `${path} is required.`, 'missing-field');
}

/** What has no counterpart here. `text` follows the name of the field. */
export function unsupported(path: string, text: string): Error {
  return invalidRequest(path, `${path}: ${text}`, 'unsupported');
}

/** A text that has to be there. */
export function filled(text: string | null | undefined, path: string): string {
  if (!text) throw text === '' ? emptyField(path) : missingField(path);
  return text;
}

/** The error for a word outside a closed list. */
export function unknownWord(path: string, words: readonly string[]): Error {
  return invalidRequest(path, `${path} must be one of: ${words.join(', ')}.`);
}

/** As `unknownWord`, for the field that tells the kind of an object. */
export function unknownTag(path: string, tag: string, words: readonly string[]): Error {
  return tag === '' ? emptyField(path) : unknownWord(path, words);
}

function emptyField(path: string): Error {
  return invalidRequest(path, `${path} is empty.`);
}

function faultError({ path: inner, shape, value }: Fault, outer: string): Error {
  const dotted = inner === '' ? outer : memberPath(outer, inner);
  const path = dotted.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
  if (value === undefined) return missingField(path);
  switch (shape.kind) {
    case 'string':
      if (typeof value !== 'string') return wrongType(path, 'a string');
      return shape.words === undefined ? emptyField(path) : unknownWord(path, shape.words);
    case 'boolean':
      return wrongType(path, 'true or false');
    case 'number': {
      const expected = describe(shape.range);
      return readNumber(value) === undefined
        ? wrongType(path, expected)
        : invalidRequest(path, `${path} must be ${expected}.`);
    }
    case 'list': {
      if (!shape.takesText) return wrongType(path, 'an array');
      const kind = shape === OUTPUT ? '' : shape.items === INSTRUCTION ? 'text ' : 'content ';
      return wrongType(path, `a string or an array of ${kind}parts`);
    }
    case 'object':
      return wrongType(path, shape.takesText === true ? 'a string or an object' : 'an object');
    default:
      return wrongType(path, 'an object');
  }
}

function describe({ min, max, integer }: NumberRange): string {
  const noun = integer === true ? 'an integer' : 'a number';
  if (min !== undefined && max !== undefined) return `${noun} from ${min} to ${max}`;
  if (min !== undefined) return `${noun} of at least ${min}`;
  return noun;
}
