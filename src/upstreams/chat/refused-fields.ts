// How services of this wire refuse a field, and what of a request may be left out.

import type { JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { CHAT_WIRE } from '../../wire/chat.ts';
import type { FieldRules } from '../refused-fields.ts';
import { effortsAmong, nearestWord, whyNearest } from './reasoning.ts';

/**
 * "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
 * "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
 * "Unknown parameter: 'messages[1].tool_calls[0].index'.", "Unrecognized request argument supplied: reasoning_effort"
 * (OpenAI, Azure), "invalid temperature: only 1 is allowed for this model" (Moonshot), "'messages.2' : for
 * 'role:assistant' the following must be satisfied[('messages.2' : property 'status' is unsupported, did you mean
 * 'name'?)]", "`reasoning_effort` must be one of `none` or `default`" (Groq), "Argument not supported on this model:
 * presencePenalty" (xAI), "messages.0.user.name: Extra inputs are not permitted" and the same as a list of `loc` and
 * `msg` (Mistral, vLLM), "reasoning_effort: unknown variant `minimal`, expected one of `low`, `high`" (DeepSeek).
 */
const REFUSALS = [
  /Unsupported (?:parameter|value): '(?<path>[\w.[\]]+)' (?:is not supported|does not support)/,
  /Unknown parameter: '(?<path>[\w.[\]]+)'/,
  /Unrecognized request arguments? supplied: (?<path>\w+)/,
  /^invalid (?<path>\w+): only [\d.]+ is allowed/,
  /'(?<path>messages\.\d[\w.]*' : property '\w+)' is unsupported/,
  /\bproperty '(?<path>[\w.]+)' is unsupported/,
  /\b(?<path>[\w.]+): Extra inputs are not permitted/,
  /["']loc["']: ?[[(](?<path>[^)\]]*)[)\]], ?["']msg["']: ?["']Extra inputs/,
  /(?<path>\w+)[`'"]? is not supported with this model\b/,
  /\b(?<path>reasoning_effort)(?:[`'"]? must be one of|: unknown variant)\b/,
  /\b(?:Argument not supported on this model:|does not support parameter) (?<path>\w+)/,
];

const NEEDED: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'tools', 'tool_choice', 'functions', 'function_call', 'n'],
  ...['response_format', 'modalities', 'audio', 'role', 'content', 'refusal', 'prefix'],
  ...['tool_calls', 'tool_call_id', 'id', 'type'],
  // Where a service looks things up, and who may see the request.
  ...['web_search_options', 'search_parameters', 'documents', 'plugins', 'provider'],
]);

const EFFORT = /^reasoning(?:_effort|\.effort)$/;

export const CHAT_FIELDS: FieldRules = {
  wire: CHAT_WIRE,
  codes: ['unsupported_parameter', 'unsupported_value', 'unknown_parameter'],
  refusals: REFUSALS,
  taken: {
    places: EFFORT,
    words: /(?:Supported values are|must be one of|expected(?: one of)?|Input should be):? (.+)/,
  },
  otherNames: new Map([
    ['max_tokens', 'max_completion_tokens'],
    ['max_completion_tokens', 'max_tokens'],
  ]),
  // "Your organization must be verified to stream this model." (OpenAI): an answer may come whole.
  besides: new Map([['stream', ['stream_options', 'tool_stream']]]),
  ofAccounts: new Set(['stream']),
  places:
    /^(?:(?:messages\[\](?:\.(?:content|tool_calls)\[\])?|tools\[\]|stream_options|reasoning)\.)?\w+$/,
  // A part and a tool hold what they are in the field that is called like their type.
  isNeeded: (field: string, holder: JsonObject) => NEEDED.has(field) || holder.type === field,
  nearest(value, words) {
    const [wanted] = effortsAmong([value]);
    // A word nobody knows is the client's mistake.
    if (wanted === undefined) return undefined;
    const word = nearestWord(wanted, effortsAmong(words));
    return word === undefined ? 'refused' : { word, reason: whyNearest(wanted, word) };
  },
  tellDropped(place, isRelayed) {
    if (place === 'stream') return WHOLE;
    // Translated answers are cut at stop sequences here.
    return place === 'stop' && !isRelayed ? STOPS_HERE : undefined;
  },
  ruleWord: (place) => (EFFORT.test(place) ? 'thinking' : undefined),
};

const STOPS_HERE = {
  action: 'approximated',
  reason: told`The upstream takes ${0} stop sequences; the gateway cuts the answer at the others.`,
} as const;

const WHOLE = {
  action: 'approximated',
  reason: told`The upstream does not stream this answer: it comes whole.`,
} as const;
