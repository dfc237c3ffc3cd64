// Decodes the chunks of one chat completion, or a whole one, into canonical events: each choice decides where its blocks
// begin and end.

import type { GatewayError } from '../../canonical/error.ts';
import type {
  BlockOpening,
  CanonicalEvent,
  ChoiceEnd,
  FinishReason,
} from '../../canonical/event.ts';
import {
  type Citation,
  type GroundingSource,
  MAX_CITED_LENGTH,
} from '../../canonical/grounding.ts';
import type { TokenLogprob } from '../../canonical/logprobs.ts';
import type { Signature } from '../../canonical/request.ts';
import { readServiceTier } from '../../canonical/service-tier.ts';
import { linkAddress } from '../../canonical/text-forms.ts';
import { readTokenCount, type Usage } from '../../canonical/usage.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  sizeOf,
} from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { KeptText } from '../../lib/long-text.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { scrubText } from '../../lib/redact.ts';
import type { Frame } from '../../stream/sse.ts';
import {
  DONE,
  deprecatedCall,
  isNaturalEnd,
  type PartialCall,
  PartialCalls,
  readArguments,
  thoughtIn,
} from '../../wire/chat.ts';
import {
  answerFault,
  complaintIn,
  cutAnswer,
  endedRefusal,
  errorIn,
  graverFault,
  noAnswer,
  pathFault,
  secretsIn,
  unreadableAnswer,
} from '../errors.ts';
import type { TextEvent } from '../transport/repeated-texts.ts';
import type { DecodeContext, Decoder } from '../upstream.ts';
import {
  type AnswerState,
  CALL_BYTES,
  choiceNumber,
  takeCallId,
  withUnread,
} from '../wire-parts.ts';
import { classifyErrorFrame } from './errors.ts';
import {
  plainField,
  type Reasoning,
  ReasoningDetails,
  readThought,
  rememberedThought,
  signatureOf,
  traceOf,
} from './reasoning.ts';

/** Samples of 16 bits, 24,000 a second (`openai` resources/audio/speech). */
export const PCM_TYPE = 'audio/L16;codec=pcm;rate=24000';

interface DecoderOptions {
  /** Milliseconds since the epoch, for errors that name a time. */
  readonly now: () => number;
  /** True where the upstream wants thoughts back: they are remembered with the calls they led to. */
  readonly tracesThoughts: boolean;
  /** False where streams may end without a finish reason. */
  readonly namesEnds: boolean;
}

/**
 * Chunks may hold anything: unknown fields are passed over. The ending is given out by `end()` only, because usage may
 * come behind the finish reason; a stream without a finish reason was cut off, with or without `[DONE]`, but where the
 * upstream has none.
 */
export class ChatDecoder implements Decoder {
  readonly #options: DecoderOptions;
  readonly #context: DecodeContext;
  readonly #shared: SharedState;
  readonly #choices: ChoiceDecoder[] = [];
  #hasStarted = false;
  #hasEnded = false;
  /** True once `[DONE]` came. */
  #isDone = false;
  #usage: Usage | undefined;
  /** What came last that is no part of an answer, or tells its usage. */
  #other: JsonObject | undefined;
  /** Pages that some services name beside the choices. */
  #pages: readonly GroundingSource[] = [];

