// Thoughts on this wire: three fields for them in an answer, one in which they go back, and how much is to be thought.

import type { ReasoningAmount } from '../../canonical/effort.ts';
import {
  ADAPTIVE_TOKENS,
  amountOfBudget,
  amountOfWord,
  BUDGET_KEYS,
  EFFORTS,
  effortOfTokens,
  LEVEL_KEYS,
} from '../../canonical/effort.ts';
import type { ServerToolHistory, Signature, ThinkingPart } from '../../canonical/request.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  sizeOf,
  tryParse,
} from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { objectsOf, textOf, usedKey } from '../../lib/read-values.ts';
import { type FitContext, type ModelTraits, traitsOf } from './models.ts';
import type { ChatQuirks, EffortWord, ReasoningField } from './profiles.ts';

/**
 * What was thought before one text or call: words, and the field they came in, or the details an upstream wants back as
 * they came.
 */
export type Reasoning = JsonObject;

/** Fields whose words have no signature of their own. */
const PLAIN_FIELDS = ['reasoning_content', 'reasoning'] as const;
type PlainField = (typeof PLAIN_FIELDS)[number];

/** The words of a delta or a message that are thoughts; each field repeats the others where there are several. */
export function readThought(holder: JsonObject): string | undefined {
  const { reasoning_content: content, reasoning, reasoning_details: details } = holder;
  const said = textOf(content) ?? textOf(reasoning);
  if (said !== undefined || !Array.isArray(details)) return said;
  const words = objectsOf(details).map(
    ({ text, summary }) => textOf(text) ?? textOf(summary) ?? '',
  );
  return words.join('') || undefined;
}

/** Undefined where its thoughts are nothing but details or parts of the content. */
export function plainField(holder: JsonObject): PlainField | undefined {
  return PLAIN_FIELDS.find((field) => textOf(holder[field]) !== undefined);
}

/** Details are there as they came, as JSON, and as the signature that is made of it. */
const FORMS = 3;

/**
 * The details of one stretch of thinking. Pieces of one detail, as streams bring them, are one again
 * (openrouter.ai/docs, "Reasoning Tokens": the sequence goes back as it came).
 */
export class ReasoningDetails {
  readonly #details: JsonObject[] = [];
  heldBytes = 0;

  add(value: JsonValue | undefined): void {
    for (const detail of objectsOf(value)) {
      this.heldBytes += FORMS * sizeOf(detail);
      const last = this.#details.at(-1);
      if (last === undefined || !goesOn(last, detail)) this.#details.push(detail);
      else this.#details[this.#details.length - 1] = joined(last, detail);
    }
  }

  /** Undefined where there was none. */
  take(): readonly JsonObject[] | undefined {
    this.heldBytes = 0;
    return this.#details.length === 0 ? undefined : this.#details.splice(0);
  }
}

/** Of a detail what streams cut into pieces. */
const CUT_FIELDS = ['text', 'summary', 'data'] as const;

function goesOn(before: JsonObject, after: JsonObject): boolean {
  const isSame = before.type === after.type && (before.index ?? 0) === (after.index ?? 0);
  return isSame && (before.id ?? after.id) === (after.id ?? before.id);
}

function joined(before: JsonObject, after: JsonObject): JsonObject {
  const whole: JsonObject = { ...before };
  for (const [key, value] of Object.entries(after)) {
    if (value === null) continue;
    const known = before[key];
    const isCut = CUT_FIELDS.some((field) => field === key);
    whole[key] =
      isCut && typeof known === 'string' && typeof value === 'string' ? known + value : value;
  }
  return whole;
}

/** What vouches for a thought: its details; else that it was had here, and the field it came in, if it was one. */
export function signatureOf({ details, field }: Reasoning, family: string): Signature {
  const said = details === undefined ? (textOf(field) ?? 'thinking') : JSON.stringify(details);
  return { value: Buffer.from(said).toString('base64url'), family, on: 'thinking' };
}

