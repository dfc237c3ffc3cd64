// Writes limits, sampling, thinking and the form of the answer.

import type { Effort, Reasoning, ReasoningAmount } from '../../canonical/effort.ts';
import { EFFORT_TOKENS, EFFORTS, effortOfTokens, tokensOfAmount } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/error.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, OutputFormat } from '../../canonical/request.ts';
import { formatInWords } from '../../canonical/text-forms.ts';
import {
  definedFields,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
} from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import type { EncodeTarget } from '../upstream.ts';
import { FORCED_CALL, THOUGHTS_MISSED } from '../wire-parts.ts';
import { MIN_BUDGET, type ModelTraits, traitsOf } from './models.ts';
import { toClosedSchema } from './schema.ts';

/** The limit that is sent: the wire demands one. */
export function encodeOutputLimit(
  { maxOutputTokens }: Pick<CanonicalRequest, 'maxOutputTokens'>,
  { modelId, capabilities: { outputTokenLimit } }: EncodeTarget,
): number {
  if (maxOutputTokens !== undefined) return Math.max(1, maxOutputTokens);
  return Math.min(traitsOf(modelId).defaultOutputTokens, outputTokenLimit);
}

/** The output limit of a body that is sent. */
export function outputLimit({ max_tokens: limit }: JsonObject): number | undefined {
  return readNumber(limit);
}

/** Thinking has to end before the answer does. */
export function limitOutput(body: JsonObject, most: number): JsonObject {
  const limit = outputLimit(body);
  if (limit !== undefined && limit <= most) return body;
  const limited: JsonObject = { ...body, max_tokens: most };
  const { thinking } = body;
  if (!isJsonObject(thinking) || (readNumber(thinking.budget_tokens) ?? 0) < most) return limited;
  if (most > MIN_BUDGET) {
    const budget_tokens = Math.max(MIN_BUDGET, Math.floor(most / 2));
    return { ...limited, thinking: { ...thinking, budget_tokens } };
  }
  delete limited.thinking;
  return limited;
}

interface EncodedThinking {
  readonly thinking?: JsonObject | undefined;
  readonly effort?: Effort | undefined;
}

const SILENT: EncodedThinking = {};
/** Said, as models of other makers behind this wire may think by themselves. */
const OFF: EncodedThinking = { thinking: { type: 'disabled' } };

/** Nothing where the model is to do as it does by itself. */
export function encodeThinking(
  { amount, showThoughts }: Reasoning,
  { limit, isForced }: { readonly limit: number; readonly isForced: boolean },
  { modelId, capabilities: { thinking }, receipt, usesPlaceholders }: EncodeTarget,
): EncodedThinking {
  if (thinking.kind === 'none' || amount.kind === 'unset') return SILENT;
  if (thinking.kind === 'level') {
    return adaptiveThinking({ amount, showThoughts }, traitsOf(modelId), receipt);
  }
  if (amount.kind === 'off') return amount.isUnasked === true ? SILENT : OFF;
  const asked = tokensOfAmount(amount, thinking.maxTokens);
  if (asked === undefined || asked <= 0) return SILENT;
  if (isForced) {
    receipt.add('approximated', 'thinking', FORCED_CALL);
    return SILENT;
  }
  if (usesPlaceholders) {
    receipt.add('approximated', 'thinking', THOUGHTS_MISSED);
    return SILENT;
  }
  const budget = manualBudget(asked, limit);
  if (budget === undefined) {
    const reason = told`Off: the output limit leaves no room for thinking.`;
    receipt.add('approximated', 'thinking', reason);
    return SILENT;
  }
  // A signature is good for the text it came with: of a thought whose text no client sees, none may be written.
  const isOmitted = showThoughts === false && traitsOf(modelId).version !== undefined;
  const display = isOmitted ? { display: 'omitted' } : {};
  return { thinking: { type: 'enabled', budget_tokens: budget, ...display } };
}

/** "Thinking may not be enabled when tool_choice forces tool use.": a manual budget, not the adaptive mode. */
export function dropBeforeForcedCall(body: JsonObject, receipt: Receipt): void {
  if (objectOf(body.thinking)?.type !== 'enabled' || !isForcedCall(body.tool_choice)) return;
  receipt.add('approximated', 'thinking', FORCED_CALL);
  delete body.thinking;
}

