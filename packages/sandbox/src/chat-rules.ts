// What a request of the Chat wire must satisfy: its shape, then its meaning, topic by topic. The first fault ends the check.

import {
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  type ChatTool,
  chatShape,
  EMBEDDINGS_SHAPE,
  type EmbeddingsRequest,
  nameOfTool,
  partsOfMessage,
} from './chat-wire.ts';
import { isJsonObject, type JsonObject, type JsonValue, written } from './json.ts';
import { findLaxness, findSchemaFault, placesOf, type SchemaPath, typesOf } from './json-schema.ts';
import { BASE64, DATA_URL, sniffMediaType } from './media-bytes.ts';
import { findFault, type Shape, type ShapeFault, type Step } from './shapes.ts';
import type { Seals } from './state.ts';
import { WireError } from './wire-errors.ts';
import type { ChatModel } from './wire-models.ts';
import { readSealedThought } from './write-chat.ts';

/** @throws WireError 400 naming the first parameter that is not as the wire has it. */
export function readChatRequest(body: JsonValue, model: ChatModel): ChatRequest {
  requireShape(body, chatShape(model));
  // The one narrowing: the shape was just checked, and the interface says the same of it.
  return body as unknown as ChatRequest;
}

/** @throws WireError 400 */
export function readEmbeddingsRequest(body: JsonValue): EmbeddingsRequest {
  requireShape(body, EMBEDDINGS_SHAPE);
  // The one narrowing of its kind, as above.
  const request = body as unknown as EmbeddingsRequest;
  if (!isEmbeddable(request.input)) {
    refuse("'$.input' is invalid. Please check the API reference.", 'input', null);
  }
  return request;
}

function isEmbeddable(input: EmbeddingsRequest['input']): boolean {
  const isToken = (value: unknown): boolean => Number.isInteger(value);
  if (typeof input === 'string') return input !== '';
  return (
    input.every((item) => typeof item === 'string' && item !== '') ||
    input.every(isToken) ||
    input.every((item) => Array.isArray(item) && item.length > 0 && item.every(isToken))
  );
}

/** @throws WireError 400 */
export function checkChatRequest(request: ChatRequest, model: ChatModel, seals: Seals): void {
  checkMessages(request, seals);
  checkReasoningBack(request, model);
  checkTools(request);
  checkCompanions(request);
  checkLimits(request, model);
  checkModel(request, model);
  checkResponseFormat(request);
}

/** @throws WireError 400 */
function refuse(message: string, param: string | null, code: string | null): never {
  throw new WireError(400, message, { param, code });
}

/** @throws WireError 400 naming what has another shape. */
export function requireShape(value: JsonValue, shape: Shape): void {
  const fault = findFault(value, shape);
  if (fault !== undefined) throw shapeError(fault);
}

