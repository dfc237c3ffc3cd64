// Fits a chat completion request to one upstream and model: other names, fewer fields, each loss noted. Of both lanes.

import { createHash } from 'node:crypto';
import type { ReasoningAmount } from '../../canonical/effort.ts';
import type { OutputFormat } from '../../canonical/request.ts';
import { formatInWords, INSTRUCTION_MARKED, markInstruction } from '../../canonical/text-forms.ts';
import { createIds } from '../../canonical/tool-names.ts';
import { mapItems, unlessSame } from '../../lib/collections.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import type { Conflict } from '../refused-fields.ts';
import {
  FORCED_CALL,
  MISSES_THOUGHTS,
  REFUSES_FORCED_CALL,
  THOUGHTS_MISSED,
} from '../wire-parts.ts';
import { isStrictSchema } from './encode-tools.ts';
import { type FitContext, type ModelTraits, traitsOf } from './models.ts';
import type { ChatQuirks } from './profiles.ts';
import {
  effortsAmong,
  encodeEffort,
  fieldsOf,
  isOff,
  whyNearest,
  withAmount,
} from './reasoning.ts';

/** Makes of the body, which is nobody else's, what is sent, but for `stream`. */
export function fitBody(body: JsonObject, amount: ReasoningAmount, context: FitContext): void {
  const { quirks } = context.profile;
  const traits = traitsOf(quirks, context.target.modelId);
  const effort = encodeEffort(amount, traits, context);
  fitLimit(body, traits, context);
  if (effort.word !== 'none' && !isOff(body)) fitThoughts(body, context);
  fitContents(body, context);
  fitRoles(body, traits, context);
  fitFormat(body, context);
  fitTools(body, traits, context);
  fitSampling(body, { traits, isThinking: effort.word !== 'none' }, context);
  fitCallIds(body, quirks.callIds);
  Object.assign(body, effort.fields);
  addExtra(body, quirks.extraBody);
}

/** The newer name wins over the deprecated one; clients ask for as much as the model they think of writes. */
function fitLimit(body: JsonObject, { limitField }: ModelTraits, { target }: FitContext): void {
  const { max_completion_tokens: newer = null, max_tokens: older = null } = body;
  const limit = newer ?? older;
  if (newer !== null && older !== null && newer !== older) {
    const reason = told`${'max_completion_tokens'} says something else and takes precedence.`;
    target.receipt.add('dropped', 'max_tokens', reason);
  }
  delete body.max_completion_tokens;
  delete body.max_tokens;
  if (limit === null) return;
  const { outputTokenLimit: most } = target.capabilities;
  const isCapped = typeof limit === 'number' && limit > most;
  if (isCapped) {
    target.receipt.add('capped', 'max_tokens', told`This model writes at most ${most} tokens.`);
  }
  body[limitField] = isCapped ? most : limit;
}

function fitRoles(body: JsonObject, { reasons }: ModelTraits, context: FitContext): void {
  const isDeveloper = context.profile.quirks.instructionsRole === 'developer';
  const role = isDeveloper && reasons === true ? 'developer' : 'system';
  mapMessages(body, (message) => {
    if (message.role === role) return message;
    const isOther = message.role === 'developer' || message.role === 'system';
    // A client's own word stays where both are taken.
    return isOther && !(isDeveloper && context.isRelayed) ? { ...message, role } : message;
  });
}

/** Turns whose thoughts nobody knows any more, or that another model made. */
function fitThoughts(body: JsonObject, { target, profile: { quirks } }: FitContext): void {
  const { sendsReasoning: field, wantsReasoning, wantsReasoningOfAnswers } = quirks;
  if (wantsReasoning === undefined || field === undefined || field === 'as-told') return;
  const ofAnswers = wantsReasoningOfAnswers === true && itemsOf(body.tools).length > 0;
  mapMessages(body, (message) => {
    const isCall = Array.isArray(message.tool_calls);
    if (!isCall && !(ofAnswers && message.role === 'assistant')) return message;
    const kept = message[field];
    if (typeof kept === 'string' && (kept !== '' || wantsReasoning === '')) return message;
    target.receipt.add('repaired', 'messages', isCall ? CALL_ALONE : ANSWER_ALONE);
    return { ...message, [field]: wantsReasoning };
  });
}