export function isForcedCall(choice: JsonValue | undefined): boolean {
  return ['any', 'tool'].includes(textOf(objectOf(choice)?.type) ?? '');
}

/** Below the limit of the answer, which holds it; undefined where the wire knows no budget as small. */
export function manualBudget(asked: number, limit: number): number | undefined {
  const budget = Math.min(Math.max(asked, MIN_BUDGET), limit - 1);
  return budget < MIN_BUDGET ? undefined : budget;
}

function adaptiveThinking(
  { amount, showThoughts }: Reasoning,
  { efforts, alwaysThinks }: ModelTraits,
  receipt: Receipt,
): EncodedThinking {
  if (amount.kind === 'off' && !alwaysThinks) return OFF;
  if (amount.kind === 'off') {
    const [effort] = efforts;
    if (amount.isUnasked !== true) receipt.add('approximated', 'thinking', thinksLeast(effort));
    return { effort };
  }
  const display = showThoughts === false ? 'omitted' : 'summarized';
  const thinking = { type: 'adaptive', display };
  if (amount.kind === 'adaptive' || amount.kind === 'unset') return { thinking };
  const effort = nearestEffort(amount, efforts);
  if (effort === undefined) return { thinking };
  const isExact = amount.kind === 'effort' && amount.effort === effort;
  if (!isExact) {
    const reason = told`This model takes efforts only; the nearest is ${effort}.`;
    receipt.add('approximated', 'thinking', reason);
  }
  return { thinking, effort };
}

export function thinksLeast(effort: Effort | undefined): Sentence {
  return told`This model cannot stop thinking; its lowest effort is ${effort ?? ''}.`;
}

/** The next one up where the model lacks the amount, else its highest; undefined for a model without efforts. */
export function nearestEffort(
  amount: ReasoningAmount,
  efforts: readonly Effort[],
): Effort | undefined {
  const asked = amount.kind === 'effort' ? amount.effort : effortFor(amount);
  const rank = EFFORTS.indexOf(asked);
  return efforts.find((effort) => EFFORTS.indexOf(effort) >= rank) ?? efforts.at(-1);
}

function effortFor(amount: ReasoningAmount): Effort {
  const tokens = tokensOfAmount(amount, Number.MAX_SAFE_INTEGER) ?? 0;
  return tokens > EFFORT_TOKENS.high ? 'max' : effortOfTokens(tokens);
}

/** The wire's own range, and what goes with thinking (Messages API, "Extended thinking", feature compatibility). */
export function encodeSampling(
  { sampling }: CanonicalRequest,
  thinking: JsonObject | undefined,
  { modelId, receipt }: EncodeTarget,
): JsonObject {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty, logprobs } = sampling;
  if (logprobs !== undefined) {
    throw invalidRequest('logprobs', 'logprobs: this model gives none.', 'unsupported');
  }
  const drop = (path: string): undefined => {
    receipt.add('dropped', path, told`The upstream has no such setting.`);
  };
  if (seed !== undefined) drop('seed');
  if (presencePenalty) drop('presence_penalty');
  if (frequencyPenalty) drop('frequency_penalty');
  const heat = temperature === undefined ? undefined : fitTemperature(temperature, receipt);
  const body: JsonObject = definedFields({ temperature: heat, top_p: topP, top_k: topK }) ?? {};
  if (thinking !== undefined && thinking.type !== 'disabled') dropBesideThinking(body, receipt);
  dropSecondSampling(body, { modelId, receipt });
  return body;
}

const MIN_SHARE_BESIDE_THINKING = 0.95;

export function dropBesideThinking(body: JsonObject, receipt: Receipt): void {
  const heat = readNumber(body.temperature);
  const share = readNumber(body.top_p);
  const lost = [
    heat === undefined || heat === 1 ? [] : ['temperature'],
    share === undefined || share >= MIN_SHARE_BESIDE_THINKING ? [] : ['top_p'],
    readNumber(body.top_k) === undefined ? [] : ['top_k'],
  ].flat();
  for (const field of lost) {
    receipt.add('dropped', field, told`It cannot be set together with thinking.`);
    delete body[field];
  }
}