  constructor(context: DecodeContext, options: DecoderOptions) {
    this.#options = options;
    this.#context = context;
    const format = textOf(objectOf(context.body?.audio)?.format) ?? 'wav';
    this.#shared = {
      context,
      tracesThoughts: options.tracesThoughts,
      mostCited: context.placesCitations === false ? 0 : MAX_CITED_LENGTH,
      audioType: format === 'pcm16' ? PCM_TYPE : `audio/${format}`,
      nextIndex: 0,
    };
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const choice of this.#choices) bytes += choice.heldBytes;
    return bytes;
  }

  push(frame: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (frame === DONE) this.#isDone = true;
    if (this.#hasEnded || frame === DONE) return events;
    const error = errorIn(frame);
    if (error !== undefined) {
      return this.#fail(this.#classify(error), events);
    }
    if (!isReadable(frame.choices)) {
      return this.#fail(unreadableAnswer(), events);
    }
    const choices = objectsOf(frame.choices);
    this.#usage = usageIn(frame, choices) ?? this.#usage;
    this.#pages = pagesIn(frame) ?? this.#pages;
    if (choices.length === 0) {
      this.#other = frame;
      return events;
    }
    this.#start(frame, events);
    for (const choice of choices) this.#readChoice(choice, events);
    return events;
  }

  /** Such a chunk has one choice, which says its text or its thought and nothing else. */
  repeat({ repeats, said }: Frame): CanonicalEvent[] | undefined {
    const [choice] = objectsOf(repeats?.choices);
    const delta = objectOf(choice?.delta);
    if (this.#hasEnded || choice === undefined || delta === undefined || said === undefined) {
      return undefined;
    }
    const events: CanonicalEvent[] = [];
    const kind = plainField(delta) === undefined ? 'text' : 'thinking';
    this.#choiceAt(choiceNumber(choice)).say(kind, said, events);
    return events;
  }

  end(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    if (this.#choices.length === 0) {
      return this.#fail(this.#complaint() ?? noAnswer(), events);
    }
    const ends: ChoiceEnd[] = [];
    let fault: GatewayError | undefined;
    for (const choice of this.#choices) {
      choice.close(events);
      const end = this.#endOf(choice);
      if (!(end instanceof Error)) ends.push(end);
      else fault = graverFault(fault, end);
    }
    if (fault !== undefined) return this.#fail(fault, events);
    for (const choice of this.#choices) this.#addGrounding(choice, events);
    this.#close(events);
    events.push({ kind: 'finish', choices: ends });
    return events;
  }

  #start({ id, model, service_tier }: JsonObject, events: CanonicalEvent[]): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const serviceTier = readServiceTier(service_tier);
    const names = { upstreamId: textOf(id), modelVersion: textOf(model), serviceTier };
    events.push({ kind: 'start', ...names, usage: this.#usage });
  }

  #readChoice(value: JsonObject, events: CanonicalEvent[]): void {
    const choice = this.#choiceAt(choiceNumber(value));
    const [piece, whole] = [objectOf(value.delta), objectOf(value.message)];
    // Perplexity has both: beside the piece all that was said so far, beside the whole an empty piece. MiniMax ends a
    // stream with the whole.
    const isStreamed = this.#context.stream === true;
    const message = isStreamed ? (piece ?? choice.unsaid(whole)) : (whole ?? piece);
    choice.isWhole ||= !isStreamed && whole !== undefined;
    const reason = textOf(value.finish_reason);
    // Known before the calls are given out: a limit may have cut one off.
    choice.rawReason = reason ?? choice.rawReason;
    choice.stopSequence = textOf(value.stop_reason) ?? choice.stopSequence;
    choice.error = value.error ?? choice.error;
    if (message !== undefined) choice.read(message, events);
    if (isJsonObject(value.logprobs)) choice.readRatings(value.logprobs);
    if (reason !== undefined) choice.giveWhole(events);
  }

  /** Choices are counted as they come: a number left out would be one that clients miss. */
  #choiceAt(number: number): ChoiceDecoder {
    for (const choice of this.#choices) if (choice.number === number) return choice;
    const choice = new ChoiceDecoder(this.#shared, this.#choices.length, number);
    this.#choices.push(choice);
    return choice;
  }

  /** The choice's ending, or why it has none. */
  #endOf(choice: ChoiceDecoder): ChoiceEnd | GatewayError {
    const { logprobs, unread: unsupportedKinds, refusal, stopSequence } = choice;
    const rawReason = choice.rawReason ?? this.#unnamedEnd(choice);
    const failed = isJsonObject(choice.error) ? this.#classify(choice.error) : undefined;
    if (rawReason === undefined) {
      const complaint = failed ?? this.#complaint();
      if (complaint !== undefined) return complaint;
      return this.#isDone
        ? pathFault(told`The upstream ended its answer without a finish reason.`)
        : cutAnswer();
    }
    const ending = readEnding(rawReason, choice, this.#context.body);
    const hasStopped = isNaturalEnd(rawReason);
    const finishReason = hasStopped ? undefined : choice.rawReason;
    const fault = { finishReason, secrets: secretsIn(this.#context) };
    switch (ending.kind) {
      case 'finished':
        return {
          choice: choice.choice,
          reason: ending.reason,
          rawReason,
          isOdd: ending.isOdd,
          message: refusal === '' ? undefined : scrubText(refusal, secretsIn(this.#context)),
          ...(ending.reason === 'stop-sequence' ? { stopSequence } : {}),
          logprobs: logprobs === undefined ? undefined : { tokens: logprobs },
          unsupportedKinds,
        };
      case 'overloaded':
        return endedRefusal('overloaded', fault);
      case 'failed':
        return failed ?? answerFault(ending.message, fault);
      default:
        return ending satisfies never;
    }
  }

  /** Why nothing more came, where the upstream said it in words of its own. */
  #complaint(): GatewayError | undefined {
    const said = this.#other && complaintIn(this.#other);
    return said && this.#classify(said);
  }

  #classify(error: JsonValue): GatewayError {
    return classifyErrorFrame(error, this.#options.now(), secretsIn(this.#context));
  }

  /** A word for the end of an answer that has no reason: a whole body was not cut, and `[DONE]` ends where none is ever given. */
  #unnamedEnd({ isWhole }: ChoiceDecoder): string | undefined {
    return isWhole || (this.#isDone && !this.#options.namesEnds) ? 'none' : undefined;
  }

  #addGrounding(choice: ChoiceDecoder, events: CanonicalEvent[]): void {
    const pages = choice.choice === 0 ? this.#pages : [];
    if (this.#shared.mostCited === 0 || (choice.annotations.length === 0 && pages.length === 0))
      return;
    const found = readAnnotations(choice.annotations, pages, choice.text);
    if (found.sources.length === 0) return;
    events.push({ kind: 'grounding', choice: choice.choice, queries: [], ...found });
  }

  #fail(error: GatewayError, events: CanonicalEvent[]): CanonicalEvent[] {
    for (const choice of this.#choices) choice.close(events);
    this.#close(events);
    events.push({ kind: 'error', error });
    return events;
  }

  #close(events: CanonicalEvent[]): void {
    this.#hasEnded = true;
    if (this.#usage !== undefined) events.push({ kind: 'usage', usage: this.#usage });
  }
}

/** `search_results` are the pages of `citations` with their titles (docs.perplexity.ai, "Chat Completions"). */
function pagesIn({ citations, search_results }: JsonObject): GroundingSource[] | undefined {
  const pages = Array.isArray(search_results) ? search_results : citations;
  if (!Array.isArray(pages)) return undefined;
  return pages.flatMap((page) => {
    const url = textOf(page) ?? textOf(objectOf(page)?.url);
    return url === undefined ? [] : [{ url, title: textOf(objectOf(page)?.title) ?? '' }];
  });
}

/** False where something else stands in place of choices, of what one says, or of its text or calls: it would be lost. */
function isReadable(choices: JsonValue | undefined): boolean {
  return isListOf(choices, (choice) =>
    [choice.delta, choice.message].every((said) => {
      if (!isJsonObject(said)) return said === undefined || said === null;
      const { content, tool_calls: calls } = said;
      return (typeof content === 'string' || isListOf(content)) && isListOf(calls);
    }),
  );
}

/** True for nothing as well. */
function isListOf(
  value: JsonValue | undefined,
  isRight: (item: JsonObject) => boolean = () => true,
): boolean {
  if (!Array.isArray(value)) return value === undefined || value === null;
  return value.every((item) => isJsonObject(item) && isRight(item));
}

/** In the last chunk, in every one, beside the choices, within one (Moonshot), or in `x_groq`. */
function usageIn(frame: JsonObject, choices: readonly JsonObject[]): Usage | undefined {
  const found = [frame.usage, objectOf(frame.x_groq)?.usage, ...choices.map(({ usage }) => usage)];
  const usage = found.find(isJsonObject);
  const read = usage && readUsage(usage);
  // Zeros take no count back that was told before.
  return read && read.promptTokens + read.answerTokens + read.thoughtTokens > 0 ? read : undefined;
}

/**
 * `completion_tokens` holds the thoughts (`openai` CompletionUsage), but where the total says that they stand beside
 * it (docs.x.ai: "reasoning_tokens … separated from the completion_tokens"), or where, with Gemini behind it, the total
 * alone has them (mozilla-ai/any-llm#1290). The other names are those of endpoints
 * for media; writes to a cache are called as openai and OpenRouter, as LiteLLM and as the Messages API do. What was read
 * from one stands beside the sums at DeepSeek and, under another name, at Moonshot.
 */
export function readUsage(usage: JsonObject): Usage {
  const prompt = objectOf(
    usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.input_token_details,
  );
  const answer = objectOf(usage.completion_tokens_details ?? usage.output_tokens_details);
  const promptTokens = firstCount(usage.prompt_tokens, usage.input_tokens);
  const completion = firstCount(usage.completion_tokens, usage.output_tokens);
  const cached = firstCount(
    prompt?.cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.cached_tokens,
  );
  const written = firstCount(
    prompt?.cache_write_tokens,
    prompt?.cache_creation_tokens,
    usage.cache_creation_input_tokens,
  );
  const stated = readTokenCount(answer?.reasoning_tokens);
  const left = firstCount(usage.total_tokens) - promptTokens - completion;
  const isInTotal = stated === undefined && promptTokens > 0 && completion > 0 && left > 0;
  // Where it is as much as a cache had, the prompt was counted without that.
  const thoughtTokens = isInTotal && left !== cached + written ? left : (stated ?? 0);
  const isBeside = thoughtTokens > 0 && left === thoughtTokens;
  const media = mediaIn(prompt);
  const answerMedia = mediaIn(answer);
  return {
    promptTokens,
    cachedTokens: Math.min(cached, promptTokens),
    ...(written === 0 ? {} : { cacheWrites: { tokens: Math.min(written, promptTokens) } }),
    toolPromptTokens: 0,
    answerTokens: isBeside ? completion : Math.max(0, completion - thoughtTokens),
    thoughtTokens: isBeside ? thoughtTokens : Math.min(thoughtTokens, completion),
    ...(media && { media }),
    ...(answerMedia && { answerMedia }),
  };
}

function firstCount(...given: readonly (JsonValue | undefined)[]): number {
  return given.map(readTokenCount).find((count) => count !== undefined) ?? 0;
}

function mediaIn(details: JsonObject | undefined): Usage['media'] {
  const image = firstCount(details?.image_tokens);
  const audio = firstCount(details?.audio_tokens);
  return image + audio > 0 ? { image, audio } : undefined;
}

type Ending =
  /** `isOdd` where the reason is none of a natural end, though what was said can be used. */
  | { readonly kind: 'finished'; readonly reason: FinishReason; readonly isOdd?: true | undefined }
  | { readonly kind: 'overloaded' }
  /** Worth another attempt; `message` is safe for clients. */
  | { readonly kind: 'failed'; readonly message: Sentence };

const UNUSABLE_CALL: Ending = {
  kind: 'failed',
  message: told`The model made a tool call that cannot be used.`,
};

const BLOCKS: ReadonlySet<string> = new Set([
  ...['content_filter', 'safety', 'refusal', 'recitation', 'sensitive'],
]);
/** Words for an answer that something broke off. */
const BREAKS: ReadonlySet<string> = new Set(['error', 'abort', 'network_error']);

/**
 * How one choice ended. Servers give `stop` behind calls as well, so that their presence decides. Sources: `openai`
 * ChatCompletion.Choice.finish_reason; api-docs.deepseek.com (`insufficient_system_resource`); docs.mistral.ai
 * (`model_length`, `error`); docs.z.ai (`sensitive`, `network_error`, `model_context_window_exceeded`).
 */
function readEnding(
  rawReason: string,
  choice: ChoiceDecoder,
  body: JsonObject | undefined,
): Ending {
  const reason = rawReason.toLowerCase();
  if (BLOCKS.has(reason)) return { kind: 'finished', reason: 'safety' };
  if (reason === 'insufficient_system_resource') return { kind: 'overloaded' };
  if (choice.hasBrokenCall) return UNUSABLE_CALL;
  if (BREAKS.has(reason)) {
    return { kind: 'failed', message: told`The upstream ended the answer with an error.` };
  }
  if (isLimit(reason)) {
    const isWhole = choice.hasToolCalls && !choice.hasCutCall;
    return { kind: 'finished', reason: isWhole ? 'tool-calls' : 'max-tokens' };
  }
  const isOdd = isNaturalEnd(reason) ? undefined : true;
  if (choice.hasToolCalls) return { kind: 'finished', reason: 'tool-calls', isOdd };
  if (choice.refusal !== '') return { kind: 'finished', reason: 'safety' };
  const isStopped =
    choice.stopSequence !== undefined && stopsOf(body).includes(choice.stopSequence);
  if (isStopped) return { kind: 'finished', reason: 'stop-sequence' };
  if (choice.hasContent || (isOdd === undefined && stopsOf(body).length > 0)) {
    return { kind: 'finished', reason: 'stop', isOdd };
  }
  return { kind: 'failed', message: told`The model gave an empty answer.` };
}

function stopsOf(body: JsonObject | undefined): readonly JsonValue[] {
  const stop = body?.stop;
  return typeof stop === 'string' ? [stop] : itemsOf(stop);
}

/** The kind of annotations that other wires have a place for. */
const CITES_PAGE = 'url_citation';

/** `{type: 'url_citation', url_citation: {url, title, start_index, end_index}}`, or the same without the inner object. */
function readAnnotations(
  annotations: readonly JsonObject[],
  pages: readonly GroundingSource[],
  text: string,
): { readonly sources: readonly GroundingSource[]; readonly citations: readonly Citation[] } {
  const places = new Map<string, number>();
  const sources: GroundingSource[] = [];
  const placeOf = (url: string, title: string): number => {
    const known = places.get(url);
    if (known !== undefined) return known;
    places.set(url, sources.length);
    return sources.push({ url, title }) - 1;
  };
  const citations: Citation[] = [];
  for (const annotation of annotations) {
    const cited = objectOf(annotation.url_citation) ?? annotation;
    const url = textOf(cited.url);
    if (annotation.type !== CITES_PAGE || url === undefined) continue;
    const source = placeOf(url, textOf(cited.title) ?? '');
    const startIndex = readNumber(cited.start_index) ?? 0;
    const endIndex = Math.min(readNumber(cited.end_index) ?? 0, text.length);
    if (!(startIndex >= 0 && startIndex < endIndex)) continue;
    const passage = text.slice(startIndex, endIndex);
    citations.push({ startIndex, endIndex, text: passage, sources: [source] });
  }
  for (const { url, title } of pages) placeOf(url, title);
  return { sources, citations };
}

// Decides where the blocks of one choice begin and end, and puts its tool calls together.

interface SharedState extends AnswerState {
  /** True where calls are remembered with the thoughts that led to them. */
  readonly tracesThoughts: boolean;
  /** Media type of the sound that was asked for. */
  readonly audioType: string;
}

interface OpenBlock {
  readonly index: number;
  readonly kind: 'text' | 'thinking';
}

/**
 * Thoughts, then text, then calls, as they come. Calls are given out whole, once the choice ends or says something
 * else: their pieces may be mixed, and what is no JSON in the end must not have been shown.
 */
class ChoiceDecoder {
  readonly choice: number;
  /** The upstream's own, which may leave some out. */
  readonly number: number;
  readonly #shared: SharedState;
  readonly #text: KeptText | undefined;
  readonly #details = new ReasoningDetails();
  #open: OpenBlock | undefined;
  #hasBegun = false;
  /** The words of the open thought, where they are remembered. */
  #thought = new KeptText();
  /** The field that thoughts come in. */
  #thoughtField: string | undefined;
  /** What was thought so far, for the calls it leads to. */
  #thoughts: Reasoning[] = [];
  readonly #calls = new PartialCalls();
  #sound: Buffer[] = [];
  #soundBytes = 0;
  /** Of what waits for the end of the answer. */
  #lateBytes = 0;
  #unread: ReadonlySet<string> | undefined;
  hasContent = false;
  hasToolCalls = false;
  hasBrokenCall = false;
  /** True when the answer's limit cut a call off, which is left out then. */
  hasCutCall = false;
  rawReason: string | undefined;
  /** Why it broke off, as OpenRouter says it beside the reason (openrouter.ai/docs, "Errors"). */
  error: JsonValue | undefined;
  /** True when it came in one message, of an answer that was asked for whole. */
  isWhole = false;
  /** The stop sequence the upstream says it stopped at. */
  stopSequence: string | undefined;
  /** Why the model refused. */
  refusal = '';
  logprobs: TokenLogprob[] | undefined;
  readonly annotations: JsonObject[] = [];

  constructor(shared: SharedState, choice: number, number: number) {
    this.#shared = shared;
    this.choice = choice;
    this.number = number;
    this.#text = shared.mostCited > 0 ? new KeptText(shared.mostCited) : undefined;
  }

  get text(): string {
    return this.#text?.toString() ?? '';
  }

  /** What parts of unknown kinds call themselves; undefined where there was none. */
  get unread(): readonly string[] | undefined {
    return this.#unread && [...this.#unread];
  }

  get heldBytes(): number {
    const { heldBytes: said } = this.#calls;
    const thought = this.#thought.heldBytes + this.#details.heldBytes;
    return said + thought + this.#soundBytes + this.#lateBytes;
  }

  /** A message that tells an answer whole; undefined where it was told in pieces before. */
  unsaid(message: JsonObject | undefined): JsonObject | undefined {
    return this.#hasBegun || !this.#calls.isEmpty ? undefined : message;
  }

  readRatings(given: JsonObject): void {
    this.logprobs ??= [];
    for (const token of readLogprobs(given)) this.logprobs.push(token);
    this.#lateBytes += sizeOf(given);
  }

  /** A delta of a stream, or a whole message. */
  read(message: JsonObject, events: CanonicalEvent[]): void {
    const details = message.reasoning_details;
    if (details !== undefined) this.#details.add(details);
    const thought = readThought(message);
    if (thought !== undefined) {
      this.#thoughtField ??= plainField(message);
      this.say('thinking', thought, events);
    }
    const images = objectsOf(message.images);
    const content = images.reduce<JsonValue | undefined>(withoutImage, message.content);
    if (typeof content === 'string') this.say('text', content, events);
    else for (const part of objectsOf(content)) this.#readPart(part, events);
    this.#refuse(message.refusal);
    for (const image of images) this.#readImage(image, events);
    if (isJsonObject(message.audio)) this.#readAudio(message.audio, events);
    for (const annotation of objectsOf(message.annotations)) {
      this.annotations.push(annotation);
      if (annotation.type !== CITES_PAGE) this.#noteUnread(annotation);
      this.#lateBytes += sizeOf(annotation);
    }
    const calls = objectsOf(message.tool_calls);
    // Of a whole answer each is one: some services give all calls one id, or none.
    calls.forEach((call, index) => {
      this.#addCall(this.isWhole ? { ...call, index } : call);
    });
    // llama-cpp-python says each call in both forms.
    const deprecated = calls.length === 0 ? deprecatedCall(message) : undefined;
    if (deprecated !== undefined) this.#addCall({ index: 0, function: deprecated });
  }

  /** An answer with more calls than are put together is not the one that the model gave. */
  #addCall(piece: JsonObject): void {
    if (this.#calls.add(piece) === undefined) this.hasBrokenCall = true;
  }

  /** Gives out the calls at a finish reason, which proxies such as Open WebUI write behind each chunk: not in their midst. */
  giveWhole(events: CanonicalEvent[]): void {
    const isWhole = this.#calls.open.every(({ isFreeform, end }) => isFreeform || end.isReached);
    if (isWhole) this.#giveCalls(events);
  }

  /** Gives out what waits for the end of the choice, and ends the open block. */
  close(events: CanonicalEvent[]): void {
    this.#giveAudio(events);
    this.#giveCalls(events);
    this.#endBlock(events);
    this.#giveDetails(events);
  }

  /** Lists of parts, as some servers give them (docs.mistral.ai, "Reasoning"). */
  #readPart(part: JsonObject, events: CanonicalEvent[]): void {
    switch (part.type) {
      case 'text':
      case 'output_text':
        this.say('text', textOf(part.text) ?? '', events);
        break;
      case 'thinking':
        this.say('thinking', thoughtIn(part), events);
        break;
      case 'refusal':
        this.#refuse(part.refusal);
        break;
      case 'image_url':
        this.#readImage(part, events);
        break;
      default:
        this.#noteUnread(part);
    }
  }

  #noteUnread({ type }: JsonObject): void {
    this.#unread = withUnread(this.#unread, textOf(type));
  }

  #refuse(said: JsonValue | undefined): void {
    const text = textOf(said);
    if (text === undefined) return;
    this.refusal += text;
    this.#lateBytes += text.length;
  }

  /** A piece of a text or a thought. */
  say(kind: OpenBlock['kind'], text: string, events: CanonicalEvent[]): void {
    if (text === '') return;
    if (this.#open?.kind !== kind) {
      this.#giveCalls(events);
      this.#endBlock(events);
      this.#open = { index: this.#start({ kind }, events), kind };
    } else if (!this.#calls.isEmpty) {
      this.#giveCalls(events);
      this.say(kind, text, events);
      return;
    }
    events.push({ kind: 'block-delta', index: this.#open.index, delta: { kind, text } });
    if (kind === 'thinking') {
      if (this.#shared.tracesThoughts) this.#thought.add(text);
      return;
    }
    this.#text?.add(text);
    this.hasContent = true;
  }

  #endBlock(events: CanonicalEvent[]): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    if (open.kind === 'text') {
      events.push({ kind: 'block-end', index: open.index });
      return;
    }
    const text = this.#thought.toString();
    this.#thought = new KeptText();
    const signature = this.#remember(text, this.#details.take());
    events.push({ kind: 'block-end', index: open.index, signature });
  }

  /** Details without any words, such as encrypted ones, are a thought nobody can read. */
  #giveDetails(events: CanonicalEvent[]): void {
    const details = this.#details.take();
    if (details === undefined) return;
    const signature = this.#remember('', details);
    const index = this.#start({ kind: 'thinking' }, events);
    events.push({ kind: 'block-end', index, signature });
  }

  #remember(text: string, details: readonly JsonObject[] | undefined): Signature {
    const thought = rememberedThought(text, details, this.#thoughtField);
    if (this.#shared.tracesThoughts) {
      this.#thoughts.push(thought);
      this.#lateBytes += sizeOf(thought);
    }
    return signatureOf(thought, this.#shared.context.signatureFamily);
  }

  #giveCalls(events: CanonicalEvent[]): void {
    if (this.#calls.isEmpty) return;
    for (const call of this.#calls.take()) this.#giveCall(call, events);
  }

  #giveCall(
    { id, name, said, signature, isFreeform }: PartialCall,
    events: CanonicalEvent[],
  ): void {
    const text = said.toString();
    const json = isFreeform ? JSON.stringify({ input: text }) : readArguments(text);
    if (name === undefined || json === undefined) {
      // A limit may cut the last one off; whatever else is no JSON is the model's fault.
      if (isLimit(this.rawReason)) this.hasCutCall = true;
      else this.hasBrokenCall = true;
      return;
    }
    this.#endBlock(events);
    this.#giveDetails(events);
    const { context, tracesThoughts } = this.#shared;
    const thoughts = tracesThoughts && !this.hasToolCalls ? this.#thoughts : [];
    const traced = traceOf(thoughts, context.signatureFamily);
    const family = context.signatureFamily;
    const signed = signature && {
      signature: { value: signature, family, on: 'tool-call' as const },
    };
    const own = takeCallId(this.#shared, id);
    this.#lateBytes += CALL_BYTES;
    const block = { kind: 'tool-call', id: own, name, ...signed, ...traced } as const;
    const index = this.#start(block, events);
    if (json !== '{}') {
      events.push({ kind: 'block-delta', index, delta: { kind: 'arguments', json } });
    }
    events.push({ kind: 'block-end', index });
    this.hasContent = true;
    this.hasToolCalls = true;
  }

  /** A drawn picture; one that is only named by its address is a link. */
  #readImage(image: JsonObject, events: CanonicalEvent[]): void {
    const url = addressIn(image);
    if (url === undefined) return;
    const match = /^data:([\w.+/-]{1,60});base64,/.exec(url.slice(0, 100));
    if (match?.[1] === undefined) {
      this.say('text', `![image](${linkAddress(url)})`, events);
      return;
    }
    this.#addMedia(match[1], url.slice(match[0].length), events);
  }

  /** Sound comes in pieces of base64, each of whole bytes; what is heard is text as well. */
  #readAudio({ data, transcript }: JsonObject, events: CanonicalEvent[]): void {
    const words = textOf(transcript);
    if (words !== undefined) this.say('text', words, events);
    const piece = textOf(data);
    if (piece === undefined) return;
    this.#sound.push(Buffer.from(piece, 'base64'));
    this.#soundBytes += piece.length;
  }

  #giveAudio(events: CanonicalEvent[]): void {
    const pieces = this.#sound;
    if (pieces.length === 0) return;
    this.#sound = [];
    this.#soundBytes = 0;
    this.#addMedia(this.#shared.audioType, Buffer.concat(pieces).toString('base64'), events);
  }

  #addMedia(mediaType: string, base64: string, events: CanonicalEvent[]): void {
    if (base64 === '') return;
    this.#giveCalls(events);
    this.#endBlock(events);
    const index = this.#start({ kind: 'media', mediaType, base64 }, events);
    events.push({ kind: 'block-end', index });
    this.hasContent = true;
  }

  #start(block: BlockOpening, events: CanonicalEvent[]): number {
    const index = this.#shared.nextIndex;
    this.#shared.nextIndex += 1;
    this.#hasBegun = true;
    events.push({ kind: 'block-start', index, choice: this.choice, block });
    return index;
  }
}

