// The relay lane of Chat Completions: chunks of an upstream of the same wire, forwarded as they came.

import { changed, detailsOn, type GatewayError } from '../../canonical/error.ts';
import { joinOpening, MIN_OPENING_LENGTH } from '../../canonical/text-forms.ts';
import { mapItems } from '../../lib/collections.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { dataFrame, EVENT_STREAM_TYPE, FRAME_END } from '../../stream/sse.ts';
import {
  CHAT_WIRE,
  DONE,
  deprecatedCall,
  isNaturalEnd,
  isUsageAlone,
  type PartialCall,
  PartialCalls,
  readArguments,
  thoughtIn,
  withoutNoId,
} from '../../wire/chat.ts';
import type { RouteInput } from '../protocol.ts';
import type { RelayCall } from '../relayed-request.ts';
import { forwardedHeaders } from '../relayed-request.ts';
import type { RelayWriter, ReplyContext } from '../writers.ts';
import { LAST_FRAME } from './answer-parts.ts';
import { writeStreamError } from './errors.ts';

/** Of the body only what the relay needs is looked at. */
export function createRelayCall(
  { body, headers }: Pick<RouteInput, 'body' | 'headers'>,
  reading: RelayCall['reading'],
): RelayCall {
  return {
    wire: CHAT_WIRE,
    body,
    get headers() {
      return forwardedHeaders(headers);
    },
    reading,
    hasFreeText: () => hasFreeText(body),
    asksForOneCall: () => body.parallel_tool_calls === false && objectsOf(body.tools).length > 0,
    choices: readNumber(body.n),
    /** As of the canonical request: leading instructions, and the first long text of a user. */
    openingText() {
      const { messages } = body;
      if (!Array.isArray(messages)) return undefined;
      for (const message of messages) {
        if (!isJsonObject(message) || message.role !== 'user') continue;
        for (const text of textsIn(message)) {
          if (text.length < MIN_OPENING_LENGTH) continue;
          const said = objectsOf(messages);
          const start = said.findIndex(({ role }) => !INSTRUCTING.has(role));
          return joinOpening(said.slice(0, start).flatMap(textsIn), text);
        }
      }
      return undefined;
    },
    declaredNames: () => declaredNames(body),
    renameCalls: (frame, rename) => mapCalls(frame, (call) => renameCall(call, rename)),
    createStreamWriter: (context) => new ChunkRelay(askedOf(body), context),
    isPiece: ({ choices }) =>
      Array.isArray(choices) && !objectsOf(choices).some(({ message }) => isJsonObject(message)),
    writeReply: ([reply = {}], context) => {
      const alone = mapChoices(reply, asWhole);
      const plain = mapMessages(inOneForm(alone), asRead);
      const whole = mapCalls(plain, (call) => withArguments(asBegun(call, context), asObject));
      if (demandsOne(body)) return whole;
      return mapChoices(whole, (choice) => (hasCalls(choice) ? finishWithCalls(choice) : choice));
    },
    inOwnNames: (refusal) => withOwnLimit(refusal, body),
  };
}

function hasFreeText({ tools, messages }: JsonObject): boolean {
  const isFree = ({ type }: JsonObject): boolean => type === 'custom';
  if (objectsOf(tools).some(isFree)) return true;
  return objectsOf(messages).some(({ tool_calls: calls }) => objectsOf(calls).some(isFree));
}

/** Two names of one field: an upstream is sent the one that it knows. */
const LIMIT_NAMES = ['max_tokens', 'max_completion_tokens'] as const;

function withOwnLimit(refusal: GatewayError, body: JsonObject): GatewayError {
  const { message, wireDetails } = refusal;
  const [own, ...others] = LIMIT_NAMES.filter((name) => (body[name] ?? null) !== null);
  const sent = LIMIT_NAMES.find((name) => name !== own);
  if (own === undefined || sent === undefined || others.length > 0) return refusal;
  // One that names both is of the names.
  if (!message.includes(sent) || message.includes(own)) return refusal;
  const { param } = detailsOn(refusal, CHAT_WIRE);
  return changed(refusal, {
    message: message.replaceAll(sent, own),
    ...(wireDetails !== undefined &&
      param === sent && {
        wireDetails: { ...wireDetails, members: { ...wireDetails.members, param: own } },
      }),
  });
}