/** For clients that return calls but no thoughts. */
export function traceOf(
  thoughts: readonly Reasoning[],
  family: string,
): { readonly trace: ServerToolHistory } | undefined {
  return thoughts.length === 0 ? undefined : { trace: { family, parts: thoughts } };
}

/** `{text}`, `{field}` and `{details}`: the form in which thoughts are remembered. */
export function rememberedThought(
  text: string,
  details: readonly JsonObject[] | undefined,
  field?: string,
): Reasoning {
  return {
    text,
    ...(field !== undefined && { field }),
    ...(details !== undefined && { details: [...details] }),
  };
}

/** What a client carried; none for a thought that only carries another part's signature. */
export function readReasoning({ text, signature }: ThinkingPart): readonly Reasoning[] {
  const value = signature?.value;
  const said = value === undefined ? '' : Buffer.from(value, 'base64url').toString();
  const field = PLAIN_FIELDS.find((one) => one === said);
  const details = value === undefined || field !== undefined ? undefined : detailsIn(said);
  return text === '' && details === undefined ? [] : [rememberedThought(text, details, field)];
}

function detailsIn(json: string): readonly JsonObject[] | undefined {
  const details = tryParse(json);
  return Array.isArray(details) && details.every(isJsonObject) ? details : undefined;
}

/** In which field thoughts go back; undefined where they stay out. */
export function fieldFor(
  thoughts: readonly Reasoning[],
  sends: ChatQuirks['sendsReasoning'],
): ReasoningField | undefined {
  if (sends !== 'as-told') return sends;
  if (thoughts.some(({ details }) => details !== undefined)) return 'reasoning_details';
  return PLAIN_FIELDS.find((one) => thoughts.some(({ field }) => field === one));
}

/** The thoughts of one message, in the field the upstream reads; details go back unchanged. */
export function reasoningFields(thoughts: readonly Reasoning[], field: ReasoningField): JsonObject {
  if (thoughts.length === 0) return {};
  const text = thoughts.map((thought) => textOf(thought.text) ?? '').join('');
  if (field !== 'reasoning_details') return text === '' ? {} : { [field]: text };
  const details = thoughts.flatMap((thought) => objectsOf(thought.details));
  if (details.length > 0) return { reasoning_details: details };
  return text === '' ? {} : { reasoning: text };
}

// How much to think, in the words of one upstream; and what a client of the same wire said of it.

interface SaidEffort {
  readonly fields: JsonObject;
  /** What the model is told; undefined where it decides. */
  readonly word: EffortWord | undefined;
}

const NO_SWITCH = { on: {}, off: {} };
const UNSAID: SaidEffort = { fields: {}, word: undefined };

const RISING: readonly EffortWord[] = ['none', ...EFFORTS];

/** The fields that say an amount, with what is lost in the receipt. */
export function encodeEffort(
  amount: ReasoningAmount,
  { efforts, reasons, thinksIfTold }: ModelTraits,
  context: FitContext,
): SaidEffort {
  const { target, profile, isRelayed } = context;
  const path = isRelayed ? 'reasoning_effort' : 'thinking';
  const wanted = wantedWord(amount);
  if (amount.kind === 'unset') return UNSAID;
  if (efforts.length === 0 || target.capabilities.thinking.kind === 'none') {
    if (wanted !== 'none') target.receipt.add('dropped', path, told`This model does not think.`);
    return UNSAID;
  }
  if (wanted === undefined) return switchedOn(context, thinksIfTold);
  const isUnasked = amount.kind === 'off' && amount.isUnasked === true;
  // Nobody asked, and nobody knows whether the model would think.
  if (isUnasked && reasons !== true) return UNSAID;
  if (profile.quirks.effort === 'object' && amount.kind === 'budget') {
    return { fields: { reasoning: { max_tokens: amount.tokens } }, word: wanted };
  }
  const word = nearestWord(wanted, efforts) ?? wanted;
  const isExact = word === wanted && amount.kind !== 'budget';
  if (!isExact && !isUnasked) {
    target.receipt.add('approximated', path, whyNearest(wanted, word));
  }
  if (profile.quirks.effort === 'switch' && word !== 'none') {
    const reason = told`Thinking can only be switched on or off here, without an amount.`;
    target.receipt.add('approximated', path, reason);
  }
  return { fields: fieldsOf(word, profile.quirks), word };
}

