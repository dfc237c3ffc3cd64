// Decodes the frames of one answer into canonical events.

import type { GatewayError } from '../../canonical/error.ts';
import type {
  CanonicalEvent,
  ChoiceEnd,
  FetchedPage,
  FinishReason,
  Logprobs,
  RatedToken,
  TokenLogprob,
} from '../../canonical/event.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { scrubText } from '../../lib/redact.ts';
import type { DecodeContext, Decoder, Frame } from '../upstream.ts';
import { type AnswerContext, ChoiceDecoder } from './decode-blocks.ts';
import { answerFault, classifyErrorFrame, endedRefusal, pathFault } from './errors.ts';
import {
  addFetchedPages,
  addRecited,
  type Grounding,
  mergeGrounding,
  readGrounding,
  readSearches,
} from './grounding.ts';
import { secretsOf } from './requests.ts';

/**
 * Frames may hold anything: unknown fields and kinds are passed over. The ending is given out by
 * `end()` only, because usage may come after the finish reason; an answer without a finish reason
 * was cut off.
 * @param now milliseconds since the epoch, for errors that name a time.
 */
export function createDecoder(context: DecodeContext, now: () => number): Decoder {
  return new GenerateDecoder(context, now);
}

/** Of Chat Completions; the others ask for fewer. */
const MOST_CHOICES = 128;

interface ChoiceState {
  readonly choice: number;
  readonly blocks: ChoiceDecoder;
  rawReason: string | undefined;
  message: string | undefined;
  grounding: JsonObject | undefined;
  /** Queries told before the first words. */
  readonly searches: Set<string>;
  readonly pages: Map<string, FetchedPage>;
  logprobs: GatheredLogprobs | undefined;
  readonly recited: Set<string>;
}

/** Where the text of a frame that says nothing else goes. */
interface PlainText {
  readonly blocks: ChoiceDecoder;
  readonly kind: 'text' | 'thinking';
}

const PLAIN_CANDIDATE: ReadonlySet<string> = new Set(['content', 'index', 'safetyRatings']);
const PLAIN_PART: ReadonlySet<string> = new Set(['text', 'thought']);

class GenerateDecoder implements Decoder {
  readonly #now: () => number;
  readonly #context: AnswerContext;
  readonly #secrets: readonly string[];
  readonly #mayBeStopped: boolean;
  /** By the upstream's number, in order of their own. */
  readonly #choices = new Map<number, ChoiceState>();
  #hasStarted = false;
  #hasEnded = false;
  /** The running counts of the latest frame that had any; read when they are asked for. */
  #counts: JsonObject | undefined;
  /** Of frames that repeat another the latest, whose counts are in `#counts` only once they are asked for. */
  #repeated: Frame | undefined;
  /** The frame that was read last, and what a repetition of it amounts to once one came. */
  #last: JsonObject | undefined;
  #plainText: PlainText | undefined;
  #blockReason: string | undefined;
  #blockMessage: string | undefined;

