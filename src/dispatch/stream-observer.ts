// Watches the events of one answer: remembers its signatures, keeps its figures, knows how it ended.

import type { AnswerFigures, ServedBy } from '../canonical/call-record.ts';
import type { GatewayError } from '../canonical/error.ts';
import type { BlockOpening, CanonicalEvent, ChoiceEnd, FinishReason } from '../canonical/event.ts';
import { type Countable, promptSize, textTokens } from '../canonical/prompt-size.ts';
import type { ServerToolHistory, Signature } from '../canonical/request.ts';
import { historyKey, type SignatureEntry, type SignatureKey } from '../canonical/signatures.ts';
import { blockMessage } from '../canonical/text-forms.ts';
import type { AnswerTranscript } from '../canonical/transcript.ts';
import { inputTokens, NO_USAGE, outputTokens, type Usage } from '../canonical/usage.ts';
import type { Sentence } from '../lib/localized-message.ts';
import { TextDigest } from '../lib/long-text.ts';
import type { CountTokensCall, GenerateCall } from '../protocols/protocol.ts';
import { understood } from '../protocols/relayed-request.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import type { Decoder } from '../upstreams/upstream.ts';

interface WatchOptions {
  readonly keeper: SignatureCache;
  /** The client key whose signatures these are. */
  readonly scope: string;
  /** What is answered, asked when a text, medium or call is signed; absent where the client carries signatures. */
  readonly asked?: (() => string) | undefined;
  /** What the answer says is added to it, where it was asked for. */
  readonly transcript?: AnswerTranscript | undefined;
  readonly servedBy?: ServedBy | undefined;
  readonly estimator: Pick<TokenEstimator, 'factor'>;
  estimatePrompt(): number;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly signature: Signature | undefined;
  /** What is remembered by the arguments as well. */
  readonly history: ServerToolHistory | undefined;
  /** JSON of its arguments so far. */
  shown: string;
}

type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;

/** One for each answer. */
export class StreamObserver implements AnswerFigures {
  isCommitted = false;
  isFinished = false;
  error: GatewayError | undefined;
  modelVersion: string | undefined;
  finishReasons: readonly FinishReason[] | undefined;
  withheld: Sentence | undefined;
  imageCount = 0;
  readonly servedBy: ServedBy | undefined;
  readonly transcript: AnswerTranscript | undefined;
  /** Set once the upstream answers. */
  decoder: Decoder | undefined;
  readonly #options: WatchOptions;
  /** Of its estimates, which budget and record both ask for, whatever others teach the estimator between. */
  readonly #factor: number;
  #usage: Usage | undefined;
  #answerSize = 0;
  #thoughtSize = 0;
  /** Of the thinking blocks that are open, by block index. */
  #thoughts: Map<number, TextDigest> | undefined;
  /** The signed calls that are open, by block index. */
  #calls: Map<number, OpenCall> | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#factor = options.estimator.factor;
    this.servedBy = options.servedBy;
    this.transcript = options.transcript;
  }

  /**
   * What the answer told, with estimates for the rest. Of one that has not ended, or failed, what the upstream
   * told so far counts: it need not have come to the event that says it.
   */
  get usage(): Usage | undefined {
    if (this.isFinished) return this.#usage;
    return this.#estimate() ?? this.decoder?.usage ?? this.#usage;
  }

  /** As `take` and `onEvent`, where the client is shown what was decoded. */
  observe(decoded: readonly CanonicalEvent[]): void {
    for (const event of this.take(decoded, decoded)) this.onEvent(event);
  }

  /**
   * Call with every event of the decoder in order: what is kept from the client was paid for too. Gives what is shown
   * of them, and in front of a finish, which is the last one, the usage that nobody told.
   */
  take(
    decoded: readonly CanonicalEvent[],
    shown: readonly CanonicalEvent[],
  ): readonly CanonicalEvent[] {
    for (const event of decoded) {
      if (event.kind === 'block-start' && event.block.kind !== 'text') {
        this.#answerSize += textTokens(openingWords(event.block));
      }
      if (event.kind !== 'block-delta') continue;
      const { delta } = event;
      if (delta.kind === 'thinking') this.#thoughtSize += textTokens(delta.text);
      else this.#answerSize += textTokens(delta.kind === 'arguments' ? delta.json : delta.text);
    }
    if (shown.at(-1)?.kind !== 'finish') return shown;
    const usage = this.#estimate();
    return usage === undefined ? shown : shown.toSpliced(-1, 0, { kind: 'usage', usage });
  }

  /** What was told, with estimates for what was not; undefined when nothing is missing. */
  #estimate(): Usage | undefined {
    const told = this.decoder?.usage ?? NO_USAGE;
    const lacksInput = inputTokens(told) === 0;
    const lacksOutput = outputTokens(told) === 0 && this.#answerSize + this.#thoughtSize > 0;
    if (!lacksInput && !lacksOutput) return undefined;
    const output = {
      answerTokens: Math.ceil(this.#answerSize * this.#factor),
      thoughtTokens: Math.ceil(this.#thoughtSize * this.#factor),
    };
    return {
      ...told,
      ...(lacksInput ? { promptTokens: this.#options.estimatePrompt() } : {}),
      ...(lacksOutput ? output : {}),
      isEstimate: true,
    };
  }

  /**
   * The commit point: true for events that carry content or end the answer. A start, usage figures, or a text block
   * that has no text yet could still be followed by nothing, and then another account is tried.
   */
  static isCommitting(event: CanonicalEvent): boolean {
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

  /** Call with every event that the client is to see, in order. */
  onEvent(event: CanonicalEvent): void {
    if (!this.isCommitted) this.isCommitted = StreamObserver.isCommitting(event);
    this.transcript?.onEvent(event);
    switch (event.kind) {
      case 'start':
        this.modelVersion = event.modelVersion;
        break;
      case 'block-start':
        if (event.block.kind === 'tool-call') this.#beginCall(event.index, event.block);
        else if (event.block.kind === 'thinking') {
          this.#thoughts ??= new Map();
          this.#thoughts.set(event.index, new TextDigest());
        } else if (event.block.kind === 'media' && isPicture(event.block)) this.imageCount += 1;
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
        if (event.signature !== undefined || this.#thoughts || this.#calls) this.#endBlock(event);
        break;
      case 'usage':
        this.#usage = event.usage;
        break;
      case 'finish':
        this.#finish(event.choices);
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

  #finish(choices: readonly ChoiceEnd[]): void {
    const reasons: FinishReason[] = [];
    for (const choice of choices) {
      reasons.push(choice.reason);
      if (choice.reason !== 'stop') this.withheld ??= blockMessage(choice);
    }
    this.isFinished = true;
    this.finishReasons = reasons;
  }

  #beginCall(index: number, block: CallOpening): void {
    const { id, name, signature, trace } = block;
    if (trace === undefined && signature === undefined) return;
    const waits = trace !== undefined && historyKey(block, () => '').kind === 'counted-call';
    const history = waits ? undefined : trace;
    if (signature !== undefined || history !== undefined) {
      this.#remember({ kind: 'call', id, name }, { signature, history });
    }
    if (signature === undefined && !waits) return;
    this.#calls ??= new Map();
    this.#calls.set(index, { id, name, signature, history: waits ? trace : undefined, shown: '' });
  }

  /** Some clients give calls ids of their own: one that is as it was issued is known without its id. */
  #endCall(call: OpenCall, issued: string | undefined): void {
    const { id, name, shown, signature, history } = call;
    if (history !== undefined)
      this.#remember(
        historyKey(call, () => shown),
        { history },
      );
    if (signature === undefined) return;
    const input = issued === undefined ? { issued: shown } : { issued, shown };
    this.#remember({ kind: 'call', id, name }, { input });
    const { asked } = this.#options;
    if (asked === undefined || input.issued !== shown) return;
    const key = { kind: 'answered-call', name, json: () => shown || '{}', asked } as const;
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
      this.#keyOf(thought, signedContent, signature) ?? { kind: 'value', value: signature.value },
      { signature },
    );
  }

  #keyOf(
    thought: TextDigest | undefined,
    content: string | TextDigest | undefined,
    { family }: Signature,
  ): SignatureKey | undefined {
    if (thought !== undefined) return { kind: 'thought', text: thought, family };
    const { asked } = this.#options;
    if (content === undefined || asked === undefined) return undefined;
    return { kind: 'content', content, asked };
  }

  #remember(key: SignatureKey, entry: SignatureEntry): void {
    this.#options.keeper.remember(this.#options.scope, key, entry);
  }
}