function addressIn({ image_url: image }: JsonObject): string | undefined {
  return textOf(image) ?? textOf(objectOf(image)?.url);
}

/** The text without a picture that stands beside it: gateways show one to clients of both forms. */
function withoutImage(content: JsonValue | undefined, image: JsonObject): JsonValue | undefined {
  const link = `](${addressIn(image)})`;
  const end = typeof content === 'string' ? content.indexOf(link) : -1;
  if (typeof content !== 'string' || end < 0) return content;
  const before = content.slice(0, content.lastIndexOf('![', end));
  return before.replace(/(?<!\n)\n+$/, '') + content.slice(end + link.length);
}

const LIMITS: ReadonlySet<string | undefined> = new Set([
  ...['length', 'max_tokens', 'model_length', 'model_context_window_exceeded'],
]);

function isLimit(rawReason: string | undefined): boolean {
  return LIMITS.has(rawReason?.toLowerCase());
}

/** `{content: [{token, logprob, top_logprobs: [{token, logprob}]}]}`. */
function readLogprobs(value: JsonValue | undefined): TokenLogprob[] {
  return itemsOf(objectOf(value)?.content).flatMap((one) => {
    const token = readToken(one);
    if (token === undefined || !isJsonObject(one)) return [];
    const alternatives = itemsOf(one.top_logprobs).flatMap((other) => readToken(other) ?? []);
    return [{ ...token, alternatives }];
  });
}