const CALL_ALONE = told`A tool call without the thoughts before it was sent with empty ones.`;
const ANSWER_ALONE = told`An answer without the thoughts before it was sent with empty ones.`;

function fitContents(body: JsonObject, { profile }: FitContext): void {
  if (profile.quirks.takesNullContent) return;
  mapMessages(body, (message) =>
    message.content === null ? { ...message, content: '' } : message,
  );
}

/** A field that is left out, where it says more than the upstream does anyway. */
function drop(
  body: JsonObject,
  field: string,
  { target }: FitContext,
  { usual, reason }: { readonly usual?: JsonValue; readonly reason: Sentence },
): void {
  const value = body[field];
  if (value === undefined) return;
  delete body[field];
  if (value !== null && value !== usual) target.receipt.add('dropped', field, reason);
}

interface Sampled {
  readonly traits: ModelTraits;
  /** False where the model is told not to: it then takes settings that it refuses else. */
  readonly isThinking: boolean;
}

const PENALTIES = ['presence_penalty', 'frequency_penalty'] as const;
const LOGPROBS = ['logprobs', 'top_logprobs'] as const;
// Made once: most requests have nothing that is left out.
const NO_SAMPLING = told`This model reasons and takes no settings of sampling.`;
const NO_PENALTIES = told`This model takes no penalties.`;
const NO_LOGPROBS = told`This model gives no log-probabilities.`;
const NO_TOP_K = told`The upstream has no top_k.`;
const NO_TIER = told`The upstream has no such service tier.`;
const ONE_ANSWER = told`The upstream gives one answer per request.`;
const NO_SEED = told`The upstream takes no seed.`;
const NO_SEARCH = told`This model does not search the web.`;

function fitSampling(body: JsonObject, { traits, isThinking }: Sampled, context: FitContext): void {
  const { quirks } = context.profile;
  const isFixed = traits.refusesSampling && isThinking;
  if (isFixed) {
    drop(body, 'temperature', context, { usual: 1, reason: NO_SAMPLING });
    drop(body, 'top_p', context, { usual: 1, reason: NO_SAMPLING });
    drop(body, 'logit_bias', context, { reason: NO_SAMPLING });
  }
  if (isFixed || !quirks.takesPenalties) {
    for (const field of PENALTIES) drop(body, field, context, { usual: 0, reason: NO_PENALTIES });
  }
  if (isFixed || !quirks.takesLogprobs) {
    for (const field of LOGPROBS) drop(body, field, context, { usual: false, reason: NO_LOGPROBS });
    if (!quirks.takesLogprobs) drop(body, 'logit_bias', context, { reason: NO_LOGPROBS });
  }
  if (!quirks.takesTopK) drop(body, 'top_k', context, { reason: NO_TOP_K });
  if (!quirks.takesServiceTier) {
    drop(body, 'service_tier', context, { usual: 'auto', reason: NO_TIER });
  }
  if (!quirks.takesChoices) drop(body, 'n', context, { usual: 1, reason: ONE_ANSWER });
  fitSeed(body, context);
  fitStops(body, isFixed ? 0 : quirks.maxStops, context);
}

function fitSeed(body: JsonObject, context: FitContext): void {
  const { seedField } = context.profile.quirks;
  if (seedField !== 'random_seed' && body.random_seed !== undefined) {
    body.seed ??= body.random_seed;
    delete body.random_seed;
  }
  if (seedField === 'seed' || body.seed === undefined) return;
  if (seedField === undefined) {
    drop(body, 'seed', context, { reason: NO_SEED });
    return;
  }
  body[seedField] = body.seed;
  delete body.seed;
}

/** Translated answers are cut at all of them here; a relayed one at those alone that the upstream knows. */
function fitStops(body: JsonObject, most: number, context: FitContext): void {
  const stops = typeof body.stop === 'string' ? [body.stop] : itemsOf(body.stop);
  if (stops.length <= most) return;
  const { receipt } = context.target;
  if (context.isRelayed) {
    receipt.add('dropped', 'stop', told`The upstream takes ${most} stop sequences.`);
  } else {
    const reason = told`The upstream takes ${most} stop sequences; the gateway cuts the answer at the others.`;
    receipt.add('approximated', 'stop', reason);
  }
  if (most === 0) delete body.stop;
  else body.stop = stops.slice(0, most);
}

