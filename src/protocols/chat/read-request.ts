// Reads one chat completion request: the whole field list, strictly, into the canonical request.

import { invalidRequest } from '../../canonical/error.ts';
import { readImageOptions } from '../../canonical/media.ts';
import { plainModelName } from '../../canonical/model.ts';
import { memberPath, type Receipt } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  OutputFormat,
  OutputModality,
  SafetySetting,
  Sampling,
} from '../../canonical/request.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import { objectShape, saysNothing } from '../body-schema.ts';
import type { AnswerOptions } from './answer-parts.ts';
import { readMessages } from './read-messages.ts';
import { REASONING_SHAPES, readReasoning } from './read-reasoning.ts';
import { readSchema, readToolChoice, readTools } from './read-tools.ts';
import {
  asObject,
  CHOICE_SHAPE,
  clientNamesOf,
  createReadContext,
  FORMAT_SHAPE,
  MESSAGE_SHAPES,
  missingField,
  noteUnreadFields,
  type ReadContext,
  readArray,
  readBoolean,
  readNumberIn,
  readObject,
  readString,
  requireObject,
  requireString,
  SAFETY_SHAPE,
  STREAM_OPTIONS_SHAPE,
  unknownWord,
  wrongType,
} from './schema.ts';

/** @throws GatewayError 400 */
function readOutputFormat(body: JsonObject): OutputFormat {
  const format = readObject(body, 'response_format');
  if (format === undefined) return { kind: 'text' };
  const path = 'response_format';
  const type = requireString(format, 'type', path);
  switch (type) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return readSchemaFormat(format);
    default:
      throw unknownWord('response_format.type', ['text', 'json_object', 'json_schema']);
  }
}

/** The schema is optional in the protocol: without one any JSON will do. */
function readSchemaFormat(format: JsonObject): OutputFormat {
  const path = 'response_format.json_schema';
  const holder = requireObject(format, 'json_schema', 'response_format');
  const name = readString(holder, 'name', path);
  const strict = readBoolean(holder, 'strict', path);
  const schema = readSchema(holder.schema, `${path}.schema`);
  const description = readString(holder, 'description', path);
  if (schema === undefined) return { kind: 'json' };
  return { kind: 'json-schema', schema: describeSchema(schema, description), name, strict };
}

/** What the format is for belongs to its schema, unless that says it itself. */
export function describeSchema(
  schema: JsonObject | boolean,
  description: string | undefined,
): JsonObject | boolean {
  if (typeof schema === 'boolean' || !description || schema.description !== undefined) {
    return schema;
  }
  return { ...schema, description };
}

/** Undefined for plain text. @throws GatewayError 400, also for audio, which no answer can carry yet. */
function readModalities(body: JsonObject): readonly OutputModality[] | undefined {
  const values = readArray(body, 'modalities');
  if (values === undefined) return undefined;
  const modalities = values.map((value, index): OutputModality => {
    const path = `modalities[${index}]`;
    if (typeof value !== 'string') throw wrongType(path, 'a string');
    const word = value.toLowerCase();
    if (word === 'text' || word === 'image') return word;
    if (word !== 'audio') throw unknownWord(path, ['text', 'image']);
    throw invalidRequest(path, 'Audio answers are not supported; ask for text.', 'unsupported');
  });
  return modalities.includes('image') ? modalities : undefined;
}

const MAX_STOPS = 4;

/** @throws GatewayError 400 */
function readSampling(body: JsonObject): Sampling {
  const topK = readNumberIn(body.top_k, 'top_k', { min: -1, integer: true });
  const penalty = { min: -2, max: 2 };
  return {
    temperature: readNumberIn(body.temperature, 'temperature', { min: 0, max: 2 }),
    topP: readNumberIn(body.top_p, 'top_p', { min: 0, max: 1 }),
    // Servers that know the field read 0 and −1 as "no limit".
    topK: topK !== undefined && topK > 0 ? topK : undefined,
    seed: readNumberIn(body.seed, 'seed', { integer: true }),
    presencePenalty: readNumberIn(body.presence_penalty, 'presence_penalty', penalty),
    frequencyPenalty: readNumberIn(body.frequency_penalty, 'frequency_penalty', penalty),
    logprobs: readLogprobs(body),
  };
}

