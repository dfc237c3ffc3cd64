// Fields that a service refuses for one of its models, as nothing but the refusal tells where the name says nothing (Azure):
// left out or fitted, at once and from then on.

import { detailsOn, GatewayError } from '../../canonical/error.ts';
import type { ReceiptAction } from '../../canonical/receipt.ts';
import type { Clock } from '../../lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { CHAT_WIRE } from '../../wire/chat.ts';
import { textOf } from '../read-values.ts';
import { complaintOf, ModelMemory } from '../refusals.ts';
import type { UpstreamCall } from '../upstream.ts';
import { effortsAmong, nearestWord, whyNearest } from './reasoning.ts';

interface Refusal {
  /** Names from the root of the body on, `[]` for the items of a list: `messages[].name`. */
  readonly place: string;
  /** The words that are taken there; empty where it says none. */
  readonly words: readonly string[];
}

/** More than any client sends of what one service refuses. */
const MAX_REFUSALS = 8;

/** What the service of one upstream refused, by model. */
export class RefusedFields {
  readonly #known: ModelMemory<ReadonlyMap<string, Refusal>>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#known = new ModelMemory(clock);
  }

  /**
   * Sends the call without what is known to be refused, and again without each field that is refused now. A call without
   * a receipt, in which the client reads of that, is sent as it came.
   * @throws GatewayError as `send` does
   */
  async open<Opened>(
    call: UpstreamCall,
    send: (call: UpstreamCall) => Promise<Opened>,
  ): Promise<Opened> {
    const met: Refusal[] = [];
    let fitted = call;
    for (const refusal of this.#known.find(call.modelId)?.values() ?? []) {
      fitted = fit(fitted, refusal);
    }
    for (;;) {
      try {
        const opened = await send(fitted);
        // Not before: a refusal may quote the words of a client.
        if (met.length > 0) this.#learn(call.modelId, met);
        return opened;
      } catch (error) {
        const refusal = readRefusal(error, fitted.body);
        const isNew = refusal !== undefined && !met.some((one) => isSame(one, refusal));
        if (!isNew || met.length === MAX_REFUSALS) throw error;
        const next = fit(fitted, refusal);
        if (next === fitted) throw error;
        met.push(refusal);
        fitted = next;
      }
    }
  }

  #learn(modelId: string, met: readonly Refusal[]): void {
    const refusals = new Map(this.#known.find(modelId));
    for (const refusal of met) {
      refusals.set(refusal.place, refusal);
      // Of two names of one field the last one that was refused counts.
      refusals.delete(OTHER_NAMES.get(refusal.place) ?? '');
    }
    this.#known.learn(modelId, refusals);
  }
}

function isSame(one: Refusal, other: Refusal): boolean {
  return one.place === other.place && one.words.join() === other.words.join();
}

/** Words of the public API for a field that `param` names. */
const CODES: readonly string[] = [
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
];

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
  /(?<path>\w+)[`'"]? (?:is not supported with this model|must be one of)\b/,
  /\b(?:Argument not supported on this model:|does not support parameter) (?<path>\w+)/,
  /\b(?<path>\w+): unknown variant\b/,
];

const TAKEN = /(?:Supported values are|must be one of|expected(?: one of)?|Input should be):? (.+)/;

function readRefusal(error: unknown, body: JsonObject): Refusal | undefined {
  const said = complaintOf(error);
  if (said === undefined || !(error instanceof GatewayError)) return undefined;
  const listed = TAKEN.exec(said)?.[1] ?? '';
  const words = Array.from(listed.matchAll(/['"`](\w+)['"`]/g), ([, word = '']) => word);
  const { param, code } = detailsOn(error, CHAT_WIRE);
  const isNamed = words.length > 0 || CODES.includes(textOf(code) ?? '');
  const paths = REFUSALS.map((pattern) => pattern.exec(said)?.groups?.path);
  const path = (isNamed ? textOf(param) : undefined) ?? paths.find((one) => one !== undefined);
  const place = path === undefined ? undefined : placeOf(path, body);
  return place === undefined ? undefined : { place, words };
}