  constructor(context: DecodeContext, now: () => number) {
    this.#now = now;
    this.#secrets = context.access === undefined ? [] : secretsOf(context.access);
    this.#mayBeStopped = hasStops(context.body);
    let nextIndex = 0;
    const { callIdPrefix = 'call_' } = context;
    this.#context = {
      signatureFamily: context.signatureFamily,
      mostCited: mostCited(context),
      showsDrafts: context.showsDrafts ?? false,
      passesParts: context.passesParts ?? false,
      createCallId: () => context.createId(callIdPrefix),
      takeIndex: () => nextIndex++,
      callIds: new Set(),
    };
  }

  get usage(): Usage | undefined {
    return readUsage(this.#latestCounts());
  }

  get countedAnswer(): number | undefined {
    return readAnswerCount(this.#latestCounts());
  }

  push(frame: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    const { error } = frame;
    if (error !== undefined && error !== null) {
      return this.#fail(classifyErrorFrame(error, this.#now(), this.#secrets), events);
    }
    this.#last = frame;
    this.#plainText = undefined;
    const counts = this.#latestCounts();
    this.#counts = isJsonObject(frame.usageMetadata) ? frame.usageMetadata : counts;
    if (!this.#hasStarted) this.#start(frame, events);
    this.#readFeedback(frame.promptFeedback);
    if (!Array.isArray(frame.candidates)) return events;
    for (const candidate of byNumber(frame.candidates)) {
      if (isJsonObject(candidate)) this.#readCandidate(candidate, events);
    }
    return events;
  }

  repeat(frame: Frame): CanonicalEvent[] | undefined {
    const { repeats, said } = frame;
    if (this.#hasEnded || repeats === undefined || repeats !== this.#last) return undefined;
    this.#plainText ??= this.#findPlainText(repeats);
    if (this.#plainText === undefined || said === undefined) return undefined;
    this.#repeated = frame;
    const { blocks, kind } = this.#plainText;
    return said === '' ? [] : blocks.goOn(kind, said);
  }

  end(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    const choices = [...this.#choices.values()];
    const isAnswered = choices.some(({ rawReason }) => rawReason !== undefined);
    if (choices.length === 0 || (!isAnswered && this.#blockReason !== undefined)) {
      return this.#endUnanswered(events);
    }
    const context = { mayBeStopped: this.#mayBeStopped, secrets: this.#secrets };
    const ends: ChoiceEnd[] = [];
    const faults: GatewayError[] = [];
    for (const state of choices) {
      const end = readEnd(state, context);
      if (end instanceof Error) faults.push(end);
      else ends.push(end);
    }
    const [fault] = faults.sort(cutsFirst);
    if (fault !== undefined) return this.#fail(fault, events);
    for (const state of choices) addGrounding(state, events);
    return this.#finish(ends, events);
  }

  #latestCounts(): JsonObject | undefined {
    const counts = this.#repeated?.value.usageMetadata;
    this.#repeated = undefined;
    if (isJsonObject(counts)) this.#counts = counts;
    return this.#counts;
  }

  /** Undefined where more than a text is said. */
  #findPlainText({ candidates, promptFeedback }: JsonObject): PlainText | undefined {
    const candidate = onlyObject(candidates, PLAIN_CANDIDATE);
    if (candidate === undefined || promptFeedback !== undefined) return undefined;
    const { content } = candidate;
    const part = isJsonObject(content) ? onlyObject(content.parts, PLAIN_PART) : undefined;
    if (part === undefined || typeof part.text !== 'string') return undefined;
    const { blocks } = this.#choiceAt(readNumberOf(candidate));
    return { blocks, kind: part.thought === true ? 'thinking' : 'text' };
  }

  /** Frames that are no answer yet (`{}` as a keep-alive) start nothing. */
  #start(frame: JsonObject, events: CanonicalEvent[]): void {
    const { candidates, promptFeedback, usageMetadata } = frame;
    if (candidates === undefined && promptFeedback === undefined && !usageMetadata) return;
    this.#hasStarted = true;
    events.push({
      kind: 'start',
      upstreamId: textOf(frame.responseId),
      modelVersion: textOf(frame.modelVersion),
      usage: this.usage,
    });
  }

  #readFeedback(feedback: JsonValue | undefined): void {
    if (!isJsonObject(feedback)) return;
    this.#blockReason = textOf(feedback.blockReason) ?? this.#blockReason;
    this.#blockMessage = textOf(feedback.blockReasonMessage) ?? this.#blockMessage;
  }

  #readCandidate(candidate: JsonObject, events: CanonicalEvent[]): void {
    const state = this.#choiceAt(readNumberOf(candidate));
    const { content, groundingMetadata, urlContextMetadata } = candidate;
    if (this.#context.mostCited > 0 && !state.blocks.hasContent)
      addSearches(state, candidate, events);
    if (isJsonObject(content) && Array.isArray(content.parts)) {
      for (const part of content.parts) {
        if (isJsonObject(part)) state.blocks.readPart(part, events);
      }
    }
    state.rawReason = textOf(candidate.finishReason) ?? state.rawReason;
    state.message = textOf(candidate.finishMessage) ?? state.message;
    state.logprobs = addLogprobs(state.logprobs, candidate);
    addRecited(state.recited, candidate);
    if (isJsonObject(groundingMetadata)) {
      state.grounding = mergeGrounding(state.grounding, groundingMetadata);
    }
    if (isJsonObject(urlContextMetadata)) {
      addFetchedPages(state.pages, urlContextMetadata);
    }
  }

  /** Choices are counted as they come: a number left out would be one that clients miss. */
  #choiceAt(number: number): ChoiceState {
    const known = this.#choices.get(number);
    if (known !== undefined) return known;
    const choice = this.#choices.size;
    const state: ChoiceState = {
      choice,
      blocks: new ChoiceDecoder(choice, this.#context),
      rawReason: undefined,
      message: undefined,
      grounding: undefined,
      searches: new Set(),
      pages: new Map(),
      logprobs: undefined,
      recited: new Set(),
    };
    this.#choices.set(number, state);
    return state;
  }

  #endUnanswered(events: CanonicalEvent[]): CanonicalEvent[] {
    if (this.#blockReason === undefined) {
      return this.#fail(pathFault(told`The upstream closed without an answer.`), events);
    }
    const end: ChoiceEnd = {
      choice: 0,
      reason: 'prompt-blocked',
      rawReason: this.#blockReason,
      message: sayable(this.#blockMessage, this.#secrets),
    };
    return this.#finish([end], events);
  }

  #finish(choices: readonly ChoiceEnd[], events: CanonicalEvent[]): CanonicalEvent[] {
    this.#closeAll(events);
    events.push({ kind: 'finish', choices });
    return events;
  }

  #fail(error: GatewayError, events: CanonicalEvent[]): CanonicalEvent[] {
    this.#closeAll(events);
    events.push({ kind: 'error', error });
    return events;
  }

  #closeAll(events: CanonicalEvent[]): void {
    this.#hasEnded = true;
    for (const { blocks } of this.#choices.values()) blocks.close(events);
    const { usage } = this;
    if (usage !== undefined) events.push({ kind: 'usage', usage });
  }
}

/** An answer cut off in one choice is cut off, whatever the others say of themselves. */
function cutsFirst(left: GatewayError, right: GatewayError): number {
  return Number(right.failure?.kind === 'path') - Number(left.failure?.kind === 'path');
}

/** The choice's ending, or why it has none. */
function readEnd(
  state: ChoiceState,
  {
    mayBeStopped,
    secrets,
  }: { readonly mayBeStopped: boolean; readonly secrets: readonly string[] },
): ChoiceEnd | GatewayError {
  const { choice, blocks, rawReason, message, logprobs } = state;
  const recited = state.recited.size === 0 ? undefined : [...state.recited];
  const { hasContent, hasToolCalls, hasBrokenCall, unread } = blocks;
  if (rawReason === undefined) return pathFault(told`The upstream cut its answer off.`);
  // Compatible upstreams write enums in small letters.
  const ending = readEnding(rawReason.toUpperCase(), {
    hasContent,
    hasToolCalls,
    hasBrokenCall,
    mayBeStopped,
  });
  if (ending.kind === 'finished') {
    const { reason, isOdd } = ending;
    const said = sayable(message, secrets);
    return {
      choice,
      reason,
      rawReason,
      isOdd,
      message: said,
      logprobs,
      recited,
      unsupportedKinds: unread,
    };
  }
  const fault = { finishReason: rawReason, finishMessage: message, secrets };
  if (ending.kind === 'refused') return endedRefusal(ending.failure, fault);
  return answerFault(ending.message, fault);
}

/** The upstream's own words on an ending, which clients are told. */
function sayable(message: string | undefined, secrets: readonly string[]): string | undefined {
  return message === undefined ? undefined : scrubText(message, secrets);
}

function hasStops(body: JsonObject | undefined): boolean {
  const config = body?.generationConfig;
  if (!isJsonObject(config)) return false;
  const { stopSequences } = config;
  return Array.isArray(stopSequences) && stopSequences.length > 0;
}

/** The longest answers models give are shorter. In UTF-16 units. */
const MOST_CITED = 524_288;
/** Some search unasked; for those who did not ask, long answers are not kept. */
const MOST_CITED_UNASKED = 65_536;

function mostCited({ placesCitations = true, body }: DecodeContext): number {
  if (!placesCitations) return 0;
  return body === undefined || asksForSources(body) ? MOST_CITED : MOST_CITED_UNASKED;
}

/** Every tool but functions and code brings sources. */
function asksForSources({ tools }: JsonObject): boolean {
  return (
    Array.isArray(tools) &&
    tools.some(
      (tool) =>
        isJsonObject(tool) &&
        Object.keys(tool).some((key) => key !== 'functionDeclarations' && key !== 'codeExecution'),
    )
  );
}

const NOT_SEARCHED: Grounding = { queries: [], sources: [], citations: [] };

/** Each word of a further search tells those before it again. */
const MOST_EARLY_SEARCHES = 100;

/** A search is told as soon as it is known: some clients show it before the words it led to. */
function addSearches(state: ChoiceState, candidate: JsonObject, events: CanonicalEvent[]): void {
  const { choice, searches } = state;
  const { size } = searches;
  for (const query of readSearches(candidate)) searches.add(query);
  if (searches.size === size || size > MOST_EARLY_SEARCHES) return;
  const queries = [...searches];
  events.push({ kind: 'grounding', choice, ...NOT_SEARCHED, queries, isEarly: true });
}

/** Grounding is placed when the whole text is known, while its last block is still open. */
function addGrounding(state: ChoiceState, events: CanonicalEvent[]): void {
  const { choice, grounding, searches, pages, blocks } = state;
  const found = grounding && readGrounding(grounding, blocks);
  if (found === undefined && pages.size === 0) return;
  const told = found ?? NOT_SEARCHED;
  // What is told last counts alone: an end without queries takes none back that were told before.
  const queries = told.queries.length === 0 ? [...searches] : told.queries;
  const opened = pages.size === 0 ? {} : { pages: [...pages.values()] };
  events.push({ kind: 'grounding', choice, ...told, queries, ...opened });
}

/** The only item of a list, when it is an object with no other fields than these. */
function onlyObject(
  list: JsonValue | undefined,
  fields: ReadonlySet<string>,
): JsonObject | undefined {
  const item = Array.isArray(list) && list.length === 1 ? list[0] : undefined;
  return isJsonObject(item) && Object.keys(item).every((key) => fields.has(key)) ? item : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function byNumber(candidates: readonly JsonValue[]): readonly JsonValue[] {
  if (candidates.length < 2) return candidates;
  const readable = candidates.filter(isJsonObject);
  return readable.sort((left, right) => readNumberOf(left) - readNumberOf(right));
}

/** Absent for the first one: the JSON form of zero. An index no request can have asked for is no index. */
function readNumberOf({ index }: JsonObject): number {
  const number = readNumber(index) ?? 0;
  return Number.isInteger(number) && number >= 0 && number < MOST_CHOICES ? number : 0;
}

/**
 * The usage of a frame's `usageMetadata`; undefined when it has none. Absent counts are zero; the
 * answer's, when only the total is there, is what the others leave of it.
 * Source: ai.google.dev, "GenerateContent API reference", `UsageMetadata`.
 */
function readUsage(metadata: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const promptTokens = countAt(metadata, 'promptTokenCount') ?? 0;
  const toolPromptTokens = countAt(metadata, 'toolUsePromptTokenCount') ?? 0;
  const thoughtTokens = countAt(metadata, 'thoughtsTokenCount') ?? 0;
  const total = countAt(metadata, 'totalTokenCount') ?? 0;
  return {
    promptTokens,
    cachedTokens: Math.min(countAt(metadata, 'cachedContentTokenCount') ?? 0, promptTokens),
    toolPromptTokens,
    answerTokens:
      countAt(metadata, 'candidatesTokenCount') ??
      Math.max(0, total - promptTokens - toolPromptTokens - thoughtTokens),
    thoughtTokens,
    ...readMedia(metadata.promptTokensDetails),
  };
}

/** Undefined too where the total says that the thoughts are among those of the answer, as some upstreams count. */
function readAnswerCount(metadata: JsonObject | undefined): number | undefined {
  if (metadata === undefined) return undefined;
  const answer = countAt(metadata, 'candidatesTokenCount');
  if (answer === undefined) return undefined;
  const { promptTokens, toolPromptTokens, thoughtTokens } = readUsage(metadata) ?? NO_USAGE;
  const isInclusive =
    thoughtTokens > 0 &&
    countAt(metadata, 'totalTokenCount') === promptTokens + toolPromptTokens + answer;
  return isInclusive ? undefined : answer;
}

/** `[{modality: "TEXT", tokenCount: 3}, {modality: "IMAGE", tokenCount: 258}]`. Most prompts are text alone. */
function readMedia(details: JsonValue | undefined): Pick<Usage, 'media'> {
  if (!Array.isArray(details)) return {};
  const image = countOf(details, 'IMAGE');
  const audio = countOf(details, 'AUDIO');
  return image === 0 && audio === 0 ? {} : { media: { image, audio } };
}

function countOf(details: readonly JsonValue[], modality: string): number {
  let count = 0;
  for (const detail of details) {
    if (isJsonObject(detail) && detail.modality === modality)
      count += countAt(detail, 'tokenCount') ?? 0;
  }
  return count;
}

/** The counts are 32-bit integers of the API; sums of larger ones would not fit the stores of records. */
const MOST_TOKENS = 2_147_483_647;

/** A number of tokens; undefined for what no answer can have used. */
export function readTokenCount(given: JsonValue | undefined): number | undefined {
  // The JSON form of 64-bit numbers is text (protobuf.dev, "ProtoJSON Format").
  const count = typeof given === 'string' && given !== '' ? Number(given) : readNumber(given);
  return count !== undefined && count >= 0 && count <= MOST_TOKENS ? Math.round(count) : undefined;
}

function countAt(metadata: JsonObject, key: string): number | undefined {
  return readTokenCount(metadata[key]);
}

interface AnswerSoFar {
  /** True when there is anything but thoughts. */
  readonly hasContent: boolean;
  readonly hasToolCalls: boolean;
  /** True when a call cannot be told whole. */
  readonly hasBrokenCall: boolean;
  /** True when the request has stop sequences: one of them may be all there was to say. */
  readonly mayBeStopped: boolean;
}

type Ending =
  /** `isOdd` where the reason is none of a natural end, though what was said can be used. */
  | { readonly kind: 'finished'; readonly reason: FinishReason; readonly isOdd?: true | undefined }
  /** What other upstreams refuse with a status: there is no answer, or no more of it. */
  | { readonly kind: 'refused'; readonly failure: 'missing-signature' | 'model-forbidden' }
  /** Worth another attempt; `message` is safe for clients. */
  | { readonly kind: 'failed'; readonly message: string };

const UNUSABLE_CALL: Ending = {
  kind: 'failed',
  message: 'The model made a tool call that cannot be used.',
};

/**
 * How one choice ended. The wire has no reason of its own for tool calls, so their presence decides.
 * Source: ai.google.dev, "GenerateContent API reference", and `google-genai` 3.4 (Python), `FinishReason`.
 */
function readEnding(rawReason: string, answer: AnswerSoFar): Ending {
  switch (rawReason) {
    case 'SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
    case 'ESCALATION':
    case 'MODEL_ARMOR':
      return { kind: 'finished', reason: 'safety' };
    case 'MISSING_THOUGHT_SIGNATURE':
      return { kind: 'refused', failure: 'missing-signature' };
    // The account broke the rules of use: it is limited or closed.
    case 'PUP_LIMITED_DISABLED':
      return { kind: 'refused', failure: 'model-forbidden' };
    case 'MALFORMED_FUNCTION_CALL':
    case 'UNEXPECTED_TOOL_CALL':
    case 'TOO_MANY_TOOL_CALLS':
      return UNUSABLE_CALL;
    case 'MALFORMED_RESPONSE':
      return { kind: 'failed', message: 'The model gave an answer that cannot be used.' };
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      if (answer.hasBrokenCall) return UNUSABLE_CALL;
      return { kind: 'finished', reason: answer.hasToolCalls ? 'tool-calls' : 'max-tokens' };
    case 'STOP':
      // A stop sequence is left out of the text, and its reason is that of a natural end.
      return readNatural(answer, answer.mayBeStopped);
    // LANGUAGE, OTHER, NO_IMAGE, IMAGE_OTHER, and every reason newer than this table.
    default: {
      const ending = readNatural(answer, false);
      return ending.kind === 'finished' ? { ...ending, isOdd: true } : ending;
    }
  }
}

function readNatural(answer: AnswerSoFar, mayBeEmpty: boolean): Ending {
  if (answer.hasBrokenCall) return UNUSABLE_CALL;
  if (answer.hasToolCalls) return { kind: 'finished', reason: 'tool-calls' };
  if (answer.hasContent || mayBeEmpty) return { kind: 'finished', reason: 'stop' };
  return { kind: 'failed', message: 'The model gave an empty answer.' };
}

/** Grows with the frames of one candidate. */
interface GatheredLogprobs extends Logprobs {
  readonly tokens: TokenLogprob[];
  average: number | undefined;
}

/**
 * What is known so far with what this frame adds: tokens are added up, the last average counts.
 * `topCandidates` has an entry a decoding step, as `chosenCandidates` has.
 * Source: ai.google.dev, "GenerateContent API reference", `LogprobsResult`.
 */
function addLogprobs(
  known: GatheredLogprobs | undefined,
  { logprobsResult, avgLogprobs }: JsonObject,
): GatheredLogprobs | undefined {
  if (logprobsResult === undefined && avgLogprobs === undefined) return known;
  const tokens = isJsonObject(logprobsResult) ? readTokens(logprobsResult) : [];
  const average = readNumber(avgLogprobs) ?? known?.average;
  if (tokens.length === 0 && average === undefined) return known;
  const gathered = known ?? { tokens: [], average };
  for (const token of tokens) gathered.tokens.push(token);
  gathered.average = average;
  return gathered;
}

function readTokens({ chosenCandidates, topCandidates }: JsonObject): TokenLogprob[] {
  const steps = listOf(topCandidates);
  return listOf(chosenCandidates).flatMap((chosen, index) => {
    const token = readToken(chosen);
    if (token === undefined) return [];
    const step = steps[index];
    const alternatives = isJsonObject(step) ? listOf(step.candidates) : [];
    return [{ ...token, alternatives: alternatives.flatMap((one) => readToken(one) ?? []) }];
  });
}

/** An absent log-probability is 0: the wire leaves zeros out. */
function readToken(value: JsonValue): RatedToken | undefined {
  if (!isJsonObject(value) || typeof value.token !== 'string') return undefined;
  const { token } = value;
  return { token, id: readNumber(value.tokenId), logprob: readNumber(value.logProbability) ?? 0 };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
