// Watches the events of one answer: remembers its signatures, keeps its figures, knows how it ended.

import type { GatewayError } from '../canonical/error.ts';
import type { BlockOpening, CanonicalEvent, FinishReason, UsageEvent } from '../canonical/event.ts';
import { type Countable, promptSize, textTokens } from '../canonical/prompt-size.ts';
import type { Signature } from '../canonical/request.ts';
import type { SignatureEntry, SignatureKey } from '../canonical/signatures.ts';
import { blockMessage } from '../canonical/text-forms.ts';
import type { AnswerTranscript } from '../canonical/transcript.ts';
import { inputTokens, NO_USAGE, outputTokens, type Usage } from '../canonical/usage.ts';
import { TextDigest } from '../lib/long-text.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import type { Decoder } from '../upstreams/upstream.ts';
import type { AnswerFigures, CallRecord } from './dispatcher.ts';

export interface AnswerWatch {
  /** Call with every event in order. */
  see(event: CanonicalEvent): void;
  readonly isCommitted: boolean;
  readonly isFinished: boolean;
  readonly error: GatewayError | undefined;
  /** Before the answer tells its own, what the upstream told last; undefined when it told nothing. */
  readonly usage: Usage | undefined;
  readonly modelVersion: string | undefined;
  /** One a choice, once it finished. */
  readonly finishReasons: readonly FinishReason[] | undefined;
  /** Why it, or a choice of it, was held back. */
  readonly withheld: string | undefined;
  /** Pictures in the answer so far. */
  readonly imageCount: number;
  /** What the answer said so far, where it was asked for. */
  readonly transcript: AnswerTranscript | undefined;
}

export interface WatchOptions {
  readonly keeper: SignatureCache;
  /** The client key whose signatures these are. */
  readonly scope: string;
  /** What is answered, asked when a text, medium or call is signed; absent where the client carries signatures. */
  readonly asked?: (() => string) | undefined;
  readonly transcript?: AnswerTranscript | undefined;
  /** What the upstream told so far of its usage: an answer need not come to the event that says it. */
  readonly toldUsage?: (() => Usage | undefined) | undefined;
}

export function createAnswerWatch(options: WatchOptions): AnswerWatch {
  return new Watch(options);
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly signature: Signature;
  /** JSON of its arguments so far. */
  shown: string;
}

type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;

class Watch implements AnswerWatch {
  isCommitted = false;
  isFinished = false;
  error: GatewayError | undefined;
  modelVersion: string | undefined;
  finishReasons: readonly FinishReason[] | undefined;
  withheld: string | undefined;
  imageCount = 0;
  readonly transcript: AnswerTranscript | undefined;
  readonly #keeper: SignatureCache;
  readonly #scope: string;
  readonly #asked: (() => string) | undefined;
  readonly #toldUsage: (() => Usage | undefined) | undefined;
  #usage: Usage | undefined;
  /** Of the thinking blocks that are open, by block index. */
  #thoughts: Map<number, TextDigest> | undefined;
  /** The signed calls that are open, by block index. */
  #calls: Map<number, OpenCall> | undefined;

  constructor({ keeper, scope, asked, transcript, toldUsage }: WatchOptions) {
    this.transcript = transcript;
    this.#keeper = keeper;
    this.#scope = scope;
    this.#asked = asked;
    this.#toldUsage = toldUsage;
  }

  /** An answer that failed told what it had used at its beginning, if anything. */
  get usage(): Usage | undefined {
    return this.isFinished ? this.#usage : (this.#toldUsage?.() ?? this.#usage);
  }