function pathOf(steps: readonly Step[]): string {
  let path = '';
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`;
    else if (typeof step === 'string') path += path === '' ? step : `.${step}`;
  }
  return path;
}

/** The words and codes of the real service. */
function shapeError(fault: ShapeFault): WireError {
  const param = pathOf(fault.path);
  const error = (code: string, message: string) => new WireError(400, message, { param, code });
  switch (fault.kind) {
    case 'unknown-field':
      return fault.path.length === 1
        ? new WireError(400, `Unrecognized request argument supplied: ${param}`)
        : error('unknown_parameter', `Unknown parameter: '${param}'.`);
    case 'missing-field':
      return error('missing_required_parameter', `Missing required parameter: '${param}'.`);
    case 'wrong-type': {
      const what = `expected ${EXPECTED[fault.shape.kind]}, but got ${describeKind(fault.value)} instead.`;
      return error('invalid_type', `Invalid type for '${param}': ${what}`);
    }
    case 'unknown-word':
    case 'unknown-tag': {
      const supported = fault.words.map((word) => `'${word}'`).join(', ');
      return error(
        'invalid_value',
        `Invalid value: '${written(fault.value)}'. Supported values are: ${supported}.`,
      );
    }
    case 'wrong-pattern':
      return error(
        'invalid_value',
        `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '${fault.pattern.source}'.`,
      );
    case 'too-small':
    case 'too-large':
      return error(...describeSize(fault, param));
    default:
      return fault satisfies never;
  }
}

const EXPECTED: Readonly<Record<Shape['kind'], string>> = {
  any: 'a value',
  text: 'a string',
  whole: 'an integer',
  number: 'a decimal',
  flag: 'a boolean',
  word: 'a string',
  object: 'an object',
  list: 'an array of objects',
  'text-or': 'one of a string or array of objects',
  fields: 'an object',
  tagged: 'an object',
};

function describeKind(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (isJsonObject(value)) return 'an object';
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'boolean') return 'a boolean';
  return Number.isInteger(value) ? 'an integer' : 'a decimal';
}

function describeSize(
  fault: Extract<ShapeFault, { kind: 'too-small' | 'too-large' }>,
  param: string,
): [code: string, message: string] {
  const { kind, limit, shape } = fault;
  const isLarge = kind === 'too-large';
  if (shape.kind === 'list') {
    const side = isLarge ? 'maximum' : 'minimum';
    return [
      isLarge ? 'array_above_max_length' : 'empty_array',
      `Invalid '${param}': ${isLarge ? 'array too long' : 'empty array'}. Expected an array with ${side} length ${limit}.`,
    ];
  }
  if (shape.kind === 'text') {
    const what = `string too long. Expected a string with maximum length ${limit}.`;
    return ['string_above_max_length', `Invalid '${param}': ${what}`];
  }
  const word = shape.kind === 'whole' ? 'integer' : 'decimal';
  const side = isLarge ? 'above_max_value' : 'below_min_value';
  const what = `Expected a value ${isLarge ? '<=' : '>='} ${limit}.`;
  return [
    `${word}_${side}`,
    `Invalid '${param}': ${word} ${isLarge ? 'above maximum' : 'below minimum'} value. ${what}`,
  ];
}

/** Calls of one assistant message that still lack their results. */
interface OpenCalls {
  readonly open: Set<string | undefined>;
  readonly answered: Set<string | undefined>;
}

function checkMessages({ messages }: ChatRequest, seals: Seals): void {
  const seen = new Set<string>();
  let calls: OpenCalls | undefined;
  for (const [index, message] of messages.entries()) {
    for (const [position, part] of partsOfMessage(message).entries()) {
      checkPart(part, `messages[${index}].content[${position}]`);
    }
    if (message.role === 'tool') {
      checkResult(message, calls, index);
      continue;
    }
    requireAnswered(calls, index);
    calls = undefined;
    if (message.role !== 'assistant') continue;
    checkAssistant(message, index, seals);
    if (message.tool_calls === undefined) continue;
    for (const [position, { id }] of message.tool_calls.entries()) {
      if (seen.has(id)) {
        const param = `messages[${index}].tool_calls[${position}].id`;
        refuse(`Duplicate value for 'id' of '${id}' in tool_calls`, param, 'invalid_value');
      }
      seen.add(id);
    }
    calls = { open: new Set(message.tool_calls.map(({ id }) => id)), answered: new Set() };
  }
  requireAnswered(calls, messages.length - 1);
}

function checkAssistant(message: ChatMessage, index: number, seals: Seals): void {
  const { content, tool_calls: calls, refusal, reasoning_content: thought } = message;
  if (content == null && calls === undefined && !refusal) {
    const what = "Invalid value for 'content': expected a string, got null.";
    refuse(what, `messages.[${index}].content`, null);
  }
  if (thought && readSealedThought(thought, seals) === undefined) {
    const param = `messages[${index}].reasoning_content`;
    refuse(`Invalid '${param}': it was not issued here, or changed.`, param, 'invalid_value');
  }
}

function checkResult(
  { tool_call_id: id }: ChatMessage,
  calls: OpenCalls | undefined,
  index: number,
) {
  if (calls === undefined) {
    const what =
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    refuse(what, `messages.[${index}].role`, null);
  }
  const param = `messages.[${index}].tool_call_id`;
  if (calls.answered.has(id)) {
    refuse(`Duplicate value for 'tool_call_id' of '${id}'`, param, 'invalid_value');
  }
  if (!calls.open.delete(id)) {
    const what = `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`;
    refuse(what, param, null);
  }
  calls.answered.add(id);
}

function requireAnswered(calls: OpenCalls | undefined, index: number): void {
  if (calls === undefined || calls.open.size === 0) return;
  const what = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...calls.open].join(', ')}`;
  refuse(what, `messages.[${index}].role`, null);
}

function checkPart({ image_url: image, input_audio: audio, file }: ChatPart, at: string): void {
  if (image !== undefined) checkImage(image.url, `${at}.image_url.url`);
  if (audio !== undefined && (audio.data === '' || !BASE64.test(audio.data))) {
    const param = `${at}.input_audio.data`;
    const what = `Invalid '${param}'. Expected a base64-encoded string.`;
    refuse(what, param, 'invalid_value');
  }
  if (file !== undefined) checkFile(file, `${at}.file`);
}