function fitTools(body: JsonObject, traits: ModelTraits, context: FitContext): void {
  const { quirks } = context.profile;
  const hasTools = itemsOf(body.tools).length > 0;
  if (!hasTools) {
    // An empty list is refused, and so is what speaks of tools that are not there. That a call is demanded stays: it cannot be made.
    for (const field of ['tools', 'parallel_tool_calls']) delete body[field];
    if (!demandsCall(body)) delete body.tool_choice;
  } else body.tools = itemsOf(body.tools).map((tool, at) => fitTool(tool, at, context));
  fitChoice(body, context);
  // Who asks for one call at a time is not relayed there.
  if (!traits.takesParallelToolCalls) delete body.parallel_tool_calls;
  if (!quirks.takesWebSearch || !traits.searches) {
    drop(body, 'web_search_options', context, { reason: NO_SEARCH });
  }
}

function demandsCall({ tool_choice: choice }: JsonObject): boolean {
  const mode = objectOf(objectOf(choice)?.allowed_tools)?.mode ?? choice;
  return (mode ?? null) !== null && !['auto', 'none', HELD].includes(textOf(mode) ?? '');
}

/** A word of this gateway: calls are optional there, but must match their schema, as those of strict functions do. */
const HELD = 'validated';

function fitChoice(body: JsonObject, { target }: FitContext): void {
  // "any" is Mistral's word beside "required"; clients of Hugging Face leave the type out.
  if (body.tool_choice === 'any') body.tool_choice = 'required';
  const named = objectOf(body.tool_choice);
  if (named?.type === undefined && named?.function !== undefined) {
    body.tool_choice = { type: 'function', ...named };
  }
  const { tool_choice: choice } = body;
  const allowed = objectOf(objectOf(choice)?.allowed_tools);
  if (choice !== HELD && allowed?.mode !== HELD) return;
  body.tool_choice =
    choice === HELD
      ? 'auto'
      : { type: 'allowed_tools', allowed_tools: { ...allowed, mode: 'auto' } };
  const isHeld = objectsOf(body.tools).every((tool) => objectOf(tool.function)?.strict === true);
  if (!isHeld) target.receipt.add('approximated', 'tool_choice', NOT_ENFORCED);
}

const NOT_ENFORCED = told`Strict schemas are followed, but not enforced.`;

function fitTool(tool: JsonValue, at: number, context: FitContext): JsonValue {
  const holder = isJsonObject(tool) ? objectOf(tool.function) : undefined;
  if (!isJsonObject(tool) || holder?.strict !== true) return tool;
  const { takesStrict } = context.profile.quirks;
  if (takesStrict && isStrictSchema(holder.parameters)) return tool;
  const { strict: _strict, ...loose } = holder;
  context.target.receipt.add('approximated', `tools[${at}]`, NOT_ENFORCED);
  return { ...tool, function: loose };
}

function fitFormat(body: JsonObject, context: FitContext): void {
  const format = objectOf(body.response_format);
  const { responseFormat, ownFields } = context.profile.quirks;
  if (format === undefined || !isOfJson(format)) return;
  const holder = schemaHolderIn(format);
  const schema = objectOf(holder?.schema);
  if (holder !== undefined && schema !== undefined) {
    // Whether a service of which nothing is known takes words that are not this wire's, it says itself.
    const isOther = holder !== format.json_schema && ownFields === undefined;
    if (isOther && responseFormat === 'json-schema') return;
    if (responseFormat === 'json-schema' || responseFormat === 'schema-alone') {
      fitSchemaFormat(body, { holder, schema }, context);
      return;
    }
    if (responseFormat === 'object-schema') {
      body.response_format = { type: 'json_object', schema };
      return;
    }
    tellFormat(body, { kind: 'json-schema', schema }, context);
    body.response_format = { type: 'json_object' };
    return;
  }
  if (responseFormat === 'schema-alone') {
    const json_schema = { name: 'answer', schema: { type: 'object' } };
    body.response_format = { type: 'json_schema', json_schema };
  } else if (!/json/i.test(JSON.stringify(body.messages))) {
    // The wire refuses the format where no message speaks of JSON.
    tellFormat(body, { kind: 'json' }, context);
  }
}

/** Others than text, such as a grammar, are the service's own. */
function isOfJson({ type, value }: JsonObject): boolean {
  return type === 'json_object' || type === 'json_schema' || isJsonObject(value);
}