  see(event: CanonicalEvent): void {
    if (!this.isCommitted) this.isCommitted = isCommitting(event);
    this.transcript?.see(event);
    switch (event.kind) {
      case 'start':
        this.modelVersion = event.modelVersion;
        break;
      case 'block-start':
        if (event.block.kind === 'tool-call') this.#beginCall(event.index, event.block);
        else if (event.block.kind === 'thinking') {
          this.#thoughts ??= new Map();
          this.#thoughts.set(event.index, new TextDigest());
        } else if (isPicture(event.block)) this.imageCount += 1;
        break;
      case 'block-delta':
        if (event.delta.kind === 'thinking') {
          this.#thoughts?.get(event.index)?.add(event.delta.text);
        } else if (event.delta.kind === 'arguments') {
          const call = this.#calls?.get(event.index);
          if (call !== undefined) call.shown += event.delta.json;
        }
        break;
      case 'block-end':
        this.#endBlock(event);
        break;
      case 'usage':
        this.#usage = event.usage;
        break;
      case 'finish':
        this.isFinished = true;
        this.finishReasons = event.choices.map(({ reason }) => reason);
        this.withheld = event.choices.map(blockMessage).find((why) => why !== undefined);
        break;
      case 'error':
        this.error = event.error;
        break;
      case 'grounding':
        break;
      default:
        event satisfies never;
    }
  }

  #beginCall(index: number, block: CallOpening): void {
    const { id, name, signature, trace } = block;
    if (trace === undefined && signature === undefined) return;
    this.#remember({ kind: 'call', id, name }, { signature, history: trace });
    if (signature === undefined) return;
    this.#calls ??= new Map();
    this.#calls.set(index, { id, name, signature, shown: '' });
  }

  /** Some clients give calls ids of their own: one that is as it was issued is known without its id. */
  #endCall({ id, name, shown, signature }: OpenCall, issued: string | undefined): void {
    const input = issued === undefined ? { issued: shown } : { issued, shown };
    this.#remember({ kind: 'call', id, name }, { input });
    if (this.#asked === undefined || input.issued !== shown) return;
    const key = { kind: 'answered-call', name, json: () => shown, asked: this.#asked } as const;
    this.#remember(key, { signature });
  }

  #endBlock(event: Extract<CanonicalEvent, { kind: 'block-end' }>): void {
    const thought = this.#thoughts?.get(event.index);
    this.#thoughts?.delete(event.index);
    const { signature, signedContent, issuedArguments: issued } = event;
    const call = this.#calls?.get(event.index);
    this.#calls?.delete(event.index);
    if (call !== undefined) this.#endCall(call, issued);
    if (signature === undefined) return;
    this.#remember(
      this.#keyOf(thought, signedContent) ?? { kind: 'value', value: signature.value },
      { signature },
    );
  }

  #keyOf(
    thought: TextDigest | undefined,
    content: string | TextDigest | undefined,
  ): SignatureKey | undefined {
    if (thought !== undefined) return { kind: 'thought', text: thought };
    if (content === undefined || this.#asked === undefined) return undefined;
    return { kind: 'content', content, asked: this.#asked };
  }

  #remember(key: SignatureKey, entry: SignatureEntry): void {
    this.#keeper.remember(this.#scope, key, entry);
  }
}

/** Unfinished ones are shown, and not counted. */
function isPicture(block: BlockOpening): boolean {
  return block.kind === 'media' && block.isDraft !== true && block.mediaType.startsWith('image/');
}

/** Estimates the usage that the upstream did not report. */
export interface MissingUsage {
  /** Call with every event of the decoder in order: what is kept from the client was paid for too. */
  see(event: CanonicalEvent): void;
  /** What was told, with estimates for what was not; undefined when nothing is missing. */
  estimate(told: Usage | undefined): Usage | undefined;
}

export interface MissingUsageOptions {
  readonly estimator: Pick<TokenEstimator, 'estimateText'>;
  estimatePrompt(): number;
}