/** Newer models refuse two ways to sample at once. */
export function dropSecondSampling(
  body: JsonObject,
  { modelId, receipt }: Pick<EncodeTarget, 'modelId' | 'receipt'>,
): void {
  const hasBoth = (body.temperature ?? null) !== null && (body.top_p ?? null) !== null;
  if (!hasBoth || traitsOf(modelId).takesBothSamplings) return;
  receipt.add('dropped', 'top_p', told`This model takes a temperature or top_p, not both.`);
  delete body.top_p;
}

function fitTemperature(temperature: number, receipt: Receipt): number {
  if (temperature <= 1) return temperature;
  receipt.add('capped', 'temperature', told`The upstream takes temperatures up to 1.`);
  return 1;
}

/** A format of the wire, or what tells it in words. */
interface EncodedFormat {
  readonly format?: JsonObject | undefined;
  readonly words?: string | undefined;
}

/** Expects that formats this model refuses are told in words already. */
export function encodeFormat(
  outputFormat: OutputFormat,
  { receipt }: Pick<EncodeTarget, 'receipt'>,
): EncodedFormat {
  if (outputFormat.kind === 'text') return {};
  if (outputFormat.kind === 'json-schema' && isJsonObject(outputFormat.schema)) {
    const schema = toClosedSchema(outputFormat.schema);
    if (schema !== undefined) return { format: { type: 'json_schema', schema } };
  }
  const reason = told`The upstream has no such output format: the model is told it in words.`;
  receipt.add('approximated', 'response_format', reason);
  return { words: formatInWords(outputFormat) };
}

/** Sampling stops at any of these; one of white space alone is refused, and enforced on the way back. */
export function encodeStops(
  { stopSequences }: CanonicalRequest,
  { receipt }: EncodeTarget,
): string[] | undefined {
  const sent = stopSequences.filter((stop) => stop.trim() !== '');
  if (sent.length < stopSequences.length) {
    const reason = told`The upstream takes no stop sequences of white space; the gateway cuts the answer at them.`;
    receipt.add('approximated', 'stop', reason);
  }
  return sent.length === 0 ? undefined : sent;
}

export const THOUGHT_ALONE = told`A thought without an answer behind it cannot be sent upstream.`;

/**
 * The body without manual thinking where the upstream would miss it: the turn in progress begins with a call, and
 * nothing of the thought before it is left. Messages API, "Extended thinking with tool use".
 */
export function withoutLostThinking(body: JsonObject, receipt: Receipt): JsonObject {
  const thinking = objectOf(body.thinking);
  if (thinking?.type !== 'enabled' || !lacksThought(objectsOf(body.messages))) return body;
  const reason = told`Off: a tool call in this turn has no thought before it.`;
  receipt.add('approximated', 'thinking', reason);
  const { thinking: _thinking, ...rest } = body;
  return rest;
}

function lacksThought(messages: readonly JsonObject[]): boolean {
  // Messages side by side are one turn: what follows the results of calls begins none.
  const start = messages.findLastIndex(
    ({ role, content }, at) =>
      role === 'user' && messages[at - 1]?.role !== 'user' && !hasBlock(content, 'tool_result'),
  );
  const turns = messages.slice(start + 1);
  const call = turns.findIndex(
    ({ role, content }) => role === 'assistant' && hasBlock(content, 'tool_use'),
  );
  if (call < 0) return false;
  // Its turn may have begun in a message before it.
  const before = turns.slice(0, call).findLastIndex(({ role }) => role !== 'assistant');
  return !isThought(objectsOf(turns[before + 1]?.content)[0]);
}

export function isThought(block: JsonValue | undefined): boolean {
  const type = objectOf(block)?.type;
  return type === 'thinking' || type === 'redacted_thinking';
}

function hasBlock(content: JsonObject[string] | undefined, type: string): boolean {
  return itemsOf(content).some((block) => objectOf(block)?.type === type);
}