/** Also in the words of Hugging Face's server: huggingface.co/docs/text-generation-inference, "Guidance". */
function schemaHolderIn({ type, json_schema: holder, value }: JsonObject): JsonObject | undefined {
  if (!isJsonObject(value)) return type === 'json_schema' ? objectOf(holder) : undefined;
  return { name: 'answer', schema: objectOf(value.schema) ?? value };
}

function fitSchemaFormat(
  body: JsonObject,
  { holder, schema }: { readonly holder: JsonObject; readonly schema: JsonObject },
  context: FitContext,
): void {
  if (schema.type !== 'object') {
    // The wire takes objects alone at the root.
    tellFormat(body, { kind: 'json-schema', schema }, context);
    delete body.response_format;
    return;
  }
  const { strict, ...named } = holder;
  // Other protocols hold answers to a schema without saying so.
  const isWanted = context.isRelayed ? strict === true : strict !== false;
  const isStrict = isWanted && isStrictSchema(schema);
  if (strict === true && !isStrict) {
    context.target.receipt.add('approximated', 'response_format', NOT_ENFORCED);
  }
  const json_schema = isStrict ? { ...named, strict: true } : named;
  body.response_format = { type: 'json_schema', json_schema };
}

function tellFormat(body: JsonObject, format: OutputFormat, { target }: FitContext): void {
  const reason = told`The upstream takes no such output format: the model is told it in words.`;
  target.receipt.add('approximated', 'response_format', reason);
  const messages = [...itemsOf(body.messages)];
  const words = formatInWords(format);
  const [first] = messages;
  const isInstruction =
    isJsonObject(first) && (first.role === 'system' || first.role === 'developer');
  const before = isInstruction ? textOf(first.content) : undefined;
  if (isInstruction && before !== undefined) {
    messages[0] = { ...first, content: `${before}\n\n${words}` };
  } else messages.unshift({ role: 'system', content: words });
  body.messages = messages;
}

/** What the operator adds to every request wins; members of objects are put together. */
function addExtra(body: JsonObject, extra: JsonObject): void {
  for (const [key, value] of Object.entries(extra)) {
    const own = body[key];
    body[key] = isJsonObject(own) && isJsonObject(value) ? { ...own, ...value } : value;
  }
}

/** The most tokens an encoded body allows, thinking included. */
export function outputLimit(body: JsonObject): number | undefined {
  const limit = body.max_completion_tokens ?? body.max_tokens;
  return typeof limit === 'number' ? limit : undefined;
}

/** The same body with a limit of so many tokens at most, in the field that it has or the model takes. */
export function limitOutput(
  body: JsonObject,
  most: number,
  limitField: ModelTraits['limitField'],
): JsonObject {
  const limit = outputLimit(body);
  return limit !== undefined && limit <= most ? body : { ...body, [limitField]: most };
}

export function mapMessages(body: JsonObject, map: (message: JsonObject) => JsonObject): void {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  body.messages = mapItems(messages, (one) => (isJsonObject(one) ? map(one) : one));
}

/**
 * "Reasoning is mandatory for this endpoint and cannot be disabled." (OpenRouter), "This model always engages in thinking
 * and cannot be disabled; please use low, high, or max" (Z.ai)
 */
const ALWAYS_THINKS =
  /\b(?:reasoning is mandatory|always engages in thinking)\b.{0,40}\bcannot be disabled\b(?:; please use (?<taken>[\w, ]+))?/i;

/**
 * "parameter.enable_thinking must be set to false for non-streaming calls", "This model only support stream mode, please
 * enable the stream parameter to access the model." (Qwen), "enable thinking can not be support when `stream=False`."
 * (ModelScope)
 */
const STREAMS_ALONE =
  /\benable_thinking must be set to false for non-streaming calls\b|\bmodel only supports? stream mode\b|\bcan ?not be support(?:ed)? when `?stream=False\b/i;

/**
 * "unknown variant `image_url`, expected `text`", "Model only supports text input" (DeepSeek), "Model do not support image
 * input" (Volcengine), "No endpoints found that support image input" (OpenRouter), "x is not a multimodal model" (vLLM)
 */
const SEES_NOTHING =
  /\bunknown variant [`'"]?image_url\b|\bmodel only supports text input\b|\bsupport image inputs?\b|\bis not a multimodal model\b/i;

