// Fields that a service refuses for one of its models, as nothing but the refusal tells: left out or fitted, at once and
// from then on.

import { changed, detailsOn, GatewayError } from '../canonical/error.ts';
import type { ReceiptAction } from '../canonical/receipt.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { textOf } from '../lib/read-values.ts';
import { complaintOf, ModelMemory } from './refusals.ts';
import type { UpstreamCall } from './upstream.ts';

/** What is a wire's own in this. */
export interface FieldRules {
  readonly wire: string;
  /** Codes of its errors whose `param` is the path of the field. */
  readonly codes: readonly string[];
  /** What names a field, as the group `path`. */
  readonly refusals: readonly RegExp[];
  /** The words that are taken, in the first group: of fields at these places, whose others are words as well. */
  readonly taken?: { readonly places: RegExp; readonly words: RegExp } | undefined;
  /** Two names of one field each. */
  readonly otherNames: ReadonlyMap<string, string>;
  /** Places of fields that may be left out; what is deeper is part of something that is said. */
  readonly places: RegExp;
  /** What an answer cannot do without, or is another one without. */
  isNeeded(field: string, holder: JsonObject): boolean;
  /** Fields that say nothing without another one. */
  readonly besides?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Fields of which nothing is remembered: another account may have them, or another request. */
  readonly neverKept?: ReadonlySet<string> | undefined;
  /** The word that goes in place of a refused one; `refused` where none is near, undefined where the client has to know. */
  nearest?(value: JsonValue, words: readonly string[]): Nearest | undefined;
  /** What is told of a field that a request goes without; the usual where it is undefined. */
  tellDropped?(place: string, isRelayed: boolean): Lost | undefined;
  /** The rules' word for it, in receipts of translated requests; the first name of the place where it is undefined. */
  ruleWord?(place: string): string | undefined;
  /** What is refused together though each is taken alone, or as a whole: no field that could be left out. */
  readonly conflicts?: readonly Conflict[] | undefined;
}

export interface Conflict {
  /** How services say it; the group `taken` has the words that are taken. */
  readonly words: RegExp;
  /** The body without it, and what that changed; undefined for a body that has none of it. */
  resolve(body: JsonObject, taken: readonly string[]): Resolved | undefined;
  /** True where the model lacks what others may have: it is known at once, and they are asked first. */
  readonly isOfModel?: true | undefined;
  /** True where nothing is remembered of it: what it depends on cannot be seen in other requests. */
  readonly isOfRequest?: true | undefined;
}

interface Resolved {
  readonly body: JsonObject;
  /** The field that is another one now, of a client's own body. */
  readonly place: string;
  readonly reason: Sentence;
  /** `approximated` where it is undefined. */
  readonly action?: ReceiptAction | undefined;
}

type Nearest = 'refused' | { readonly word: string; readonly reason: Sentence };

interface Refusal {
  /** Names from the root of the body on, `[]` for the items of a list: `messages[].name`. */
  readonly place: string;
  /** The type of what holds it, where it has one: what one kind of part lacks another has. */
  readonly type: string | undefined;
  /** The words that are taken there; empty where it says none. */
  readonly words: readonly string[];
  /** What else it is but a field; `place` is its number then. */
  readonly conflict?: Conflict | undefined;
}

/** More than any client sends of what one service refuses. */
const MAX_REFUSALS = 8;

/** What the service of one upstream refused, by model. */
export class RefusedFields {
  readonly #rules: FieldRules;
  readonly #known: ModelMemory<ReadonlyMap<string, Refusal>>;

  constructor(rules: FieldRules, clock: Pick<Clock, 'monotonic'>) {
    this.#rules = rules;
    this.#known = new ModelMemory(clock);
  }

