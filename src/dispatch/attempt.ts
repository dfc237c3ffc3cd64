// One try on one account: resolves at the commit point, then owns the lease until the answer ends.

import { noteCommit } from '../canonical/call-record.ts';
import { changed, GatewayError } from '../canonical/error.ts';
import { explainFailure } from '../canonical/failure.ts';
import { createReceipt, type Receipt, receiptInClientNames } from '../canonical/receipt.ts';
import { precedingUserContent } from '../canonical/signatures.ts';
import { acceptedNames } from '../canonical/tool-names.ts';
import { AnswerTranscript } from '../canonical/transcript.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { once } from '../lib/once.ts';
import type { Lease } from '../pool/pool.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import type { RelayCall } from '../protocols/relayed-request.ts';
import type { ReplyContext } from '../protocols/writers.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import { type AnswerRoom, HeldMemory } from '../stream/held-memory.ts';
import type { Frame } from '../stream/sse.ts';
import { createNameMatcher } from '../transforms/answer/calls.ts';
import { type AnswerRules, createAnswerRules, noteFewer } from '../transforms/answer/index.ts';
import type { AccountAccess, UpstreamStream } from '../upstreams/upstream.ts';
import { type AttemptFacts, abortError } from './attempts.ts';
import type { CallContext, GenerateAnswer, WholeAnswer } from './dispatcher.ts';
import { createPatience, type Patience } from './first-byte.ts';
import {
  type LaneInput,
  RelayedText,
  relayReply,
  TranslatedText,
  translateReply,
} from './lanes.ts';
import type { PreparedBody } from './prepare.ts';
import { isRefusal } from './retry.ts';
import { StreamObserver, type TokenEstimator } from './stream-observer.ts';

export interface GenerateAttemptOptions {
  readonly keeper: SignatureCache;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly estimator: TokenEstimator;
  readonly answerRoom?: AnswerRoom | undefined;
}

interface GenerateAttemptInput
  extends Pick<AttemptFacts, 'plan' | 'hasOther' | 'hasSibling' | 'isOutdone'> {
  readonly options: GenerateAttemptOptions;
  readonly call: GenerateCall;
  readonly context: CallContext;
  readonly lease: Lease;
  readonly prepared: PreparedBody;
  readonly session: string | undefined;
}