/** One for each answer. */
export function createMissingUsage(options: MissingUsageOptions): MissingUsage {
  const { estimator, estimatePrompt } = options;
  let answerSize = 0;
  let thoughtSize = 0;
  return {
    see(event) {
      if (event.kind === 'block-start') answerSize += openingSize(event.block);
      if (event.kind !== 'block-delta') return;
      const { delta } = event;
      if (delta.kind === 'thinking') thoughtSize += textTokens(delta.text);
      else answerSize += textTokens(delta.kind === 'text' ? delta.text : delta.json);
    },
    estimate(known) {
      const told = known ?? NO_USAGE;
      const lacksInput = inputTokens(told) === 0;
      const lacksOutput = outputTokens(told) === 0 && answerSize + thoughtSize > 0;
      if (!lacksInput && !lacksOutput) return undefined;
      const output = {
        answerTokens: estimator.estimateText(answerSize),
        thoughtTokens: estimator.estimateText(thoughtSize),
      };
      return {
        ...told,
        ...(lacksInput ? { promptTokens: estimatePrompt() } : {}),
        ...(lacksOutput ? output : {}),
        isEstimate: true,
      };
    },
  };
}

/** What has to be seen before `event`: the usage of an answer that ends without having told it. */
export function untoldUsage(
  event: CanonicalEvent,
  missing: MissingUsage,
  decoder: Pick<Decoder, 'usage'>,
): UsageEvent | undefined {
  if (event.kind !== 'finish') return undefined;
  const usage = missing.estimate(decoder.usage);
  return usage && { kind: 'usage', usage };
}

/** Of what a block says in its opening; the size of media tells nothing of their tokens. */
function openingSize(block: BlockOpening): number {
  switch (block.kind) {
    case 'tool-call':
      return textTokens(block.name);
    case 'code':
      return textTokens(block.code);
    case 'code-result':
      return textTokens(block.output);
    case 'text':
    case 'thinking':
    case 'media':
      return 0;
    default:
      return block satisfies never;
  }
}

/** Estimates token counts where the upstream cannot count, calibrated by those it reported. */
export interface TokenEstimator {
  /** Whole tokens, at least 1. */
  estimate(request: Countable): number;
  /** Whole tokens of text that is so many by rule of thumb. */
  estimateText(size: number): number;
  /** What the upstream counted for a request, to calibrate later estimates. */
  observe(request: Countable, promptTokens: number): void;
}

/** Each observation moves the factor this far; outliers are held within the bounds. */
const LEARNING_RATE = 0.1;
const MIN_FACTOR = 0.25;
const MAX_FACTOR = 4;
/** Going through a long conversation costs more than it teaches: of later ones a few are enough. */
const ALL_OBSERVED = 64;
const OBSERVED_LATER = 16;

export function createTokenEstimator(): TokenEstimator {
  let factor = 1;
  let offered = 0;
  return {
    estimate: (request) => Math.max(1, Math.ceil(promptSize(request) * factor)),
    estimateText: (size) => Math.ceil(size * factor),
    observe(request, promptTokens) {
      offered += 1;
      if (offered > ALL_OBSERVED && offered % OBSERVED_LATER !== 0) return;
      const raw = promptSize(request);
      if (raw <= 0 || promptTokens <= 0) return;
      const seen = Math.min(Math.max(promptTokens / raw, MIN_FACTOR), MAX_FACTOR);
      factor += (seen - factor) * LEARNING_RATE;
    },
  };
}

/**
 * The commit point: true for events that carry content or end the answer. A start, usage figures, or a text block
 * that has no text yet could still be followed by nothing, and then another account is tried.
 */
export function isCommitting(event: CanonicalEvent): boolean {
  switch (event.kind) {
    case 'block-delta':
    case 'finish':
      return true;
    case 'block-start':
      return event.block.kind !== 'text' && event.block.kind !== 'thinking';
    default:
      return false;
  }
}

/** `figures` may still change while the answer comes; `committedAt` is in monotonic milliseconds. */
export function noteCommit(record: CallRecord, figures: AnswerFigures, committedAt: number): void {
  record.committedAt ??= committedAt;
  record.answers ??= [];
  record.answers.push(figures);
}