/** Unfinished ones are shown, and not counted. */
function isPicture({ isDraft, mediaType }: Extract<BlockOpening, { kind: 'media' }>): boolean {
  return isDraft !== true && mediaType.startsWith('image/');
}

/** What a block says in its opening; the size of media tells nothing of their tokens. */
function openingWords(block: BlockOpening): string {
  switch (block.kind) {
    case 'tool-call':
      return block.name;
    case 'code':
      return block.code;
    case 'code-result':
      return block.output;
    case 'text':
    case 'thinking':
    case 'media':
      return '';
    default:
      return block satisfies never;
  }
}

/** Each observation moves the factor this far; outliers are held within the bounds. */
const LEARNING_RATE = 0.1;
const MIN_FACTOR = 0.25;
const MAX_FACTOR = 4;
/** Going through a long conversation costs more than it teaches: of later ones a few are enough. */
const ALL_OBSERVED = 64;
const OBSERVED_LATER = 16;

/** Estimates token counts where the upstream cannot count, calibrated by those it reported. */
export class TokenEstimator {
  /** Moved by `observe` alone. */
  factor = 1;
  #offered = 0;

  /** Whole tokens, at least 1. */
  estimate(request: Countable): number {
    return Math.max(1, Math.ceil(promptSize(request) * this.factor));
  }

  /** A relayed body need not be one that is understood here: its length has to do then. */
  estimateCall(call: Pick<GenerateCall | CountTokensCall, 'request' | 'relay'>): number {
    const request = understood(call);
    if (request !== undefined) return this.estimate(request);
    return this.estimateText(textTokens(JSON.stringify(call.relay?.body)));
  }

  /** Whole tokens of text that is so many by rule of thumb. */
  estimateText(size: number): number {
    return Math.ceil(size * this.factor);
  }

  /** What the upstream counted for a request, to calibrate later estimates. */
  observe(request: Countable, promptTokens: number): void {
    this.#offered += 1;
    if (this.#offered > ALL_OBSERVED && this.#offered % OBSERVED_LATER !== 0) return;
    const raw = promptSize(request);
    if (raw <= 0 || promptTokens <= 0) return;
    const seen = Math.min(Math.max(promptTokens / raw, MIN_FACTOR), MAX_FACTOR);
    this.factor += (seen - this.factor) * LEARNING_RATE;
  }
}