const INSTRUCTING: ReadonlySet<unknown> = new Set(['system', 'developer']);

function textsIn({ content }: JsonObject): readonly string[] {
  if (typeof content === 'string') return [content];
  return objectsOf(content).flatMap(textIn);
}

function declaredNames({ tools }: JsonObject): ReadonlySet<string> {
  const names = objectsOf(tools).map((tool) => nameOf(tool) ?? tool.name);
  return new Set(names.filter((name) => typeof name === 'string'));
}

/** `usage: {include: true}` is OpenRouter's own way (openrouter.ai/docs, "Usage Accounting"). */
function asksForUsage({ stream_options: options, usage }: JsonObject): boolean {
  return (
    (isJsonObject(options) && options.include_usage === true) ||
    (isJsonObject(usage) && usage.include === true)
  );
}

/** Such an answer finishes with `stop` (platform.openai.com, "Function calling"). */
function demandsOne({ tool_choice: choice }: JsonObject): boolean {
  return isJsonObject(choice) && choice.type !== 'allowed_tools';
}

function isFinished({ finish_reason: reason }: JsonObject): boolean {
  return textOf(reason) !== undefined;
}

interface Asked {
  readonly includesUsage: boolean;
  readonly demandsOne: boolean;
}

function askedOf(body: JsonObject): Asked {
  return {
    includesUsage: asksForUsage(body),
    demandsOne: demandsOne(body),
  };
}

/**
 * Upstreams say it in each chunk where usage is asked for; clients that did not ask fail at it (`@mistralai/mistralai`,
 * `@openrouter/sdk`). Never a part of a text: quotes are escaped there.
 */
const NO_USAGE = /,\s*"usage":\s*null/;

/**
 * Usage is asked of every upstream; the chunk that has nothing else is for clients that asked for it, and the only one
 * with usage: clients add up what several say (vLLM can tell it in each chunk). Chunks have choices, these a number and at
 * first a role, and calls have places, ids and a type, without which the official accumulator gives up (`openai`
 * lib/ChatCompletionStream); an answer with calls finishes with them: some servers say `stop`, at which agents end
 * their turn.
 */
class ChunkRelay implements RelayWriter {
  readonly contentType = EVENT_STREAM_TYPE;
  readonly #asked: Asked;
  readonly #context: ReplyContext;
  /** The calls of each choice that has begun. */
  readonly #calls = new Map<JsonValue, PartialCalls>();
  /** Those whose arguments are an empty object so far, which was not told. */
  readonly #waiting = new Set<PartialCall>();
  /** Those whose name was told. */
  readonly #named = new Set<PartialCall>();
  /** The choices that began with a whole message and no piece. */
  readonly #whole = new Set<JsonValue>();
  /** The choices that have no finish reason yet. */
  readonly #unfinished = new Set<JsonValue>();
  /** The last chunk of the answer itself. */
  #last: JsonObject = {};
  /** True when the last chunk went out as it came, but for its usage. */
  #isVerbatim = false;
  /** True when the last chunk said that it has no usage, to a client that asked for none. */
  #deniesUsage = false;
  /** The last usage that came beside choices, as the chunk of its own that a client gets who asked for it. */
  #usage: JsonObject | undefined;

  constructor(asked: Asked, context: ReplyContext) {
    this.#asked = asked;
    this.#context = context;
  }