/** What a model refuses as a whole or beside other things, as nothing but its refusal tells. */
export function conflictsOf(quirks: ChatQuirks): readonly Conflict[] {
  const off = quirks.thinkingSwitch?.off ?? fieldsOf('none', quirks);
  return [
    {
      words: ALWAYS_THINKS,
      resolve(body, taken) {
        const words = taken.length === 0 ? quirks.efforts : effortsAmong(taken);
        const least = words.find((word) => word !== 'none');
        if (least === undefined || !isOff(body)) return undefined;
        const reason = whyNearest('none', least);
        return { body: withAmount(body, fieldsOf(least, quirks)), place: AMOUNT, reason };
      },
    },
    {
      words: REFUSES_FORCED_CALL,
      resolve(body) {
        if (!demandsCall(body) || isOff(body)) return undefined;
        return { body: withAmount(body, off), place: AMOUNT, reason: FORCED_CALL };
      },
    },
    {
      words: STREAMS_ALONE,
      resolve(body) {
        if (body.stream === true) return undefined;
        const usage = quirks.takesIncludeUsage ? { stream_options: { include_usage: true } } : {};
        const how = { place: 'stream', reason: STREAMED, action: 'repaired' } as const;
        return { body: { ...body, stream: true, ...usage }, ...how };
      },
    },
    {
      words: MISSES_THOUGHTS,
      resolve(body) {
        if (isOff(body)) return undefined;
        return { body: withAmount(body, off), place: AMOUNT, reason: THOUGHTS_MISSED };
      },
      isOfRequest: true,
    },
    PICTURES_REFUSED,
    ...ORDERS,
  ];
}

/**
 * "Unexpected role 'user' after role 'tool'" (Mistral); "Conversation roles must alternate user/assistant/…", "After the
 * optional system message, conversation roles must alternate" (templates of models)
 */
const TAKES_TURNS = /\bUnexpected role 'user' after role\b|\bconversation roles must alternate\b/i;

/**
 * "System message must be at the beginning." (Qwen's templates), "Unexpected role 'system' after role 'user'" (Mistral),
 * "chat content has invalid message role: system" (MiniMax)
 */
const SYSTEM_FIRST =
  /\bsystem message must be at the beginning\b|\bUnexpected role 'system' after role\b|\binvalid message role: system\b/i;

/** "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant" (Mistral) */
const MARKS_PREFIX = /\bAssistant with prefix True\b/;

/** Which messages may follow which, as the templates of models have it. */
const ORDERS: readonly Conflict[] = [
  { words: SYSTEM_FIRST, resolve: (body) => reordered(body, systemFirst, INSTRUCTION_MARKED) },
  { words: TAKES_TURNS, resolve: (body) => reordered(body, inTurns, TURNS_TAKEN) },
  {
    words: MARKS_PREFIX,
    resolve(body) {
      const messages = itemsOf(body.messages);
      const last = objectOf(messages.at(-1));
      if (last?.role !== 'assistant' || last.prefix === true) return undefined;
      const marked = [...messages.slice(0, -1), { ...last, prefix: true }];
      const how = { place: 'messages', reason: PREFIX_MARKED, action: 'repaired' } as const;
      return { body: { ...body, messages: marked }, ...how };
    },
  },
];

const TURNS_TAKEN = told`Roles have to alternate here: user messages in a row are one, and "OK." stands behind tool results.`;
const PREFIX_MARKED = told`The beginning of an answer was marked as one.`;

function reordered(
  body: JsonObject,
  order: (messages: readonly JsonObject[]) => readonly JsonObject[],
  reason: Sentence,
): ReturnType<Conflict['resolve']> {
  const messages = objectsOf(body.messages);
  const placed = order(messages);
  if (unlessSame(placed, messages) === messages) return undefined;
  return { body: { ...body, messages: [...placed] }, place: 'messages', reason };
}

function systemFirst(messages: readonly JsonObject[]): readonly JsonObject[] {
  const start = messages.findIndex(({ role }) => role !== 'system');
  const first = start < 0 ? messages.length : start;
  return [
    ...(first < 2 ? messages.slice(0, first) : [joinedMessage(messages.slice(0, first))]),
    ...messages.slice(first).map((message) => {
      if (message.role !== 'system') return message;
      const texts = partsOf(message.content).map(({ text }) => textOf(text) ?? '');
      return { ...message, role: 'user', content: markInstruction(texts.join('\n\n')) };
    }),
  ];
}

