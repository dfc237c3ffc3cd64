// Decodes the frames of one answer into canonical events.

import type { GatewayError } from '../../canonical/error.ts';
import {
  type CanonicalEvent,
  type ChoiceEnd,
  type FinishReason,
  MAX_EARLY_SEARCHES,
  type RatedToken,
  type TokenLogprob,
} from '../../canonical/event.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { scrubText } from '../../lib/redact.ts';
import type { Frame } from '../../stream/sse.ts';
import { answerFault, endedRefusal, pathFault } from '../errors.ts';
import { itemsOf, objectOf, textOf } from '../read-values.ts';
import type { DecodeContext, Decoder } from '../upstream.ts';
import { ChoiceDecoder, type GatheredLogprobs, type SharedState } from './decode-blocks.ts';
import { classifyErrorFrame } from './errors.ts';
import {
  addFetchedPages,
  addRecited,
  type Grounding,
  mergeGrounding,
  readGrounding,
  readSearches,
} from './grounding.ts';
import { secretsOf } from './requests.ts';

/** Of Chat Completions; the others ask for fewer. */
const MAX_CHOICES = 128;

/** Where the text of a frame that says nothing else goes. */
interface PlainText {
  readonly choice: ChoiceDecoder;
  readonly kind: 'text' | 'thinking';
}

const PLAIN_CANDIDATE: ReadonlySet<string> = new Set(['content', 'index', 'safetyRatings']);
const PLAIN_PART: ReadonlySet<string> = new Set(['text', 'thought']);

/**
 * Frames may hold anything: unknown fields and kinds are passed over. The ending is given out by
 * `end()` only, because usage may come after the finish reason; an answer without a finish reason
 * was cut off.
 */
export class GenerateDecoder implements Decoder {
  readonly #now: () => number;
  readonly #context: DecodeContext;
  readonly #shared: SharedState;
  /** True when sources are asked for, or it is not known what is. */
  readonly #isSearching: boolean;
  readonly #choices: ChoiceDecoder[] = [];
  #hasStarted = false;
  #hasEnded = false;
  /** The running counts of the latest frame that had any; read when they are asked for. */
  #counts: JsonObject | undefined;
  /** What was read of counts last: they are asked for several times. */
  #read: { readonly counts: JsonObject | undefined; readonly usage: Usage | undefined } | undefined;
  /** Of frames that repeat another the latest, whose counts are in `#counts` only once they are asked for. */
  #repeated: Frame | undefined;
  /** The frame that was read last, and what a repetition of it amounts to once one came. */
  #last: JsonObject | undefined;
  #plainText: PlainText | undefined;
  #blockReason: string | undefined;
  #blockMessage: string | undefined;