/** Undefined where the body has no such field. Paths of validators name the kinds of things as well, which no body has. */
function placeOf(path: string, body: JsonObject): string | undefined {
  const steps = path.split(/\W+/).filter((step) => step !== '');
  const named = steps.pop() ?? '';
  let holder: JsonValue = body;
  let place = '';
  for (const step of steps) {
    const isList = Array.isArray(holder);
    const inner: JsonValue | undefined = Array.isArray(holder)
      ? holder[Number(step)]
      : isJsonObject(holder) && Object.hasOwn(holder, step)
        ? holder[step]
        : undefined;
    if (inner === undefined || inner === null || typeof inner !== 'object') continue;
    place += isList ? '[]' : `.${step}`;
    holder = inner;
  }
  const names = [named, named.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
  const field = names.find((name) => isJsonObject(holder) && Object.hasOwn(holder, name));
  return field === undefined ? undefined : `${place}.${field}`.slice(1);
}

/** Two names of one field. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_completion_tokens'],
  ['max_completion_tokens', 'max_tokens'],
]);

/** Where fields stand that may be left out; what is deeper is part of something that is said. */
const HOLDERS =
  /^(?:(?:messages\[\](?:\.(?:content|tool_calls)\[\])?|tools\[\]|stream_options|reasoning)\.)?\w+$/;

/** What an answer cannot do without, or is another one without. */
const NEEDED: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'tools', 'tool_choice', 'functions', 'function_call', 'n', 'stream'],
  ...['response_format', 'modalities', 'audio', 'web_search_options'],
  ...['role', 'content', 'refusal', 'prefix', 'tool_calls', 'tool_call_id', 'id', 'type'],
]);

/** A part and a tool hold what they are in the field that is called like their type. */
function isNeeded(field: string, holder: JsonObject): boolean {
  return NEEDED.has(field) || holder.type === field;
}

/** The same call where it has no such field, or may not be changed. */
function fit(call: UpstreamCall, { place, words }: Refusal): UpstreamCall {
  const { body, receipt } = call;
  if (receipt === undefined || !HOLDERS.test(place)) return call;
  const otherName = OTHER_NAMES.get(place);
  if (otherName !== undefined) {
    const { [place]: value, ...rest } = body;
    return value === undefined ? call : { ...call, body: { [otherName]: value, ...rest } };
  }
  const steps = place.replaceAll('[]', '.[]').split('.');
  const field = steps.pop() ?? '';
  let change: Change = ['dropped', told`The upstream has no such field.`];
  const fitted = mapHolders(body, steps, (holder) => {
    const { [field]: value, ...rest } = holder;
    if (value === undefined || isNeeded(field, holder)) return holder;
    if (!EFFORT.test(place) || words.length === 0) return rest;
    const [wanted] = effortsAmong([value]);
    // A word nobody knows is the client's mistake.
    if (wanted === undefined || words.includes(wanted)) return holder;
    const word = nearestWord(wanted, effortsAmong(words));
    if (word === undefined) return rest;
    change = ['approximated', whyNearest(wanted, word)];
    return { ...holder, [field]: word };
  });
  if (fitted === body || !isJsonObject(fitted)) return call;
  note(call, place, change);
  return { ...call, body: fitted };
}

const EFFORT = /^reasoning(?:_effort|\.effort)$/;

/** The same value where `change` changes nothing in it. */
function mapHolders(
  value: JsonValue,
  [step, ...rest]: readonly string[],
  change: (holder: JsonObject) => JsonObject,
): JsonValue {
  if (step === undefined) return isJsonObject(value) ? change(value) : value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mapHolders(item, rest, change));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const inner = isJsonObject(value) ? value[step] : undefined;
  if (!isJsonObject(value) || inner === undefined) return value;
  const changed = mapHolders(inner, rest, change);
  return changed === inner ? value : { ...value, [step]: changed };
}

type Change = readonly [ReceiptAction, Sentence];

/** A translated request is told of in the words of the rules; its answer is cut at stop sequences here. */
function note({ receipt, clientHeaders }: UpstreamCall, place: string, change: Change): void {
  if (clientHeaders !== undefined) {
    receipt?.add(change[0], place, change[1]);
  } else if (place === 'stop') {
    const reason = told`The upstream takes ${0} stop sequences; the gateway cuts the answer at the others.`;
    receipt?.add('approximated', place, reason);
  } else {
    const [root = place] = place.split(/\W/);
    receipt?.add(change[0], EFFORT.test(place) ? 'thinking' : root, change[1]);
  }
}