function inTurns(messages: readonly JsonObject[]): readonly JsonObject[] {
  const turns: JsonObject[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const before = message.role === 'user' ? last?.[0]?.role : undefined;
    if (before === 'user') {
      last?.push(message);
      continue;
    }
    if (before === 'tool') turns.push([{ role: 'assistant', content: 'OK.' }]);
    turns.push([message]);
  }
  return turns.map(joinedMessage);
}

/** The first where it is alone. */
function joinedMessage(messages: readonly JsonObject[]): JsonObject {
  const [first = {}, ...others] = messages;
  if (others.length === 0) return first;
  const content = messages.flatMap((message) => partsOf(message.content));
  const isText = content.every(({ type, cache_control: mark }) => type === 'text' && !mark);
  const texts = content.map(({ text }) => textOf(text) ?? '');
  return { ...first, content: isText ? texts.join('\n\n') : content };
}

function partsOf(content: JsonValue | undefined): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
}

export const NO_PICTURES = told`The upstream takes no ${'image'} of this kind: the model is told that it is missing.`;
const MISSING_PICTURE = '[image left out: it cannot be shown to this model]';

export const PICTURES_REFUSED: Conflict = {
  words: SEES_NOTHING,
  isOfModel: true,
  resolve(body) {
    const blind = { ...body };
    mapMessages(blind, withoutPictures);
    if (blind.messages === body.messages) return undefined;
    return { body: blind, place: 'messages', reason: NO_PICTURES, action: 'dropped' };
  },
};

/** Servers without pictures refuse them, and many take texts alone: what is left is one. */
export function withoutPictures(message: JsonObject): JsonObject {
  const parts = objectsOf(message.content);
  if (!parts.some(isPicture)) return message;
  const content = parts.map((part) =>
    isPicture(part) ? { type: 'text', text: MISSING_PICTURE } : part,
  );
  const isText = content.every(({ type }) => type === 'text');
  const texts = content.map(({ text }) => textOf(text) ?? '');
  return { ...message, content: isText ? texts.join('\n\n') : content };
}

function isPicture({ type }: JsonObject): boolean {
  return type === 'image_url';
}

const AMOUNT = 'reasoning_effort';
const STREAMED = told`This model answers in streams alone: the answer was put together from one.`;

const MAX_ID_LENGTH = 40;
const NINE = /^[A-Za-z0-9]{9}$/;

/**
 * Ids are the client's business and mean nothing upstream: one that is too long, or used before, is another one there,
 * the same in every request.
 */
function fitCallIds(body: JsonObject, form: ChatQuirks['callIds']): void {
  const freeId = createIds((id, count) => digestId(`${id}#${count - 1}`, form));
  /** Several where calls of one message share an id: their results are in the order of these. */
  let sent = new Map<string, { readonly ids: string[]; next: number }>();
  mapMessages(body, (message) => {
    if (message.role === 'tool') {
      const id = textOf(message.tool_call_id) ?? '';
      const given = sent.get(id);
      const own = given?.ids[given.next] ?? takenId(id, form);
      if (given !== undefined && given.next + 1 < given.ids.length) given.next += 1;
      return own === id ? message : { ...message, tool_call_id: own };
    }
    if (!Array.isArray(message.tool_calls)) return message;
    sent = new Map();
    const calls = mapItems(message.tool_calls, (call) => {
      const id = isJsonObject(call) ? textOf(call.id) : undefined;
      if (!isJsonObject(call) || id === undefined) return call;
      const own = freeId(id, takenId(id, form));
      const given = sent.get(id);
      if (given === undefined) sent.set(id, { ids: [own], next: 0 });
      else given.ids.push(own);
      return own === id ? call : { ...call, id: own };
    });
    return calls === message.tool_calls ? message : { ...message, tool_calls: calls };
  });
}

function takenId(id: string, form: ChatQuirks['callIds']): string {
  const isTaken = form === 'nine' ? NINE.test(id) : id.length <= MAX_ID_LENGTH;
  return isTaken ? id : digestId(id, form);
}

function digestId(id: string, form: ChatQuirks['callIds']): string {
  const digest = createHash('sha256').update(id).digest('hex');
  return form === 'nine' ? digest.slice(0, 9) : `call_${digest.slice(0, 24)}`;
}
