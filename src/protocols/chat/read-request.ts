// Reads one chat completion request: the whole field list, strictly, into the canonical request.

import { invalidRequest } from '../../canonical/error.ts';
import { objectShape, saysNothing } from '../../canonical/field-shapes.ts';
import { readImageOptions } from '../../canonical/image-options.ts';
import { plainModelName } from '../../canonical/model-name.ts';
import { type Receipt, told } from '../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import type { AnswerOptions } from './answer-options.ts';
import { clientNamesOf } from './client-names.ts';
import {
  missingField,
  readBoolean,
  readNumberIn,
  readObject,
  readString,
  unknownWord,
  wrongType,
} from './fields.ts';
import {
  CHOICE_SHAPE,
  FORMAT_SHAPE,
  MESSAGE_SHAPES,
  SAFETY_SHAPE,
  STREAM_OPTIONS_SHAPE,
} from './message-shapes.ts';
import { noteUnreadFields } from './note-fields.ts';
import { createReadContext, type ReadContext } from './read-context.ts';
import { readMessages } from './read-messages.ts';
import { readModalities, readOutputFormat } from './read-output.ts';
import { REASONING_SHAPES, readReasoning } from './read-reasoning.ts';
import { readMaxTokens, readSafety, readSampling, readStops } from './read-sampling.ts';
import { readToolChoice } from './read-tool-choice.ts';
import { readTools } from './read-tools.ts';
import { refuseCachedContent } from './refuse-cached-content.ts';

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