function checkImage(url: string, param: string): void {
  const [, type = '', data] = DATA_URL.exec(url) ?? [];
  if (data === undefined) {
    if (/^https?:\/\/[^/\s]+/.test(url)) return;
    const what = `Invalid '${param}'. Expected a valid URL, but got a value with an invalid format.`;
    refuse(what, param, 'invalid_value');
  }
  if (!BASE64.test(data)) refuse('Invalid base64 image_url.', param, 'invalid_base64');
  const found = sniffMediaType(data);
  if (!type.startsWith('image/') || found?.startsWith('image/') !== true) {
    const what =
      "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].";
    refuse(what, null, 'invalid_image_format');
  }
}

function checkFile({ file_data: data, file_id: id }: NonNullable<ChatPart['file']>, at: string) {
  if (id !== undefined) {
    refuse('The sandbox keeps no files; send file_data.', `${at}.file_id`, 'invalid_value');
  }
  if (data === undefined) {
    const param = `${at}.file_id`;
    refuse(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  const inner = DATA_URL.exec(data)?.[2];
  if (inner !== undefined && BASE64.test(inner)) return;
  const param = `${at}.file_data`;
  const what = `Invalid '${param}'. Expected a base64-encoded data URL with a file MIME type.`;
  refuse(what, param, 'invalid_value');
}

/** The running tool loop must bring back what the model thought in it. */
function checkReasoningBack({ messages }: ChatRequest, { wantsReasoning }: ChatModel): void {
  if (wantsReasoning !== true) return;
  const turn = messages.findLastIndex(({ role }) => role === 'user');
  const missing = messages.findIndex(
    ({ tool_calls: calls, reasoning_content: thought }, index) =>
      index > turn && calls !== undefined && thought == null,
  );
  if (missing < 0) return;
  const what = `Missing \`reasoning_content\` field in the assistant message at message index ${missing}.`;
  refuse(what, null, 'invalid_request_error');
}

function checkTools({ tools, tool_choice: choice, ...request }: ChatRequest): void {
  for (const [index, tool] of (tools ?? []).entries()) checkTool(tool, index);
  for (const [name, value] of [
    ['tool_choice', choice],
    ['parallel_tool_calls', request.parallel_tool_calls],
  ] as const) {
    if (value === undefined || tools !== undefined) continue;
    const what = `Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`;
    refuse(what, name, null);
  }
  const names = (tools ?? []).map(nameOfTool);
  if (typeof choice === 'string') {
    if (['none', 'auto', 'required'].includes(choice)) return;
    const what = `Invalid value: '${choice}'. Supported values are: 'none', 'auto', and 'required'.`;
    refuse(what, 'tool_choice', 'invalid_value');
  }
  const wanted =
    choice === undefined
      ? []
      : (choice.allowed_tools?.tools.map(nameOfTool) ?? [nameOfTool(choice)]);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const what = `Invalid value for 'tool_choice': Tool choice '${unknown}' not found in 'tools' parameter.`;
  refuse(what, 'tool_choice', null);
}

function checkTool({ function: plain }: ChatTool, index: number): void {
  if (plain === undefined) return;
  const { name, parameters, strict } = plain;
  const param = `tools[${index}].function.parameters`;
  const subject = { what: `function '${name}'`, param, code: 'invalid_function_parameters' };
  const isStrict = strict === true;
  if (parameters !== undefined) checkSchema(parameters, { ...subject, isStrict });
  else if (isStrict) {
    const what = "'additionalProperties' is required to be supplied and to be false.";
    refuse(`Invalid schema for ${subject.what}: In context=(), ${what}`, param, subject.code);
  }
}

interface SchemaSubject {
  readonly what: string;
  readonly param: string;
  readonly code: string | null;
  readonly isStrict: boolean;
}

function checkSchema(schema: JsonObject, { what, param, code, isStrict }: SchemaSubject): void {
  const no = (path: SchemaPath, why: string): never => {
    const steps = path.map((step) => (typeof step === 'number' ? step : `'${step}'`)).join(', ');
    return refuse(`Invalid schema for ${what}: In context=(${steps}), ${why}`, param, code);
  };
  if (schema.type !== 'object') {
    const given = schema.type === undefined ? '"None"' : JSON.stringify(schema.type);
    const why = `schema must be a JSON Schema of 'type: "object"', got 'type: ${given}'.`;
    refuse(`Invalid schema for ${what}: ${why}`, param, code);
  }
  const fault = findSchemaFault(schema);
  if (fault !== undefined) no(fault.path, `${fault.what}.`);
  const bare = placesOf(schema).find(
    (place) =>
      typesOf(place.schema).includes('array') &&
      place.schema.items === undefined &&
      place.schema.prefixItems === undefined,
  );
  if (bare !== undefined) no(bare.path, 'array schema missing items.');
  if (!isStrict && schema.properties === undefined && schema.additionalProperties === undefined) {
    no([], 'object schema missing properties.');
  }
  const lax = isStrict ? findLaxness(schema) : undefined;
  if (lax !== undefined) no(lax.path, lax.what);
}

/** Parameters that mean something beside another alone. */
function checkCompanions(request: ChatRequest): void {
  const only = (name: string, other: string): never =>
    refuse(`The '${name}' parameter is only allowed when '${other}' is enabled.`, name, null);
  if (request.stream_options && !request.stream) only('stream_options', 'stream');
  if (request.top_logprobs != null && !request.logprobs) only('top_logprobs', 'logprobs');
  if (request.metadata && !request.store) only('metadata', 'store');
  if (request.max_tokens != null && request.max_completion_tokens != null) {
    const what =
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
    refuse(what, 'max_tokens', 'invalid_parameter_combination');
  }
}

const MAX_PAIRS = 16;

function checkLimits(request: ChatRequest, { outputTokenLimit }: ChatModel): void {
  for (const name of ['max_tokens', 'max_completion_tokens'] as const) {
    const asked = request[name] ?? 0;
    if (asked <= outputTokenLimit) continue;
    const what = `${name} is too large: ${asked}. This model supports at most ${outputTokenLimit} completion tokens, whereas you provided ${asked}.`;
    refuse(what, name, 'invalid_value');
  }
  const pairs = Object.entries(request.metadata ?? {});
  if (pairs.length > MAX_PAIRS) {
    const what = `Invalid 'metadata': too many properties. Expected an object with at most ${MAX_PAIRS} properties.`;
    refuse(what, 'metadata', 'object_above_max_properties');
  }
  const odd = pairs.find(([key, value]) => key.length > 64 || String(value).length > 512);
  if (odd !== undefined || pairs.some(([, value]) => typeof value !== 'string')) {
    refuse("Invalid 'metadata': values must be strings.", 'metadata', 'invalid_type');
  }
  for (const [token, bias] of Object.entries(request.logit_bias ?? {})) {
    if (/^\d+$/.test(token) && typeof bias === 'number' && Math.abs(bias) <= 100) continue;
    refuse(`Invalid key or value in 'logit_bias': ${token}.`, 'logit_bias', 'invalid_value');
  }
}

/** platform.openai.com, "Reasoning models": what they do not take. */
const NOT_FOR_REASONING = [
  ...(['max_tokens', 'stop', 'logprobs', 'logit_bias'] as const),
  ...(['presence_penalty', 'frequency_penalty'] as const),
] as const satisfies readonly (keyof ChatRequest)[];

function checkModel(request: ChatRequest, model: ChatModel): void {
  const { temperature, top_p: topP, reasoning_effort: effort, verbosity } = request;
  if (request.web_search_options !== undefined) {
    refuse('Web search options not supported with this model.', 'web_search_options', null);
  }
  if (model.hidesReasoning !== true) {
    if (effort != null && model.thinking === undefined) {
      refuse('Unrecognized request argument supplied: reasoning_effort', null, null);
    }
    if (verbosity != null && verbosity !== 'medium') {
      const what = `Unsupported value: 'verbosity' does not support '${verbosity}' with this model.`;
      refuse(what, 'verbosity', 'unsupported_value');
    }
    return;
  }
  const unfit = NOT_FOR_REASONING.find((name) => request[name]);
  if (unfit !== undefined) {
    const hint = unfit === 'max_tokens' ? " Use 'max_completion_tokens' instead." : '';
    const what = `Unsupported parameter: '${unfit}' is not supported with this model.${hint}`;
    refuse(what, unfit, 'unsupported_parameter');
  }
  for (const [name, value] of [
    ['temperature', temperature],
    ['top_p', topP],
  ] as const) {
    if (value == null || value === 1) continue;
    const what = `Unsupported value: '${name}' does not support ${value} with this model. Only the default (1) value is supported.`;
    refuse(what, name, 'unsupported_value');
  }
}

function checkResponseFormat({ response_format: format, messages }: ChatRequest): void {
  if (format?.type === 'json_schema') {
    const { name, schema, strict } = format.json_schema ?? { name: '' };
    if (schema === undefined) {
      const param = 'response_format.json_schema.schema';
      refuse(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
    }
    const what = `response_format '${name}'`;
    const isStrict = strict === true;
    checkSchema(schema, { what, param: 'response_format', code: null, isStrict });
  }
  if (format?.type !== 'json_object') return;
  if (/json/i.test(JSON.stringify(messages.map(({ content }) => content ?? '')))) return;
  const what =
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  refuse(what, 'messages', null);
}
