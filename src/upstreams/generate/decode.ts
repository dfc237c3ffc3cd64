// Decodes the frames of one answer into canonical events.

import type { GatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent, ChoiceEnd } from '../../canonical/event.ts';
import { MAX_CITED_LENGTH } from '../../canonical/grounding.ts';
import { readServiceTier } from '../../canonical/service-tier.ts';
import type { Usage } from '../../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { textOf } from '../../lib/read-values.ts';
import { scrubText } from '../../lib/redact.ts';
import type { Frame } from '../../stream/sse.ts';
import {
  answerFault,
  cutAnswer,
  endedRefusal,
  graverFault,
  noAnswer,
  unreadableAnswer,
} from '../errors.ts';
import type { DecodeContext, Decoder } from '../upstream.ts';
import { type AnswerState, choiceNumber } from '../wire-parts.ts';
import { ChoiceDecoder } from './decode-blocks.ts';
import { addLogprobs, readAnswerCount, readEnding, readUsage } from './endings.ts';
import { classifyErrorFrame } from './errors.ts';
import { addGrounding, addSearches, findsSources, gatherSources } from './grounding.ts';
import { plainTextOf } from './plain-text.ts';
import { secretsOf } from './requests.ts';

/** Where the text of a frame that says nothing else goes. */
interface PlainText {
  readonly choice: ChoiceDecoder;
  readonly kind: 'text' | 'thinking';
}

/**
 * Frames may hold anything: unknown fields and kinds are passed over. The ending is given out by
 * `end()` only, because usage may come after the finish reason; an answer without a finish reason
 * was cut off.
 */
export class GenerateDecoder implements Decoder {
  readonly #now: () => number;
  readonly #context: DecodeContext;
  readonly #shared: AnswerState;
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
    this.#shared = { context, mostCited: placesCitations ? mostCited : 0, nextIndex: 0 };
  }

  get usage(): Usage | undefined {
    const counts = this.#latestCounts();
    if (this.#read?.counts !== counts) this.#read = { counts, usage: readUsage(counts) };
    return this.#read?.usage;
  }

  get countedAnswer(): number | undefined {
    return readAnswerCount(this.#latestCounts());
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const choice of this.#choices) bytes += choice.heldBytes;
    return bytes;
  }

  push(frame: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    const { error } = frame;
    if (error !== undefined && error !== null) {
      return this.#fail(classifyErrorFrame(error, this.#now(), this.#secrets()), events);
    }
    const { promptFeedback: feedback, candidates } = frame;
    if (!isReadable(candidates ?? [])) return this.#fail(unreadableAnswer(), events);
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
    if (this.#plainText === undefined) {
      const { number, kind } = plainTextOf(repeats) ?? {};
      if (number === undefined || kind === undefined) return undefined;
      this.#plainText = { choice: this.#choiceAt(number), kind };
    }
    if (said === undefined) return undefined;
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
      else fault = graverFault(fault, end);
    }
    if (!isAnswered && (this.#choices.length === 0 || this.#blockReason !== undefined)) {
      return this.#endUnanswered(events);
    }
    if (fault !== undefined) return this.#fail(fault, events);
    for (const choice of this.#choices) {
      if ((choice.grounding ?? choice.pages) !== undefined) addGrounding(choice, events);
    }
    return this.#close({ kind: 'finish', choices: ends }, events);
  }

  #latestCounts(): JsonObject | undefined {
    const counts = this.#repeated?.value.usageMetadata;
    this.#repeated = undefined;
    if (isJsonObject(counts)) this.#counts = counts;
    return this.#counts;
  }

  /** Frames that are no answer yet (`{}` as a keep-alive) start nothing. */
  #start(frame: JsonObject, events: CanonicalEvent[]): void {
    const { candidates, promptFeedback, usageMetadata } = frame;
    if (candidates === undefined && promptFeedback === undefined && !usageMetadata) return;
    this.#hasStarted = true;
    const tier = this.#counts?.serviceTier;
    events.push({
      kind: 'start',
      upstreamId: textOf(frame.responseId),
      modelVersion: textOf(frame.modelVersion),
      serviceTier: tier === undefined ? undefined : readServiceTier(tier),
      usage: this.usage,
    });
  }

  #readCandidate(candidate: JsonObject, events: CanonicalEvent[]): void {
    const choice = this.#choiceAt(choiceNumber(candidate));
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
    if ((citationMetadata ?? groundingMetadata ?? urlContextMetadata) !== undefined) {
      gatherSources(choice, candidate);
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
    if (rawReason === undefined) return cutAnswer();
    // Compatible upstreams write enums in small letters.
    const ending = readEnding(rawReason.toUpperCase(), choice, this.#context.body);
    if (ending.kind === 'finished') {
      const { reason, isOdd, stopSequence } = ending;
      return {
        choice: choice.choice,
        ...{ reason, rawReason, isOdd, stopSequence },
        message: message && scrubText(message, this.#secrets()),
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

  #secrets(): readonly string[] {
    const { access } = this.#context;
    return access === undefined ? [] : secretsOf(access);
  }

  #endUnanswered(events: CanonicalEvent[]): CanonicalEvent[] {
    if (this.#blockReason === undefined) return this.#fail(noAnswer(), events);
    const end: ChoiceEnd = {
      choice: 0,
      reason: 'prompt-blocked',
      rawReason: this.#blockReason,
      message: this.#blockMessage && scrubText(this.#blockMessage, this.#secrets()),
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

/** Some search unasked; for those who did not ask, long answers are not kept. */
const MAX_CITED_LENGTH_UNASKED = 65_536;

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
  return candidates.filter(isJsonObject).sort((a, b) => choiceNumber(a) - choiceNumber(b));
}