function readLogprobs(body: JsonObject): Sampling['logprobs'] {
  const wanted = readBoolean(body, 'logprobs') === true;
  const alternatives = readNumberIn(body.top_logprobs, 'top_logprobs', {
    min: 0,
    max: 20,
    integer: true,
  });
  if (!wanted && alternatives !== undefined && alternatives > 0) {
    throw invalidRequest('top_logprobs', 'top_logprobs needs logprobs to be true.');
  }
  return wanted ? { alternatives: alternatives ?? 0 } : undefined;
}

/** The newer name wins over the deprecated one; that it says something else is noted. */
function readMaxTokens(body: JsonObject, { receipt }: ReadContext): number | undefined {
  const range = { min: 1, integer: true };
  const name = 'max_completion_tokens';
  const newer = readNumberIn(body[name], name, range);
  const older = readNumberIn(body.max_tokens, 'max_tokens', range);
  if (newer !== undefined && older !== undefined && newer !== older) {
    receipt.add('dropped', 'max_tokens', told`${name} says something else and wins.`);
  }
  return newer ?? older;
}

/** A string, at most four strings, or null; empty strings would stop every answer and are left out. */
export function readStops(body: JsonObject, { receipt }: ReadContext): readonly string[] {
  const value = body.stop;
  const stops = typeof value === 'string' ? [value] : (readArray(body, 'stop') ?? []);
  if (stops.length > MAX_STOPS) {
    throw invalidRequest('stop', `stop may hold at most ${MAX_STOPS} strings.`);
  }
  return stops.flatMap((stop, index) => {
    const path = typeof value === 'string' ? 'stop' : `stop[${index}]`;
    if (typeof stop !== 'string') throw wrongType(path, 'a string');
    if (stop !== '') return [stop];
    receipt.add('dropped', path, told`An empty stop sequence stops nothing.`);
    return [];
  });
}

/** `safety_settings: [{category, threshold}]`, as some clients add them. */
function readSafety(body: JsonObject): readonly SafetySetting[] {
  return (readArray(body, 'safety_settings') ?? []).map((value, index) => {
    const path = `safety_settings[${index}]`;
    const setting = asObject(value, path);
    return {
      category: requireString(setting, 'category', path),
      threshold: requireString(setting, 'threshold', path),
    };
  });
}

/** A conversation that begins in a cache of the upstream is refused: the model would not see its beginning. */
const CACHE_KEYS = ['cached_content', 'cachedContent'] as const;

/**
 * The name of a cache stands in the vendor extension object (ai.google.dev, "OpenAI compatibility"),
 * in `extra_body` or bare. @throws GatewayError 400
 */
export function refuseCachedContent(body: JsonObject): void {
  for (const [path, holder] of holdersOf(body)) {
    for (const key of CACHE_KEYS) {
      if (saysNothing(holder[key])) continue;
      const field = memberPath(path, key);
      throw invalidRequest(
        field,
        `${field} is not supported: a cache belongs to one upstream account. Send the content itself; requests of one session stay on one account and are cached implicitly.`,
        'unsupported',
      );
    }
  }
}

function holdersOf(body: JsonObject): readonly (readonly [string, JsonObject])[] {
  const extra = body.extra_body;
  const outer: [string, JsonObject][] = [['', body]];
  if (isJsonObject(extra)) outer.push(['extra_body', extra]);
  const inner = outer.flatMap(([path, holder]) =>
    CHAT_EXTENSION_KEYS.flatMap((key): [string, JsonObject][] => {
      const extension = holder[key];
      return isJsonObject(extension) ? [[memberPath(path, key), extension]] : [];
    }),
  );
  return [...outer, ...inner];
}

export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly canonical: CanonicalRequest;
  readonly answer: AnswerOptions;
}

/** Fields that are read, or that only concern caching, bookkeeping and stored answers. */
const KNOWN_FIELDS = objectShape(
  [
    ...['model', 'stream', 'max_completion_tokens', 'max_tokens', 'temperature', 'top_p', 'top_k'],
    ...['frequency_penalty', 'presence_penalty', 'seed', 'stop', 'logprobs', 'top_logprobs', 'n'],
    ...['tools', 'parallel_tool_calls', 'functions', 'modalities', 'web_search_options'],
    ...['reasoning_effort', 'reasoningEffort', 'enable_thinking', 'thinking_budget'],
    ...['thinking_config', 'thinkingConfig', 'extra_body', ...CHAT_EXTENSION_KEYS],
    ...['size', 'quality', 'imageSize', 'user', 'metadata', 'safety_identifier'],
    ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'verbosity'],
    ...['service_tier'],
  ],
  {
    messages: MESSAGE_SHAPES,
    stream_options: STREAM_OPTIONS_SHAPE,
    tool_choice: CHOICE_SHAPE,
    function_call: CHOICE_SHAPE,
    response_format: FORMAT_SHAPE,
    safety_settings: SAFETY_SHAPE,
    ...REASONING_SHAPES,
  },
);

