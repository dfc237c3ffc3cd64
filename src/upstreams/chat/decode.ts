// Decodes the chunks of one chat completion, or a whole one, into canonical events.

import type { GatewayError } from '../../canonical/error.ts';
import type {
  CanonicalEvent,
  ChoiceEnd,
  Citation,
  FinishReason,
  GroundingSource,
} from '../../canonical/event.ts';
import type { Usage } from '../../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { scrubText } from '../../lib/redact.ts';
import type { Frame } from '../../stream/sse.ts';
import { DONE } from '../../wire/chat.ts';
import { answerFault, endedRefusal, pathFault } from '../errors.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../read-values.ts';
import type { DecodeContext, Decoder } from '../upstream.ts';
import { ChoiceDecoder, isLimit, readLogprobs, type SharedState } from './decode-choice.ts';
import { classifyErrorFrame } from './errors.ts';

interface DecoderOptions {
  /** Milliseconds since the epoch, for errors that name a time. */
  readonly now: () => number;
  /** True where the upstream wants thoughts back: they are remembered with the calls they led to. */
  readonly tracesThoughts: boolean;
  /** False where streams may end without a finish reason. */
  readonly namesEnds: boolean;
}

/** The most a request may ask for. */
const MAX_CHOICES = 128;
/** The longest answers models give are shorter. In UTF-16 units. */
const MAX_CITED_LENGTH = 524_288;

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
      audioType: format === 'pcm16' ? 'audio/L16;codec=pcm;rate=24000' : `audio/${format}`,
      nextIndex: 0,
      callIds: new Set(),
    };
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  push(frame: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (frame === DONE) this.#isDone = true;
    if (this.#hasEnded || frame === DONE) return events;
    const error = errorIn(frame);
    if (error !== undefined) {
      const secrets = this.#secrets();
      return this.#fail(classifyErrorFrame(error, this.#options.now(), secrets), events);
    }
    if (!isReadable(frame.choices)) {
      const fault = told`The upstream sent an answer that could not be read.`;
      return this.#fail(pathFault(fault), events);
    }
    const choices = objectsOf(frame.choices);
    this.#usage = usageIn(frame, choices) ?? this.#usage;
    this.#pages = pagesIn(frame) ?? this.#pages;
    if (choices.length === 0) return events;
    this.#start(frame, events);
    for (const choice of choices) this.#readChoice(choice, events);
    return events;
  }

  /** Such a chunk has one choice, which says its text and nothing else. */
  repeat({ repeats, said }: Frame): CanonicalEvent[] | undefined {
    const [choice] = objectsOf(repeats?.choices);
    if (this.#hasEnded || choice === undefined || said === undefined) return undefined;
    const events: CanonicalEvent[] = [];
    this.#choiceAt(numberOf(choice)).say(said, events);
    return events;
  }

  end(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    if (this.#choices.length === 0) {
      return this.#fail(pathFault(told`The upstream closed without an answer.`), events);
    }
    const ends: ChoiceEnd[] = [];
    let fault: GatewayError | undefined;
    for (const choice of this.#choices) {
      choice.close(events);
      const end = this.#endOf(choice);
      if (!(end instanceof Error)) ends.push(end);
      // An answer cut off in one choice is cut off, whatever the others say of themselves.
      else if (fault === undefined || (isCut(end) && !isCut(fault))) fault = end;
    }
    if (fault !== undefined) return this.#fail(fault, events);
    for (const choice of this.#choices) this.#addGrounding(choice, events);
    this.#close(events);
    events.push({ kind: 'finish', choices: ends });
    return events;
  }

  #start({ id, model }: JsonObject, events: CanonicalEvent[]): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const names = { upstreamId: textOf(id), modelVersion: textOf(model) };
    events.push({ kind: 'start', ...names, usage: this.#usage });
  }

  #readChoice(value: JsonObject, events: CanonicalEvent[]): void {
    const choice = this.#choiceAt(numberOf(value));
    const [piece, whole] = [objectOf(value.delta), objectOf(value.message)];
    // Perplexity has both: beside the piece all that was said so far, beside the whole an empty piece.
    const isStreamed = this.#context.stream === true;
    const message = isStreamed ? (piece ?? whole) : (whole ?? piece);
    choice.isWhole ||= !isStreamed && whole !== undefined;
    const reason = textOf(value.finish_reason);
    // Known before the calls are given out: a limit may have cut one off.
    choice.rawReason = reason ?? choice.rawReason;
    choice.stopSequence = textOf(value.stop_reason) ?? choice.stopSequence;
    if (message !== undefined) choice.read(message, events);
    if (isJsonObject(value.logprobs)) {
      choice.logprobs ??= [];
      choice.logprobs.push(...readLogprobs(value.logprobs));
    }
    if (reason !== undefined) choice.close(events);
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
    if (rawReason === undefined) {
      return pathFault(
        this.#isDone
          ? told`The upstream ended its answer without a finish reason.`
          : told`The upstream cut its answer off.`,
      );
    }
    const ending = readEnding(rawReason, choice, this.#context.body);
    const hasStopped = STOPS.has(rawReason.toLowerCase());
    const finishReason = hasStopped ? undefined : choice.rawReason;
    const fault = { finishReason, finishMessage: undefined, secrets: this.#secrets() };
    switch (ending.kind) {
      case 'finished':
        return {
          choice: choice.choice,
          reason: ending.reason,
          rawReason,
          isOdd: ending.isOdd,
          message: refusal === '' ? undefined : scrubText(refusal, this.#secrets()),
          ...(ending.reason === 'stop-sequence' ? { stopSequence } : {}),
          logprobs: logprobs === undefined ? undefined : { tokens: logprobs },
          unsupportedKinds,
        };
      case 'overloaded':
        return endedRefusal('overloaded', fault);
      case 'failed':
        return answerFault(ending.message, fault);
      default:
        return ending satisfies never;
    }
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

  #secrets(): readonly string[] {
    const { access } = this.#context;
    return access === undefined ? [] : [access.credential];
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

/**
 * What a chunk says in place of an answer: `{error}` in any shape, or an object that is the error itself, as older
 * vLLM has it.
 */
function errorIn(frame: JsonObject): JsonValue | undefined {
  const { error, object, choices } = frame;
  if (error !== undefined && error !== null) return error;
  const isError = object === 'error' || frame.type === 'error';
  return isError && choices === undefined ? frame : undefined;
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

/** Absent for the first one. An index no request can have asked for is no index. */
function numberOf({ index }: JsonObject): number {
  const number = readNumber(index) ?? 0;
  return Number.isInteger(number) && number >= 0 && number < MAX_CHOICES ? number : 0;
}

function isCut({ failure }: GatewayError): boolean {
  return failure?.kind === 'path';
}

/** In the last chunk, in every one, beside the choices, within one (Moonshot), or in `x_groq`. */
function usageIn(frame: JsonObject, choices: readonly JsonObject[]): Usage | undefined {
  const found = [frame.usage, objectOf(frame.x_groq)?.usage, ...choices.map(({ usage }) => usage)];
  const usage = found.find(isJsonObject);
  return usage === undefined ? undefined : readUsage(usage);
}

/**
 * `completion_tokens` holds the thoughts (`openai` CompletionUsage), but where the total says that they stand beside
 * it (docs.x.ai: "reasoning_tokens … separated from the completion_tokens").
 */
function readUsage(usage: JsonObject): Usage | undefined {
  const promptTokens = countOf(usage.prompt_tokens) ?? countOf(usage.input_tokens) ?? 0;
  const completion = countOf(usage.completion_tokens) ?? countOf(usage.output_tokens) ?? 0;
  const prompt = objectOf(usage.prompt_tokens_details);
  const details = objectOf(usage.completion_tokens_details);
  const thoughtTokens = countOf(details?.reasoning_tokens) ?? 0;
  const cached = countOf(prompt?.cached_tokens) ?? countOf(usage.prompt_cache_hit_tokens) ?? 0;
  const written = readCacheWrites(usage, prompt);
  const total = countOf(usage.total_tokens);
  const isBeside = thoughtTokens > 0 && total === promptTokens + completion + thoughtTokens;
  const image = countOf(prompt?.image_tokens) ?? 0;
  const audio = countOf(prompt?.audio_tokens) ?? 0;
  const drawn = countOf(details?.image_tokens) ?? 0;
  const spoken = countOf(details?.audio_tokens) ?? 0;
  return {
    promptTokens,
    cachedTokens: Math.min(cached, promptTokens),
    ...(written === 0 ? {} : { cacheWrites: { tokens: Math.min(written, promptTokens) } }),
    toolPromptTokens: 0,
    answerTokens: isBeside ? completion : Math.max(0, completion - thoughtTokens),
    thoughtTokens: isBeside ? thoughtTokens : Math.min(thoughtTokens, completion),
    ...(image + audio > 0 ? { media: { image, audio } } : {}),
    ...(drawn + spoken > 0 ? { answerMedia: { image: drawn, audio: spoken } } : {}),
  };
}

/** Spellings of openai and OpenRouter, LiteLLM's, and the Messages API's own, which some services pass on. */
function readCacheWrites(usage: JsonObject, prompt: JsonObject | undefined): number {
  return (
    countOf(prompt?.cache_write_tokens) ??
    countOf(prompt?.cache_creation_tokens) ??
    countOf(usage.cache_creation_input_tokens) ??
    0
  );
}

/** Sums of larger ones would not fit the stores of records. */
const MAX_TOKEN_COUNT = 2_147_483_647;

function countOf(value: JsonValue | undefined): number | undefined {
  const count = readNumber(value);
  return count !== undefined && count >= 0 && count <= MAX_TOKEN_COUNT
    ? Math.round(count)
    : undefined;
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

/** Words for a natural end. */
const STOPS: ReadonlySet<string> = new Set([
  ...['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'completed'],
  ...['tool_calls', 'function_call', 'tool_use', 'tool_call'],
]);
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
  const isOdd = STOPS.has(reason) ? undefined : true;
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
    if (annotation.type !== 'url_citation' || url === undefined) continue;
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