  write(frame: JsonObject, text: string): string {
    this.#isVerbatim = false;
    if (frame === DONE) return '';
    const isAlone = isUsageAlone(frame);
    if (isAlone && !this.#asked.includesUsage) return '';
    const said = isAlone ? frame : this.#withoutUsage(frame);
    if (isAlone) this.#usage = undefined;
    const plain = mapMessages(inOneForm(said), asRead);
    const begun = mapMessages(plain, (delta, choice) => this.#begun(delta, choice));
    const placed = mapCalls(begun, (call, choice) => this.#placed(call, choice));
    const whole = this.#finished(placed);
    if (!isAlone) this.#noteFinished(whole);
    this.#isVerbatim = whole === frame;
    this.#deniesUsage = !this.#asked.includesUsage && frame.usage === null;
    return this.#write(this.#isVerbatim ? text : JSON.stringify(whole));
  }

  repeat(text: string): string | undefined {
    return this.#isVerbatim ? this.#write(text) : undefined;
  }

  /** An upstream that names no end gets one named: the official accumulator gives up without it. */
  end(): string {
    const { usage: _usage, ...last } = this.#last;
    let ends = '';
    for (const index of this.#unfinished) {
      const choices = [{ index, delta: {}, logprobs: null, finish_reason: 'stop' }];
      ends += dataFrame(JSON.stringify(this.#finished({ ...last, choices })));
    }
    return ends + this.#endAlone();
  }

  #endAlone(): string {
    const usage = this.#usage === undefined ? '' : dataFrame(JSON.stringify(this.#usage));
    return `${usage}${LAST_FRAME}`;
  }

  error(error: GatewayError): string {
    return writeStreamError(error);
  }

  keepAlive(): string {
    return `: keep-alive${FRAME_END}`;
  }

  #write(text: string): string {
    return dataFrame(this.#deniesUsage ? text.replace(NO_USAGE, '') : text);
  }

  /** With its end an answer may tell it unasked, as Mistral's and DeepSeek's clients know it. */
  #withoutUsage(frame: JsonObject): JsonObject {
    const { includesUsage } = this.#asked;
    if (!isJsonObject(frame.usage)) return frame;
    if (!includesUsage && objectsOf(frame.choices).some(isFinished)) return frame;
    const { usage, ...rest } = frame;
    this.#usage = includesUsage ? { ...rest, choices: [], usage } : undefined;
    return rest;
  }

  #finished(frame: JsonObject): JsonObject {
    if (!Array.isArray(frame.choices)) return { ...frame, choices: [] };
    return mapChoices(frame, (given) => {
      const choice = given.index === undefined ? { index: 0, ...given } : given;
      const { index = 0, finish_reason: reason } = choice;
      if (typeof reason !== 'string' || reason === '') return choice;
      const piece = asPiece(choice, this.#whole.delete(index));
      const whole = this.#unfinished.has(index) ? this.#completed(piece) : piece;
      const calls = this.#calls.get(index)?.begun ?? 0;
      return calls === 0 || this.#asked.demandsOne ? whole : finishWithCalls(whole);
    });
  }

  /** With arguments for the calls that came without any. */
  #completed(choice: JsonObject): JsonObject {
    const { index = 0, delta } = choice;
    const bare = this.#calls
      .get(index)
      ?.open.filter((call) => !call.isFreeform && (call.isBlank || this.#waiting.has(call)));
    if (bare === undefined || bare.length === 0) return choice;
    const missing = bare.map(({ place }) => ({ index: place, function: { arguments: '{}' } }));
    const said = isJsonObject(delta) ? delta : {};
    const tool_calls = [...objectsOf(said.tool_calls), ...missing];
    return { ...choice, delta: { ...said, tool_calls } };
  }

  #noteFinished(frame: JsonObject): void {
    this.#last = frame;
    for (const choice of objectsOf(frame.choices)) {
      if (isFinished(choice)) this.#unfinished.delete(choice.index ?? 0);
    }
  }

  #begun(said: JsonObject, { index = 0, delta }: JsonObject): JsonObject {
    const isFirst = !this.#calls.has(index);
    if (isFirst) {
      this.#calls.set(index, new PartialCalls(0));
      this.#unfinished.add(index);
      if (delta === undefined) this.#whole.add(index);
    }
    const isNamed = isFirst ? textOf(said.role) !== undefined : said.role !== '';
    return isNamed ? said : { ...said, role: 'assistant' };
  }

  #placed(given: JsonObject, choice: JsonObject): JsonObject {
    const { index = 0 } = choice;
    const piece = withArguments(withoutNoId(given), asText);
    const calls = this.#calls.get(index);
    const before = calls?.begun;
    const call = calls?.add(piece);
    if (call === undefined) return piece;
    const own = withArguments(piece, (given) => given && this.#addedBy(call, choice));
    const isFirst = calls?.begun !== before;
    const named = this.#nameToldOnce(isFirst ? asBegun(own, this.#context) : withoutId(own), call);
    return named.index === call.place ? named : { ...named, index: call.place };
  }

  /** Some services repeat it in each piece, and accumulators add texts up. */
  #nameToldOnce(piece: JsonObject, call: PartialCall): JsonObject {
    const key = call.isFreeform ? 'custom' : 'function';
    const holder = objectOf(piece[key]);
    if (textOf(holder?.name) === undefined) return piece;
    if (!this.#named.has(call)) {
      this.#named.add(call);
      return piece;
    }
    const { name: _name, ...said } = holder ?? {};
    return { ...piece, [key]: said };
  }

  /** An empty object stands in front of the arguments at some services: it waits for the end, and goes out where none came. */
  #addedBy(call: PartialCall, choice: JsonObject): string {
    const { added, said } = call;
    if (added === '{}' && said.length === 2 && !isFinished(choice)) {
      this.#waiting.add(call);
      return '';
    }
    if (added !== '') this.#waiting.delete(call);
    return added;
  }
}