/** @throws GatewayError, from `run`, for everything that fails before the commit point. */
export class GenerateAttempt {
  readonly #input: GenerateAttemptInput;
  /** Present when the client gets the upstream's own frames. */
  #relayed: RelayCall | undefined;
  readonly #watch: StreamObserver;
  /** Asked more than once of one answer, and the same each time. */
  #promptEstimate: number | undefined;
  readonly #estimatePrompt = (): number => {
    const { call, options } = this.#input;
    this.#promptEstimate ??= options.estimator.estimateCall(call);
    return this.#promptEstimate;
  };
  readonly #memory: HeldMemory;
  #access: AccountAccess | undefined;
  /** Runs until the first byte of the answer. */
  #patience: Patience | undefined;
  /** Present when `run` failed for an answer in the client's own wire that says itself what is wrong with it. */
  nativeReply: GenerateAnswer | undefined;

  constructor(input: GenerateAttemptInput) {
    this.#input = input;
    const { call, context, lease, options, prepared } = input;
    const { id: accountId, upstreamId } = lease.account;
    this.#relayed = prepared.lane === 'relay' ? call.relay : undefined;
    this.#memory = new HeldMemory(options.answerRoom);
    const isRelayed = this.#relayed !== undefined;
    this.#watch = new StreamObserver({
      keeper: options.keeper,
      scope: context.clientKeyId,
      asked: isRelayed ? undefined : () => whatIsAsked(call),
      transcript: context.record.keepsAnswers ? new AnswerTranscript() : undefined,
      servedBy: { accountId, upstreamId, modelId: lease.modelId },
      estimator: options.estimator,
      estimatePrompt: this.#estimatePrompt,
    });
  }

  async run(): Promise<GenerateAnswer> {
    const { call, context, options } = this.#input;
    const startedAt = options.clock.monotonic();
    let frames: UpstreamStream | undefined;
    let answer: GenerateAnswer;
    try {
      frames = await this.#open();
      const isDoubtful = frames.mayBeWhole === true || !call.stream;
      const known = isDoubtful ? await this.#untilKnown(frames) : frames;
      answer = call.stream ? await this.#stream(known) : await this.#whole(known);
    } catch (error) {
      throw frames?.isTriedOut === true ? triedOut(error) : error;
    } finally {
      this.#patience?.end();
    }
    const committedAt = options.clock.monotonic();
    noteCommit(context.record, this.#watch, committedAt);
    context.record.timings.upstreamMs = committedAt - startedAt;
    if (!call.stream) this.#succeed();
    return answer;
  }

  /** Call when the native error reply is the answer, as no better one came. */
  noteNativeReply(): void {
    const { context, options } = this.#input;
    noteCommit(context.record, this.#watch, options.clock.monotonic());
    context.record.error = this.#watch.error;
  }

  async #open(): Promise<UpstreamStream> {
    const { call, context, lease, plan, prepared, options, hasOther, hasSibling, isOutdone } =
      this.#input;
    const { signal, receipt } = context;
    const relay = this.#relayed;
    const { freshConnection, refreshCredential: refresh } = plan;
    const access = await lease.access({ refresh, signal });
    this.#access = access;
    const patience = createPatience({ signal, clock: options.clock, hasOther });
    this.#patience = patience;
    try {
      return await lease.upstream.open({
        modelId: lease.modelId,
        body: prepared.body,
        stream: call.stream,
        access,
        signal: patience.signal,
        freshConnection,
        onFirstByte: patience.end,
        // Strict clients were told already that nothing is changed. Relayed bodies have the client's own names.
        receipt: context.strict
          ? undefined
          : receiptInClientNames(relay ? undefined : call.request.clientNames, receipt),
        isLarge: context.isLarge,
        clientKeyId: context.clientKeyId,
        onRateLimit: (read) => lease.noteRateLimit(read),
        clientHeaders: relay?.headers,
        hasSibling,
        isOutdone,
      });
    } catch (error) {
      const reason = patience.reasonOf(error);
      const isRefusal = reason === error && error instanceof GatewayError;
      throw isRefusal ? (relay?.inOwnNames?.(error) ?? error) : reason;
    }
  }

  /** An answer in pieces that was asked for whole, or the other way round, is translated: the first frame tells. */
  async #untilKnown(frames: UpstreamStream): Promise<UpstreamStream> {
    const relay = this.#relayed;
    if (relay?.isPiece === undefined) return frames;
    const first = await frames.next();
    if (first.done === true) return frames;
    const isInPieces = first.value.some(({ value }) => relay.isPiece?.(value));
    if (isInPieces !== this.#input.call.stream) this.#relayed = undefined;
    return withFirst(first.value, frames);
  }

  async #whole(frames: UpstreamStream): Promise<WholeAnswer> {
    try {
      const answer = await this.#reply(frames);
      const { heldBytes } = this.#memory;
      return heldBytes > 0 ? { ...answer, heldBytes } : answer;
    } finally {
      this.#memory.release();
    }
  }

  async #reply(frames: UpstreamStream): Promise<WholeAnswer> {
    const { call, context } = this.#input;
    const input = this.#laneInput(frames);
    const relay = this.#relayed;
    if (relay !== undefined) {
      const reply = (bodies: readonly JsonObject[]) =>
        ({ kind: 'reply', body: relay.writeReply(bodies, this.#replyContext()) }) as const;
      const edit = this.#relayEdit(relay);
      return reply(
        await relayReply({ ...input, edit }, (bodies) => {
          this.nativeReply = reply(bodies);
        }),
      );
    }
    // Noted only once the answer is whole: another attempt must not inherit this one's repairs.
    const receipt = createReceipt();
    const reply = await translateReply(input, this.#rules(receipt));
    context.record.isEstimate ||= reply.usage.isEstimate;
    for (const { action, path, reason } of receipt.entries) {
      context.receipt.add(action, path, reason);
    }
    return { kind: 'reply', body: call.writeReply(reply, this.#replyContext()) };
  }

  async #stream(frames: UpstreamStream): Promise<GenerateAnswer> {
    const { call, context } = this.#input;
    const input = this.#laneInput(frames);
    const relay = this.#relayed;
    const written = this.#replyContext();
    const chunks =
      relay === undefined
        ? new TranslatedText(input, this.#rules(context.receipt), call.createStreamWriter(written))
        : new RelayedText(
            { ...input, edit: this.#relayEdit(relay) },
            relay.createStreamWriter(written),
            (text) => {
              this.nativeReply = { kind: 'stream', chunks: oneChunk(text) };
            },
          );
    // From the commit point on the lease lives as long as the stream.
    await chunks.begin(this.#release);
    return { kind: 'stream', chunks };
  }

  /** Calls go back under the name they have here: what is remembered of one goes by it. */
  #relayEdit(relay: RelayCall): (value: JsonObject) => JsonObject {
    const { receipt } = this.#input.context;
    const declared = relay.declaredNames();
    // Where none is declared there is no name to lead a call back to.
    if (declared.size === 0) return (value) => value;
    const known = once(() => {
      const names = [...declared];
      const sent = acceptedNames(names, 'plain');
      return {
        match: createNameMatcher(
          names.map((name) => ({ name })),
          receipt,
        ),
        ownNames: new Map(Array.from(sent, ([name, accepted]) => [accepted, name])),
      };
    });
    const rename = (name: string): string =>
      declared.has(name) ? name : (known().ownNames.get(name) ?? known().match(name));
    return (value) => relay.renameCalls(value, rename);
  }

  /** Tells the pool how the stream ended. */
  readonly #release = (): void => {
    const { lease, context } = this.#input;
    const { error, isFinished } = this.#watch;
    context.record.error = context.signal.aborted ? abortError(context.signal) : error;
    if (isFinished) this.#succeed();
    else if (error?.failure !== undefined && !context.signal.aborted) {
      const failure = explainFailure(error.failure, error);
      // An answer has begun, so that what refuses the rest of it is not the account.
      lease.release(isRefusal(failure.kind) ? { kind: 'neutral' } : { kind: 'failure', failure });
    } else lease.release({ kind: 'neutral' });
  };

  #succeed(): void {
    const { call, context, lease, options } = this.#input;
    lease.release({ kind: 'success' });
    const { usage, finishReasons = [] } = this.#watch;
    if (this.#relayed !== undefined) {
      // It is not read, and a better estimate is not worth reading it.
      noteFewer(finishReasons, this.#relayed.choices, context.receipt);
      return;
    }
    if (usage === undefined || usage.isEstimate === true) return;
    options.estimator.observe(call.request, usage.promptTokens);
  }

  #laneInput(frames: UpstreamStream): LaneInput {
    const { call, lease, options, prepared } = this.#input;
    const isRelayed = this.#relayed !== undefined;
    const decoder = lease.upstream.createDecoder({
      signatureFamily: prepared.signatureFamily,
      body: prepared.body,
      stream: call.stream,
      access: this.#access,
      // A search nobody asked for cites as well, and citations without a place mislead.
      placesCitations: !isRelayed,
      passesParts: isRelayed,
      showsDrafts: !isRelayed && (call.request.imageDrafts ?? 0) > 0,
      callIdPrefix: call.callIdPrefix,
      createId: options.createId,
    });
    this.#watch.decoder = decoder;
    return { frames, decoder, watch: this.#watch, memory: this.#memory };
  }

  #rules(receipt: Receipt): AnswerRules {
    const { call, options, lease, prepared } = this.#input;
    const { request, callIdPrefix } = call;
    const { maxOutputTokens: limit } = request;
    // The upstream's limit is raised for its thinking; what it does not think it may write.
    const isRaised =
      limit !== undefined && (lease.upstream.outputLimit(prepared.body) ?? limit) > limit;
    return createAnswerRules({
      request,
      receipt,
      typed: () => lease.upstream.typedValues(prepared.body),
      callIdPrefix,
      createId: options.createId,
      isSearchNamed: prepared.isSearchNamed,
      textLimit: isRaised
        ? { limit, counted: () => this.#watch.decoder?.countedAnswer }
        : undefined,
    });
  }

  #replyContext(): ReplyContext {
    const { options, call, prepared, session } = this.#input;
    return {
      model: call.model,
      session,
      createId: options.createId,
      createdAt: Math.floor(options.clock.now() / 1000),
      isSearchNamed: prepared.isSearchNamed,
      estimatePrompt: this.#estimatePrompt,
    };
  }
}

/** A useless answer is what a gateway gives once it has tried in vain; whatever else ends one lies between here and there. */
function triedOut(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.failure?.kind !== 'unusable-answer') return error;
  return changed(error, { failure: { ...error.failure, isTriedOut: true } });
}

/** What was taken of a stream, and the rest of it. By hand, as it stands before every whole answer that is relayed. */
function withFirst(first: readonly Frame[], rest: UpstreamStream): UpstreamStream {
  let isTaken = false;
  return {
    next() {
      if (isTaken) return rest.next();
      isTaken = true;
      return Promise.resolve({ value: first });
    },
    return: () => rest.return?.() ?? Promise.resolve({ done: true, value: undefined }),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* oneChunk(text: string): AsyncGenerator<string, void> {
  yield text;
}

function whatIsAsked({ request: { turns } }: GenerateCall): string {
  return precedingUserContent(turns, turns.length);
}