const EXTENSION_KEYS = objectShape(CHAT_EXTENSION_KEYS);

/** Values that ask for what happens anyway. */
const DEFAULT_WORDS = new Set(['auto', 'default', 'medium']);

/** @throws GatewayError (invalid-request) naming the field. */
export function readChatRequest(body: JsonObject, receipt: Receipt): ChatRequest {
  const context = createReadContext(receipt);
  const model = readModel(body);
  refuseCachedContent(body);
  const stream = readBoolean(body, 'stream') ?? false;
  const streamOptions = readObject(body, 'stream_options');
  const includeUsage = readBoolean(streamOptions ?? {}, 'include_usage', 'stream_options') ?? false;
  const canonical = readCanonical(body, context);
  noteIgnoredFields(body, context);
  const freeform = canonical.tools.filter((tool) => tool.kind === 'freeform');
  return {
    model,
    stream,
    canonical,
    answer: {
      includeUsage,
      extensionKey: context.extensionKey,
      freeformTools: new Set(freeform.map((tool) => tool.name)),
      callForm: usesLegacyCalls(body) ? 'function_call' : 'tool_calls',
    },
  };
}

function readModel(body: JsonObject): string {
  const model = body.model;
  if (model === undefined || model === null) throw missingField('model');
  if (typeof model !== 'string') throw wrongType('model', 'a string');
  const name = plainModelName(model);
  if (name === '') throw invalidRequest('model', 'model is empty; name a model of GET /v1/models.');
  return name;
}

function readCanonical(body: JsonObject, context: ReadContext): CanonicalRequest {
  const { system, turns } = readMessages(body, context);
  const tools = readTools(body, context);
  const isLegacy = usesLegacyCalls(body);
  const parallelToolCalls = isLegacy ? false : readBoolean(body, 'parallel_tool_calls');
  const maxOutputTokens = readMaxTokens(body, context);
  const outputModalities = readModalities(body);
  const image = readImageOptions(
    {
      size: readString(body, 'size'),
      quality: readString(body, 'quality'),
      imageSize: readString(body, 'imageSize'),
    },
    { receipt: context.receipt, unknownWord },
  );
  const reasoning = readReasoning(body, context);
  const { thinkingPath } = context;
  return {
    system,
    turns,
    tools,
    toolChoice: readToolChoice(body, tools, context),
    parallelToolCalls,
    sampling: readSampling(body),
    maxOutputTokens,
    stopSequences: readStops(body, context),
    choices: readNumberIn(body.n, 'n', { min: 1, max: 128, integer: true }) ?? 1,
    reasoning,
    outputFormat: readOutputFormat(body),
    outputModalities,
    image,
    safety: readSafety(body),
    clientNames: clientNamesOf(body, { thinkingPath, isLegacy }),
  };
}

/** `functions` alone: the answer then calls by `function_call`, one at a time. */
function usesLegacyCalls(body: JsonObject): boolean {
  return !saysNothing(body.functions) && saysNothing(body.tools);
}

/** The session a body names for itself: its cache key, else its user. */
export function readBodySession(body: JsonObject): string | undefined {
  const session = readString(body, 'prompt_cache_key') || readString(body, 'user');
  return session === '' ? undefined : session;
}

function noteIgnoredFields(body: JsonObject, context: ReadContext): void {
  noteUnreadFields(body, { known: KNOWN_FIELDS, path: '', context });
  for (const key of ['verbosity', 'service_tier']) {
    const word = readString(body, key);
    if (word === undefined || DEFAULT_WORDS.has(word)) continue;
    context.receipt.add('dropped', key, told`${key} has no counterpart; the default applies.`);
  }
  const extra = readObject(body, 'extra_body') ?? {};
  noteUnreadFields(extra, { known: EXTENSION_KEYS, path: 'extra_body', context });
}