function readToken(value: JsonValue): { token: string; logprob: number } | undefined {
  if (!isJsonObject(value) || typeof value.token !== 'string') return undefined;
  return { token: value.token, logprob: Math.min(0, readNumber(value.logprob) ?? 0) };
}

// Which chunks of a stream say one text, or one thought, and nothing else.

/** Random texts of OpenAI and of Mistral, which make all chunks differ. */
const PADDINGS = ['obfuscation', 'p'] as const;

/** Undefined where a chunk also tells of an end, of usage, of an error or of calls, or both a text and a thought. */
export function findTextChunk(event: JsonObject): TextEvent | undefined {
  const { choices, error, usage, citations, x_groq: groq } = event;
  const [choice] = Array.isArray(choices) && choices.length === 1 ? choices : [];
  const delta = isJsonObject(choice) ? objectOf(choice.delta) : undefined;
  if (!isJsonObject(choice) || delta === undefined) return undefined;
  if ([error, usage, citations, groq].some(isSaid)) return undefined;
  const field = plainField(delta) ?? 'content';
  if (saysMore(choice, ['index', 'delta']) || saysMore(delta, ['role', field])) return undefined;
  const text = delta[field];
  if (typeof text !== 'string') return undefined;
  return {
    ...{ field, text },
    changing: PADDINGS.find((name) => event[name] !== undefined),
    write: (said) => ({ ...event, choices: [{ ...choice, delta: { ...delta, [field]: said } }] }),
  };
}

function saysMore(object: JsonObject, fields: readonly string[]): boolean {
  for (const name in object) if (!fields.includes(name) && isSaid(object[name])) return true;
  return false;
}

function isSaid(value: JsonValue | undefined): boolean {
  const isEmpty = Array.isArray(value) && value.length === 0;
  return value !== undefined && value !== null && !isEmpty;
}