function wantedWord(amount: ReasoningAmount): EffortWord | undefined {
  switch (amount.kind) {
    case 'unset':
    case 'adaptive':
      return undefined;
    case 'off':
      return 'none';
    case 'effort':
      return amount.effort;
    case 'budget':
      return amount.tokens < 0 ? undefined : effortOfTokens(amount.tokens);
    default:
      return amount satisfies never;
  }
}

/** Of rising words the next one up, else the highest; an effort never becomes none. */
export function nearestWord(
  wanted: EffortWord,
  efforts: readonly EffortWord[],
): EffortWord | undefined {
  const rank = RISING.indexOf(wanted);
  const offered = wanted === 'none' ? efforts : efforts.filter((word) => word !== 'none');
  return offered.find((word) => RISING.indexOf(word) >= rank) ?? offered.at(-1);
}

export function whyNearest(wanted: EffortWord, word: EffortWord): Sentence {
  return wanted === 'none'
    ? told`This model cannot stop thinking; its lowest effort is ${word}.`
    : told`This model takes efforts only; the nearest is ${word}.`;
}

/** Those of the words that are efforts, by rising amount. */
export function effortsAmong(words: readonly JsonValue[]): readonly EffortWord[] {
  return RISING.filter((word) => words.includes(word));
}

export function fieldsOf(
  word: EffortWord,
  { effort, thinkingSwitch = NO_SWITCH }: ChatQuirks,
): JsonObject {
  const isOn = word !== 'none';
  switch (effort) {
    case undefined:
      return {};
    case 'field':
      return { reasoning_effort: word };
    case 'object':
      return { reasoning: { effort: word } };
    case 'field-and-switch':
      return isOn ? { ...thinkingSwitch.on, reasoning_effort: word } : thinkingSwitch.off;
    case 'switch':
      return isOn ? thinkingSwitch.on : thinkingSwitch.off;
    default:
      return effort satisfies never;
  }
}

/** Thinking as much as the model does by itself, where there is a word for that; else it thinks without one, or not. */
function switchedOn({ profile }: FitContext, thinksIfTold: boolean): SaidEffort {
  const { effort, thinkingSwitch = NO_SWITCH } = profile.quirks;
  switch (effort) {
    case 'object':
      return { fields: { reasoning: { enabled: true } }, word: undefined };
    case 'field-and-switch':
    case 'switch':
      return { fields: thinkingSwitch.on, word: undefined };
    default:
      return thinksIfTold ? { fields: { reasoning_effort: ADAPTIVE }, word: ADAPTIVE } : UNSAID;
  }
}

const ADAPTIVE = effortOfTokens(ADAPTIVE_TOKENS);

/** Some models think beside functions only at an endpoint that is not of this wire. */
export function amountBesideFunctions(
  amount: ReasoningAmount,
  { target, profile, isRelayed }: FitContext,
): ReasoningAmount {
  const { refusesEffortWithTools, efforts } = traitsOf(profile.quirks, target.modelId);
  if (!refusesEffortWithTools || amount.kind === 'off') return amount;
  const reason = told`With functions this model takes no effort at Chat Completions.`;
  const path = isRelayed ? 'reasoning_effort' : 'thinking';
  if (amount.kind !== 'unset') target.receipt.add('dropped', path, reason);
  return efforts.includes('none') ? { kind: 'off', isUnasked: true } : { kind: 'unset' };
}

/** The fields in which clients of this wire say it, in any dialect. */
const EFFORT_FIELDS = [
  ...['reasoning_effort', 'reasoningEffort', 'reasoning', 'thinking'],
  ...['enable_thinking', 'thinking_budget'],
];

/** Those that an upstream of this form reads itself. */
function ownFieldsOf({ effort, thinkingSwitch = NO_SWITCH }: ChatQuirks): readonly string[] {
  if (effort === 'object') return ['reasoning'];
  return effort === 'switch' || effort === 'field-and-switch' ? Object.keys(thinkingSwitch.on) : [];
}