/** A whole call, or its first piece: with an id and a type. */
function asBegun(given: JsonObject, { createId }: Pick<ReplyContext, 'createId'>): JsonObject {
  const call = withoutNoId(given);
  const { id, type, ...rest } = call;
  if (textOf(id) !== undefined && typeof type === 'string') return call;
  const kind = isJsonObject(call.custom) ? 'custom' : 'function';
  return { id: textOf(id) ?? createId('call_'), type: type ?? kind, ...rest };
}

/** A later piece of a call, whose first one had the id. */
function withoutId(piece: JsonObject): JsonObject {
  if (piece.id === undefined) return piece;
  const { id: _id, ...rest } = piece;
  return rest;
}

/** The same call when `write` gives no other arguments. */
function withArguments(
  call: JsonObject,
  write: (given: JsonValue | undefined) => JsonValue | undefined,
): JsonObject {
  const { function: named } = call;
  if (!isJsonObject(named)) return call;
  const written = write(named.arguments) ?? named.arguments;
  return written === undefined || written === named.arguments
    ? call
    : { ...call, function: { ...named, arguments: written } };
}

/** Clients read an object in JSON; of a call without any OpenRouter leaves it out. */
function asObject(given: JsonValue | undefined): string | undefined {
  return readArguments(asText(given) ?? '');
}

/** Accumulators add texts up. */
function asText(given: JsonValue | undefined): string | undefined {
  if (given === undefined || given === null || typeof given === 'string') return given ?? undefined;
  return JSON.stringify(given);
}

/**
 * With thoughts in the field that clients read: OpenRouter, Groq, Ollama and vLLM have another, of which most know
 * nothing. Those that know both take one, as vLLM and Chutes have sent both.
 */
function asRead(message: JsonObject, choice: JsonObject): JsonObject {
  const plain = withoutParts(message, choice);
  const { reasoning, reasoning_content: known } = plain;
  if (typeof reasoning !== 'string' || reasoning === '' || (known ?? '') !== '') return plain;
  return { ...plain, reasoning_content: reasoning };
}

/** A list of parts, as some servers answer (docs.mistral.ai, "Reasoning"), in the fields that clients read. */
function withoutParts(message: JsonObject, { message: whole }: JsonObject): JsonObject {
  const { content, ...rest } = message;
  if (!Array.isArray(content)) return message;
  const parts = objectsOf(content);
  const thoughts = parts.filter(({ type }) => type === 'thinking').map(thoughtIn);
  const texts = parts.filter(({ type }) => type !== 'thinking').flatMap(textIn);
  const images = parts.filter(({ type }) => type === 'image_url');
  return {
    ...rest,
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('') }),
    ...(texts.length > 0 && { content: texts.join('') }),
    ...(texts.length === 0 && message === whole && { content: null }),
    ...(images.length > 0 && { images }),
  };
}