  /**
   * Sends the call without what is known to be refused, and again without each field that is refused now. A call without
   * a receipt, in which the client reads of that, is sent as it came.
   * @throws GatewayError as `send` does
   */
  async open<Call extends Omit<UpstreamCall, 'stream'>, Opened>(
    call: Call,
    send: (call: Call) => Promise<Opened>,
  ): Promise<Opened> {
    const met: Refusal[] = [];
    let fitted = call;
    for (const refusal of this.#known.find(call.modelId)?.values() ?? []) {
      fitted = fit(fitted, refusal, this.#rules);
    }
    for (;;) {
      try {
        const opened = await send(fitted);
        // Not before: a refusal may quote the words of a client.
        if (met.length > 0) this.#learn(call.modelId, met);
        return opened;
      } catch (error) {
        const refusal = readRefusal(error, fitted.body, this.#rules);
        const isNew = refusal !== undefined && !met.some((one) => isSame(one, refusal));
        if (!isNew || met.length === MAX_REFUSALS) throw error;
        if (this.#isOutdone(error, refusal, fitted)) throw lacking(error);
        const next = fit(fitted, refusal, this.#rules);
        if (next === fitted) throw error;
        met.push(refusal);
        fitted = next;
      }
    }
  }

  /** What the model lacks is known at once, where the service says it in words of its own. True where another goes first then. */
  #isOutdone(error: unknown, refusal: Refusal, call: Omit<UpstreamCall, 'stream'>): boolean {
    const { conflict } = refusal;
    if (conflict?.isOfModel !== true || !isOwnWord(error, conflict, call)) return false;
    this.#learn(call.modelId, [refusal]);
    return call.isOutdone?.() === true;
  }

  hasMet(modelId: string, conflict: Conflict): boolean {
    const known = this.#known.find(modelId)?.values();
    return known?.some((met) => met.conflict === conflict) === true;
  }

  #learn(modelId: string, met: readonly Refusal[]): void {
    const refusals = new Map(this.#known.find(modelId));
    for (const refusal of met) {
      if (this.#rules.neverKept?.has(refusal.place) === true) continue;
      if (refusal.conflict?.isOfRequest === true) continue;
      refusals.set(`${refusal.place} ${refusal.type}`, refusal);
      // Of two names of one field the last one that was refused counts.
      refusals.delete(`${this.#rules.otherNames.get(refusal.place)} undefined`);
    }
    this.#known.learn(modelId, refusals);
  }
}

/** False where the words may be those of the client, which the service only quotes, or where the body has none of it. */
function isOwnWord(
  error: unknown,
  { words, resolve }: Conflict,
  { body }: Pick<UpstreamCall, 'body'>,
): boolean {
  const [said = ''] = words.exec(complaintOf(error) ?? '') ?? [];
  return !holds(body, new RegExp(RegExp.escape(said), 'i')) && resolve(body, []) !== undefined;
}

/** Text by text: written as one, a body with pictures would take its size again and again. */
function holds(value: JsonValue, words: RegExp): boolean {
  if (typeof value === 'string') return words.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) => words.test(name) || holds(inner, words));
}

function lacking(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.failure === undefined) return error;
  return changed(error, { failure: { ...error.failure, kind: 'lacking' } });
}

function isSame(one: Refusal, other: Refusal): boolean {
  const isSamePlace = one.place === other.place && one.type === other.type;
  return isSamePlace && one.words.join() === other.words.join();
}

function readRefusal(
  error: unknown,
  body: JsonObject,
  { wire, codes, refusals, taken, conflicts = [] }: FieldRules,
): Refusal | undefined {
  const said = complaintOf(error);
  if (said === undefined || !(error instanceof GatewayError)) return undefined;
  const conflict = conflicts.find(({ words }) => words.test(said));
  if (conflict !== undefined) {
    const words = conflict.words.exec(said)?.groups?.taken?.match(/\w+/g) ?? [];
    return { place: `${conflicts.indexOf(conflict)}`, type: undefined, words, conflict };
  }
  const { param, code } = detailsOn(error, wire);
  const named = textOf(param);
  const saysWords = taken?.places.test(named ?? '') === true && taken.words.test(said);
  const isNamed = saysWords || codes.includes(textOf(code) ?? '');
  const paths = refusals.map((pattern) => pattern.exec(said)?.groups?.path);
  const path = (isNamed ? named : undefined) ?? paths.find((one) => one !== undefined);
  const found = path === undefined ? undefined : findField(path, body);
  if (found === undefined) return undefined;
  const listed =
    taken?.places.test(found.place) === true ? (taken.words.exec(said)?.[1] ?? '') : '';
  const words = Array.from(listed.matchAll(/['"`](\w+)['"`]/g), ([, word = '']) => word);
  return { ...found, words };
}

/** Undefined where the body has no such field. Paths of validators name the kinds of things as well, which no body has. */
function findField(path: string, body: JsonObject): Omit<Refusal, 'words'> | undefined {
  const steps = path.split(/\W+/).filter((step) => step !== '');
  const named = steps.pop() ?? '';
  let holder: JsonValue = body;
  let place = '';
  for (const step of steps) {
    const inner: JsonValue | undefined = Array.isArray(holder)
      ? holder[Number(step)]
      : isJsonObject(holder) && Object.hasOwn(holder, step)
        ? holder[step]
        : undefined;
    if (inner === undefined || inner === null || typeof inner !== 'object') continue;
    place += Array.isArray(holder) ? '[]' : `.${step}`;
    holder = inner;
  }
  if (!isJsonObject(holder)) return undefined;
  const own = holder;
  const spelled = named.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const names = [named, spelled, named.toLowerCase()];
  const field = names.find((name) => Object.hasOwn(own, name));
  return field === undefined
    ? undefined
    : { place: `${place}.${field}`.slice(1), type: textOf(own.type) };
}

/** The same call where it has no such field, or may not be changed. */
function fit<Call extends Omit<UpstreamCall, 'stream'>>(
  call: Call,
  { place, type, words, conflict }: Refusal,
  rules: FieldRules,
): Call {
  const { body, receipt } = call;
  if (receipt === undefined) return call;
  if (conflict !== undefined) {
    const resolved = conflict.resolve(body, words);
    if (resolved === undefined) return call;
    const { place: changed, reason, action = 'approximated' } = resolved;
    note(call, changed, { lost: { action, reason }, rules });
    return { ...call, body: resolved.body };
  }
  if (!rules.places.test(place)) return call;
  const otherName = rules.otherNames.get(place);
  if (otherName !== undefined) {
    const { [place]: value, ...rest } = body;
    return value === undefined ? call : { ...call, body: { [otherName]: value, ...rest } };
  }
  const steps = place.replaceAll('[]', '.[]').split('.');
  const field = steps.pop() ?? '';
  let lost: Lost | undefined;
  const fitted = mapHolders(body, steps, (holder) => {
    const { [field]: value, ...rest } = holder;
    const isMeant = value !== undefined && textOf(holder.type) === type;
    if (!isMeant || words.includes(textOf(value) ?? '') || rules.isNeeded(field, holder)) {
      return holder;
    }
    if (words.length === 0 || rules.nearest === undefined) return rest;
    const nearest = rules.nearest(value, words);
    if (nearest === undefined) return holder;
    if (nearest === 'refused') return rest;
    lost = { action: 'approximated', reason: nearest.reason };
    return { ...holder, [field]: nearest.word };
  });
  if (fitted === body || !isJsonObject(fitted)) return call;
  note(call, place, { lost, rules });
  const alone = rules.besides?.get(place) ?? [];
  const left = Object.entries(fitted).filter(([name]) => !alone.includes(name));
  return { ...call, body: alone.length === 0 ? fitted : Object.fromEntries(left) };
}

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

interface Lost {
  readonly action: ReceiptAction;
  readonly reason: Sentence;
}

interface Noting {
  /** As the rules tell of what is dropped where it is undefined. */
  readonly lost: Lost | undefined;
  readonly rules: FieldRules;
}

const DROPPED: Lost = { action: 'dropped', reason: told`The upstream has no such field.` };

/** A translated request is told of in the words of the rules. */
function note(
  { receipt, clientHeaders }: Omit<UpstreamCall, 'stream'>,
  place: string,
  { lost, rules }: Noting,
): void {
  const isRelayed = clientHeaders !== undefined;
  const path = isRelayed ? place : (rules.ruleWord?.(place) ?? place.split(/\W/)[0] ?? place);
  const { action, reason } = lost ?? rules.tellDropped?.(place, isRelayed) ?? DROPPED;
  receipt?.add(action, path, reason);
}