  /** @param now milliseconds since the epoch, for errors that name a time. */
  constructor(context: DecodeContext, now: () => number) {
    this.#now = now;
    this.#context = context;
    const { body, placesCitations = true } = context;
    this.#isSearching =
      placesCitations &&
      (body === undefined || (Array.isArray(body.tools) && body.tools.some(findsSources)));
    const mostCited = this.#isSearching ? MAX_CITED_LENGTH : MAX_CITED_LENGTH_UNASKED;
    this.#shared = {
      context,
      mostCited: placesCitations ? mostCited : 0,
      nextIndex: 0,
      callIds: undefined,
    };
  }

  get usage(): Usage | undefined {
    const counts = this.#latestCounts();
    if (this.#read?.counts !== counts) this.#read = { counts, usage: readUsage(counts) };
    return this.#read?.usage;
  }

  get countedAnswer(): number | undefined {
    return readAnswerCount(this.#latestCounts());
  }

  push(frame: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    const { error } = frame;
    if (error !== undefined && error !== null) {
      return this.#fail(classifyErrorFrame(error, this.#now(), this.#secrets()), events);
    }
    const { promptFeedback: feedback, candidates } = frame;
    if (!isReadable(candidates ?? [])) {
      const fault = told`The upstream sent an answer that could not be read.`;
      return this.#fail(pathFault(fault), events);
    }
    this.#last = frame;
    this.#plainText = undefined;
    const counts = this.#latestCounts();
    this.#counts = isJsonObject(frame.usageMetadata) ? frame.usageMetadata : counts;
    if (!this.#hasStarted) this.#start(frame, events);
    if (isJsonObject(feedback)) {
      this.#blockReason = textOf(feedback.blockReason) ?? this.#blockReason;
      this.#blockMessage = textOf(feedback.blockReasonMessage) ?? this.#blockMessage;
    }
    if (!Array.isArray(candidates)) return events;
    for (const candidate of candidates.length < 2 ? candidates : byNumber(candidates)) {
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
    const { choice, kind } = this.#plainText;
    return said === '' ? [] : choice.goOn(kind, said);
  }

  end(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    const ends: ChoiceEnd[] = [];
    let fault: GatewayError | undefined;
    let isAnswered = false;
    for (const choice of this.#choices) {
      isAnswered ||= choice.rawReason !== undefined;
      const end = this.#endOf(choice);
      if (!(end instanceof Error)) ends.push(end);
      // An answer cut off in one choice is cut off, whatever the others say of themselves.
      else if (fault === undefined || (isCut(end) && !isCut(fault))) fault = end;
    }
    if (!isAnswered && (this.#choices.length === 0 || this.#blockReason !== undefined)) {
      return this.#endUnanswered(events);
    }
    if (fault !== undefined) return this.#fail(fault, events);
    for (const choice of this.#choices) {
      if (choice.grounding !== undefined || choice.pages !== undefined) {
        addGrounding(choice, events);
      }
    }
    return this.#close({ kind: 'finish', choices: ends }, events);
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
    const choice = this.#choiceAt(numberOf(candidate));
    return { choice, kind: part.thought === true ? 'thinking' : 'text' };
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

  #readCandidate(candidate: JsonObject, events: CanonicalEvent[]): void {
    const choice = this.#choiceAt(numberOf(candidate));
    const { content, groundingMetadata, urlContextMetadata } = candidate;
    const mayTellSearches = this.#isSearching || groundingMetadata !== undefined;
    if (mayTellSearches && this.#shared.mostCited > 0 && !choice.hasContent) {
      addSearches(choice, candidate, events);
    }
    if (isJsonObject(content) && Array.isArray(content.parts)) {
      for (const part of content.parts) {
        if (isJsonObject(part)) choice.readPart(part, events);
      }
    }
    choice.rawReason = textOf(candidate.finishReason) ?? choice.rawReason;
    choice.message = textOf(candidate.finishMessage) ?? choice.message;
    const { logprobsResult, avgLogprobs, citationMetadata } = candidate;
    if (logprobsResult !== undefined || avgLogprobs !== undefined) addLogprobs(choice, candidate);
    if (isJsonObject(citationMetadata)) {
      choice.recited ??= new Set();
      addRecited(choice.recited, citationMetadata);
    }
    if (isJsonObject(groundingMetadata)) {
      choice.grounding = mergeGrounding(choice.grounding, groundingMetadata);
    }
    if (isJsonObject(urlContextMetadata)) {
      choice.pages ??= new Map();
      addFetchedPages(choice.pages, urlContextMetadata);
    }
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
    const { rawReason, message, logprobs, recited, unread } = choice;
    if (rawReason === undefined) return pathFault(told`The upstream cut its answer off.`);
    // Compatible upstreams write enums in small letters.
    const ending = readEnding(rawReason.toUpperCase(), choice, this.#context.body);
    if (ending.kind === 'finished') {
      return {
        choice: choice.choice,
        reason: ending.reason,
        rawReason,
        isOdd: ending.isOdd,
        message: message && this.#sayable(message),
        logprobs,
        recited: recited?.size ? [...recited] : undefined,
        unsupportedKinds: unread && [...unread],
      };
    }
    const finishReason = rawReason === 'STOP' ? undefined : rawReason;
    const fault = { finishReason, finishMessage: message, secrets: this.#secrets() };
    if (ending.kind === 'refused') return endedRefusal(ending.failure, fault);
    return answerFault(ending.message, fault);
  }

  /** The upstream's own words on an ending, which clients are told. */
  #sayable(message: string): string {
    return scrubText(message, this.#secrets());
  }

  #secrets(): readonly string[] {
    const { access } = this.#context;
    return access === undefined ? [] : secretsOf(access);
  }

  #endUnanswered(events: CanonicalEvent[]): CanonicalEvent[] {
    if (this.#blockReason === undefined) {
      return this.#fail(pathFault(told`The upstream closed without an answer.`), events);
    }
    const end: ChoiceEnd = {
      choice: 0,
      reason: 'prompt-blocked',
      rawReason: this.#blockReason,
      message: this.#blockMessage && this.#sayable(this.#blockMessage),
    };
    return this.#close({ kind: 'finish', choices: [end] }, events);
  }

  #fail(error: GatewayError, events: CanonicalEvent[]): CanonicalEvent[] {
    return this.#close({ kind: 'error', error }, events);
  }

  #close(ending: CanonicalEvent, events: CanonicalEvent[]): CanonicalEvent[] {
    this.#hasEnded = true;
    for (const choice of this.#choices) choice.close(events);
    const { usage } = this;
    if (usage !== undefined) events.push({ kind: 'usage', usage });
    events.push(ending);
    return events;
  }
}

function isCut({ failure }: GatewayError): boolean {
  return failure?.kind === 'path';
}

/** The longest answers models give are shorter. In UTF-16 units. */
const MAX_CITED_LENGTH = 524_288;
/** Some search unasked; for those who did not ask, long answers are not kept. */
const MAX_CITED_LENGTH_UNASKED = 65_536;

/** Every tool but functions and code brings sources. */
function findsSources(tool: JsonValue): boolean {
  return (
    isJsonObject(tool) &&
    Object.keys(tool).some((key) => key !== 'functionDeclarations' && key !== 'codeExecution')
  );
}

const NOT_SEARCHED: Grounding = { queries: [], sources: [], citations: [] };

/** A search is told as soon as it is known: some clients show it before the words it led to. */
function addSearches(choice: ChoiceDecoder, candidate: JsonObject, events: CanonicalEvent[]): void {
  const known = choice.searches?.size ?? 0;
  for (const query of readSearches(candidate)) {
    choice.searches ??= new Set();
    choice.searches.add(query);
  }
  const queries = [...(choice.searches ?? [])];
  if (queries.length === known || known > MAX_EARLY_SEARCHES) return;
  events.push({
    kind: 'grounding',
    choice: choice.choice,
    ...NOT_SEARCHED,
    queries,
    isEarly: true,
  });
}

/** Grounding is placed when the whole text is known, while its last block is still open. */
function addGrounding(choice: ChoiceDecoder, events: CanonicalEvent[]): void {
  const { grounding, searches = [], pages } = choice;
  const found = grounding && readGrounding(grounding, choice);
  const opened = pages?.size ? { pages: [...pages.values()] } : undefined;
  if (found === undefined && opened === undefined) return;
  const told = found ?? NOT_SEARCHED;
  // What is told last counts alone: an end without queries takes none back that were told before.
  const queries = told.queries.length === 0 ? [...searches] : told.queries;
  events.push({ kind: 'grounding', choice: choice.choice, ...told, queries, ...opened });
}

/** The only item of a list, when it is an object with no other fields than these. */
function onlyObject(
  list: JsonValue | undefined,
  fields: ReadonlySet<string>,
): JsonObject | undefined {
  const item = Array.isArray(list) && list.length === 1 ? list[0] : undefined;
  return isJsonObject(item) && Object.keys(item).every((key) => fields.has(key)) ? item : undefined;
}

/** False for a list, an object or a text that is none: what was said there would be lost. */
function isReadable(candidates: JsonValue): boolean {
  if (!Array.isArray(candidates)) return false;
  for (const candidate of candidates) {
    const content = isJsonObject(candidate) ? (candidate.content ?? {}) : undefined;
    const parts = isJsonObject(content) ? (content.parts ?? []) : undefined;
    if (!Array.isArray(parts)) return false;
    for (const part of parts) {
      if (!isJsonObject(part) || typeof (part.text ?? '') !== 'string') return false;
    }
  }
  return true;
}

function byNumber(candidates: readonly JsonValue[]): readonly JsonValue[] {
  const readable = candidates.filter(isJsonObject);
  return readable.sort((left, right) => numberOf(left) - numberOf(right));
}

/** Absent for the first one: the JSON form of zero. An index no request can have asked for is no index. */
function numberOf({ index }: JsonObject): number {
  const number = readNumber(index) ?? 0;
  return Number.isInteger(number) && number >= 0 && number < MAX_CHOICES ? number : 0;
}

/**
 * The usage of a frame's `usageMetadata`; undefined when it has none. Absent counts are zero; the
 * answer's, when only the total is there, is what the others leave of it.
 * Source: ai.google.dev, "GenerateContent API reference", `UsageMetadata`.
 */
function readUsage(metadata: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const promptTokens = readTokenCount(metadata.promptTokenCount) ?? 0;
  const toolPromptTokens = readTokenCount(metadata.toolUsePromptTokenCount) ?? 0;
  const thoughtTokens = readTokenCount(metadata.thoughtsTokenCount) ?? 0;
  const cachedTokens = readTokenCount(metadata.cachedContentTokenCount) ?? 0;
  const answerTokens = readTokenCount(metadata.candidatesTokenCount);
  const total = answerTokens ?? readTokenCount(metadata.totalTokenCount) ?? 0;
  const { promptTokensDetails: promptDetails, candidatesTokensDetails: answerDetails } = metadata;
  const media = promptDetails === undefined ? undefined : readMedia(promptDetails);
  const answerMedia = answerDetails === undefined ? undefined : readMedia(answerDetails);
  return {
    promptTokens,
    cachedTokens: Math.min(cachedTokens, promptTokens),
    toolPromptTokens,
    answerTokens:
      answerTokens ?? Math.max(0, total - promptTokens - toolPromptTokens - thoughtTokens),
    thoughtTokens,
    ...(media && { media }),
    ...(answerMedia && { answerMedia }),
  };
}

/** Undefined too where the total says that the thoughts are among those of the answer, as some upstreams count. */
function readAnswerCount(metadata: JsonObject | undefined): number | undefined {
  const answer = readTokenCount(metadata?.candidatesTokenCount);
  if (answer === undefined) return undefined;
  const { promptTokens, toolPromptTokens, thoughtTokens } = readUsage(metadata) ?? NO_USAGE;
  const isInclusive =
    thoughtTokens > 0 &&
    readTokenCount(metadata?.totalTokenCount) === promptTokens + toolPromptTokens + answer;
  return isInclusive ? undefined : answer;
}

/** `[{modality: "TEXT", tokenCount: 3}, {modality: "IMAGE", tokenCount: 258}]`. Most are text alone. */
function readMedia(details: JsonValue | undefined): Usage['media'] {
  if (!Array.isArray(details)) return undefined;
  let image = 0;
  let audio = 0;
  for (const detail of details) {
    if (!isJsonObject(detail)) continue;
    const count = readTokenCount(detail.tokenCount) ?? 0;
    if (detail.modality === 'IMAGE') image += count;
    else if (detail.modality === 'AUDIO') audio += count;
  }
  return image === 0 && audio === 0 ? undefined : { image, audio };
}

/** The counts are 32-bit integers of the API; sums of larger ones would not fit the stores of records. */
const MAX_TOKEN_COUNT = 2_147_483_647;

/** A number of tokens; undefined for what no answer can have used. */
export function readTokenCount(given: JsonValue | undefined): number | undefined {
  if (given === undefined) return undefined;
  // The JSON form of 64-bit numbers is text (protobuf.dev, "ProtoJSON Format").
  const count = typeof given === 'string' && given !== '' ? Number(given) : readNumber(given);
  return count !== undefined && count >= 0 && count <= MAX_TOKEN_COUNT
    ? Math.round(count)
    : undefined;
}

type Ending =
  /** `isOdd` where the reason is none of a natural end, though what was said can be used. */
  | { readonly kind: 'finished'; readonly reason: FinishReason; readonly isOdd?: true | undefined }
  /** What other upstreams refuse with a status: there is no answer, or no more of it. */
  | { readonly kind: 'refused'; readonly failure: 'missing-signature' | 'model-forbidden' }
  /** Worth another attempt; `message` is safe for clients. */
  | { readonly kind: 'failed'; readonly message: Sentence };

const UNUSABLE_CALL: Ending = {
  kind: 'failed',
  message: told`The model made a tool call that cannot be used.`,
};

/**
 * How one choice ended. The wire has no reason of its own for tool calls, so their presence decides.
 * Source: ai.google.dev, "GenerateContent API reference", and `google-genai` 3.4 (Python), `FinishReason`.
 */
function readEnding(
  rawReason: string,
  answer: ChoiceDecoder,
  body: JsonObject | undefined,
): Ending {
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
      return { kind: 'failed', message: told`The model gave an answer that cannot be used.` };
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      if (answer.hasBrokenCall) return UNUSABLE_CALL;
      return { kind: 'finished', reason: answer.hasToolCalls ? 'tool-calls' : 'max-tokens' };
    default: {
      if (answer.hasBrokenCall) return UNUSABLE_CALL;
      // LANGUAGE, OTHER, NO_IMAGE, IMAGE_OTHER, and every reason newer than this table are odd.
      const isOdd = rawReason === 'STOP' ? undefined : true;
      if (answer.hasToolCalls) return { kind: 'finished', reason: 'tool-calls', isOdd };
      // A stop sequence is left out of the text and ends it naturally: it may be all there was to say.
      if (answer.hasContent || (isOdd === undefined && hasStops(body))) {
        return { kind: 'finished', reason: 'stop', isOdd };
      }
      return { kind: 'failed', message: told`The model gave an empty answer.` };
    }
  }
}

function hasStops(body: JsonObject | undefined): boolean {
  const config = body?.generationConfig;
  const stops = isJsonObject(config) ? config.stopSequences : undefined;
  return Array.isArray(stops) && stops.length > 0;
}

/**
 * Adds what this frame tells: tokens are added up, the last average counts.
 * `topCandidates` has an entry a decoding step, as `chosenCandidates` has.
 * Source: ai.google.dev, "GenerateContent API reference", `LogprobsResult`.
 */
function addLogprobs(choice: ChoiceDecoder, { logprobsResult, avgLogprobs }: JsonObject): void {
  const tokens = isJsonObject(logprobsResult) ? readTokens(logprobsResult) : [];
  const average = readNumber(avgLogprobs) ?? choice.logprobs?.average;
  if (tokens.length === 0 && average === undefined) return;
  const gathered: GatheredLogprobs = choice.logprobs ?? { tokens: [], average };
  for (const token of tokens) gathered.tokens.push(token);
  gathered.average = average;
  choice.logprobs = gathered;
}

function readTokens({ chosenCandidates, topCandidates }: JsonObject): TokenLogprob[] {
  const steps = itemsOf(topCandidates);
  return itemsOf(chosenCandidates).flatMap((chosen, index) => {
    const token = readToken(chosen);
    if (token === undefined) return [];
    const step = steps[index];
    const alternatives = itemsOf(objectOf(step)?.candidates);
    return [{ ...token, alternatives: alternatives.flatMap((one) => readToken(one) ?? []) }];
  });
}

/** An absent log-probability is 0: the wire leaves zeros out. */
function readToken(value: JsonValue): RatedToken | undefined {
  if (!isJsonObject(value) || typeof value.token !== 'string') return undefined;
  const { token } = value;
  return { token, id: readNumber(value.tokenId), logprob: readNumber(value.logProbability) ?? 0 };
}