/** How much, beside a switch in the client's own words. */
const AMOUNT_FIELDS = ['reasoning_effort', 'thinking_budget'];

/** As the model does by itself: console.groq.com/docs/reasoning. */
const DEFAULT = 'default';

/**
 * Takes the amount out of a client's body; unset where the client says it in the upstream's own form, which then
 * stays as it came, and where it says none. A switch stays as well where unknown fields are passed over: it may be the
 * service's own (docs.z.ai, `thinking`; Alibaba's `enable_thinking`).
 */
export function takeAmount(body: JsonObject, quirks: ChatQuirks): ReasoningAmount {
  const { effort, ownFields } = quirks;
  if (!EFFORT_FIELDS.some((field) => body[field] !== undefined)) return { kind: 'unset' };
  const word = textOf(body.reasoning_effort)?.toLowerCase() ?? DEFAULT;
  // A word nobody knows here is the upstream's to judge.
  const isNew = effort === 'field' && word !== DEFAULT && amountOfWord(word) === undefined;
  const own = ownFieldsOf(quirks);
  const isOwn = own.some((field) => body[field] !== undefined);
  const amount = isOwn ? ({ kind: 'unset' } as const) : saidAmount(body);
  const isKept = (field: string): boolean =>
    (isNew && field === 'reasoning_effort') ||
    (effort === 'field' && ownFields === undefined && isSwitch(body[field])) ||
    (isOwn && (own.includes(field) || (effort !== 'object' && AMOUNT_FIELDS.includes(field))));
  for (const field of EFFORT_FIELDS) if (!isKept(field)) delete body[field];
  return amount;
}

/** True where a body, in any dialect, says that nothing is to be thought. */
export function isOff(body: JsonObject): boolean {
  return saidAmount(body).kind === 'off';
}

/** The body with these fields in place of all that say an amount. */
export function withAmount(body: JsonObject, fields: JsonObject): JsonObject {
  const left = Object.entries(body).filter(([name]) => !EFFORT_FIELDS.includes(name));
  return { ...Object.fromEntries(left), ...fields };
}

/** True for what says whether to think, and not how much. */
function isSwitch(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return typeof value === 'boolean';
  const amount = amountIn(value);
  return amount === undefined || amount.kind === 'off' || amount.kind === 'adaptive';
}

function saidAmount(body: JsonObject): ReasoningAmount {
  const word = textOf(body.reasoning_effort) ?? textOf(body.reasoningEffort);
  const said = word === undefined ? undefined : amountOfWord(word.toLowerCase());
  if (said !== undefined) return said;
  const held = [body.reasoning, body.thinking].flatMap((holder) =>
    isJsonObject(holder) ? (amountIn(holder) ?? []) : [],
  );
  const amount = held.find(({ kind }) => kind !== 'adaptive');
  if (amount !== undefined) return amount;
  if (body.enable_thinking === false) return { kind: 'off' };
  const tokens = readNumber(body.thinking_budget);
  if (tokens !== undefined) return amountOfBudget(tokens);
  return { kind: body.enable_thinking === true || held.length > 0 ? 'adaptive' : 'unset' };
}

/** Those that switch thinking on, and leave how much to the model. */
const ON_WORDS: readonly (JsonValue | undefined)[] = ['enabled', 'adaptive', 'auto'];

function amountIn(holder: JsonObject): ReasoningAmount | undefined {
  if (holder.enabled === false || holder.type === 'disabled') return { kind: 'off' };
  const budget = usedKey(holder, BUDGET_KEYS);
  const tokens = budget === undefined ? undefined : readNumber(holder[budget]);
  if (tokens !== undefined) return amountOfBudget(tokens);
  const level = usedKey(holder, ['effort', ...LEVEL_KEYS]);
  const word = level === undefined ? undefined : textOf(holder[level]);
  if (word !== undefined) return amountOfWord(word.toLowerCase());
  const isOn = holder.enabled === true || ON_WORDS.includes(holder.type);
  return isOn ? { kind: 'adaptive' } : undefined;
}