function textIn({ text }: JsonObject): readonly string[] {
  return typeof text === 'string' ? [text] : [];
}

/**
 * Without the deprecated `function_call` beside `tool_calls`, for which the official accumulator passes the calls over
 * (`openai` lib/ChatCompletionStream), and without one that says nothing. The same object when there was none.
 */
function inOneForm(frame: JsonObject): JsonObject {
  return mapMessages(frame, (message) => {
    if (!isJsonObject(message.function_call)) return message;
    const { function_call: _older, ...rest } = message;
    const isAlone = objectsOf(rest.tool_calls).length === 0;
    return isAlone && deprecatedCall(message) !== undefined ? message : rest;
  });
}

type InChoice = (value: JsonObject, choice: JsonObject) => JsonObject;

/** A chunk or a whole answer with its calls mapped; the same object when none changed. */
function mapCalls(frame: JsonObject, map: InChoice): JsonObject {
  return mapMessages(frame, (message, choice) => {
    const calls = message.tool_calls;
    if (!Array.isArray(calls)) return message;
    const mapped = mapItems(calls, (call) => (isJsonObject(call) ? map(call, choice) : call));
    return mapped === calls ? message : { ...message, tool_calls: mapped };
  });
}

/** What the choices say, in a chunk or a whole answer; the same object when nothing changed. */
function mapMessages(frame: JsonObject, map: InChoice): JsonObject {
  return mapChoices(frame, (choice) => {
    const key = isJsonObject(choice.delta) ? 'delta' : 'message';
    const message = choice[key];
    if (!isJsonObject(message)) return choice;
    const mapped = map(message, choice);
    return mapped === message ? choice : { ...choice, [key]: mapped };
  });
}

const NOTHING_SAID: JsonObject = { role: 'assistant', content: null, refusal: null };

/**
 * With a message, which Azure leaves out of a choice that it filtered, and no piece: Perplexity has an empty one beside
 * the message. With a finish reason, where an upstream names none.
 */
function asWhole(choice: JsonObject): JsonObject {
  const { delta, message, ...rest } = choice;
  const isNamed = isFinished(choice);
  if (delta === undefined && isJsonObject(message) && isNamed) return choice;
  return {
    ...rest,
    message: isJsonObject(message) ? message : NOTHING_SAID,
    ...(!isNamed && { finish_reason: 'stop' }),
  };
}

/** MiniMax says the whole message once more at the end of a stream, where clients read a piece; others say it alone. */
function asPiece(choice: JsonObject, isAlone: boolean): JsonObject {
  const { message, ...piece } = choice;
  if (message === undefined || choice.delta !== undefined) return choice;
  return { ...piece, delta: isAlone ? message : {} };
}

/** Agents end at any other word; `function_call` is that of calls in their older form. */
function finishWithCalls(choice: JsonObject): JsonObject {
  const reason = textOf(choice.finish_reason) ?? '';
  const isOther = isNaturalEnd(reason) && reason !== 'function_call';
  return isOther && reason !== 'tool_calls' ? { ...choice, finish_reason: 'tool_calls' } : choice;
}

function hasCalls({ message }: JsonObject): boolean {
  return isJsonObject(message) && objectsOf(message.tool_calls).length > 0;
}

function mapChoices(frame: JsonObject, map: (choice: JsonObject) => JsonObject): JsonObject {
  const { choices } = frame;
  if (!Array.isArray(choices)) return frame;
  const mapped = mapItems(choices, (choice) => (isJsonObject(choice) ? map(choice) : choice));
  return mapped === choices ? frame : { ...frame, choices: mapped };
}

function nameOf(call: JsonObject): string | undefined {
  return textOf(objectOf(call[isJsonObject(call.custom) ? 'custom' : 'function'])?.name);
}

function renameCall(call: JsonObject, rename: (name: string) => string): JsonObject {
  const called = nameOf(call);
  const name = called === undefined ? undefined : rename(called);
  if (name === undefined || name === called) return call;
  const key = isJsonObject(call.custom) ? 'custom' : 'function';
  const holder = call[key];
  return isJsonObject(holder) ? { ...call, [key]: { ...holder, name } } : call;
}
