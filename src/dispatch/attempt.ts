// One try on one account: resolves at the commit point, then owns the lease until the answer ends.

import { GatewayError } from '../canonical/error.ts';
import { createReceipt, type Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { precedingUserContent } from '../canonical/signatures.ts';
import { AnswerTranscript } from '../canonical/transcript.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { once } from '../lib/once.ts';
import type { Lease } from '../pool/pool.ts';
import type { GenerateCall, RelayCall, ReplyContext } from '../protocols/protocol.ts';
import type { SignatureCache } from '../signatures/cache.ts';
import { createNameMatcher } from '../transforms/answer/calls.ts';
import {
  type AnswerRules,
  type AnswerRulesOptions,
  createAnswerRules,
  isCallable,
} from '../transforms/answer/index.ts';
import type { AccountAccess, Decoder, UpstreamStream } from '../upstreams/upstream.ts';
import { type AttemptPlan, abortError } from './attempts.ts';
import type { CallContext, GenerateAnswer } from './dispatcher.ts';
import {
  type AnswerText,
  type RelayInput,
  relayReply,
  relayStream,
  translateReply,
  translateStream,
} from './lanes.ts';
import type { PreparedBody } from './prepare.ts';
import { isRefusal } from './retry.ts';
import {
  type AnswerWatch,
  createAnswerWatch,
  createMissingUsage,
  type MissingUsage,
  noteCommit,
  type TokenEstimator,
} from './stream-observer.ts';

interface GenerateAttemptOptions {
  readonly keeper: SignatureCache;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly estimator: TokenEstimator;
}

export interface GenerateAttemptInput {
  readonly options: GenerateAttemptOptions;
  readonly call: GenerateCall;
  readonly context: CallContext;
  readonly lease: Lease;
  readonly prepared: PreparedBody;
  readonly plan: AttemptPlan;
  /** True while another account could be asked in place of this one. */
  readonly hasOther: () => boolean;
}

/** An upstream that has not begun to answer by then is left for another account, where there is one. */
const PATIENCE_MS = 120_000;

/** @throws GatewayError, from `run`, for everything that fails before the commit point. */
export class GenerateAttempt {
  readonly #input: GenerateAttemptInput;
  readonly #watch: AnswerWatch;
  /** Asked more than once of one answer, and the same each time. */
  readonly #estimatePrompt: () => number;
  #access: AccountAccess | undefined;
  #told: GenerateAnswer | undefined;
  readonly #missingUsage: MissingUsage;
  #decoder: Decoder | undefined;

  constructor(input: GenerateAttemptInput) {
    this.#input = input;
    const { call, context, options, prepared } = input;
    this.#watch = createAnswerWatch({
      keeper: options.keeper,
      scope: context.clientKeyId,
      asked: prepared.lane === 'relay' ? undefined : () => whatIsAsked(call),
      transcript: context.record.keepsAnswers ? new AnswerTranscript() : undefined,
      toldUsage: () => this.#toldUsage(),
    });
    const { estimator } = options;
    const estimatePrompt = once(() => estimator.estimate(call.request));
    this.#estimatePrompt = estimatePrompt;
    this.#missingUsage = createMissingUsage({ estimator, estimatePrompt });
  }

  async run(): Promise<GenerateAnswer> {
    const { call, context, options } = this.#input;
    const startedAt = options.clock.monotonic();
    const frames = await this.#open();
    const answer = call.stream ? await this.#stream(frames) : await this.#reply(frames);
    noteCommit(context.record, this.#watch, options.clock.monotonic());
    context.record.timings.upstreamMs = options.clock.monotonic() - startedAt;
    if (answer.kind === 'reply') this.#succeed();
    return answer;
  }

  /** True when `run` failed for an answer in the client's own wire that says itself what is wrong with it. */
  get isTold(): boolean {
    return this.#told !== undefined;
  }

  /** That answer, where no better one comes. */
  tell(): GenerateAnswer | undefined {
    const { context, options } = this.#input;
    if (this.#told === undefined) return undefined;
    noteCommit(context.record, this.#watch, options.clock.monotonic());
    context.record.error = this.#watch.error;
    return this.#told;
  }

  async #open(): Promise<UpstreamStream> {
    const { call, context, lease, plan, prepared } = this.#input;
    const { signal } = context;
    const access = await lease.access({ refresh: plan.refreshCredential, signal });
    this.#access = access;
    const { freshConnection } = plan;
    // Not `AbortSignal.any`, whose weak references cost every request a part of its time.
    const exchange = new AbortController();
    const onGone = (): void => exchange.abort(signal.reason);
    if (signal.aborted) onGone();
    signal.addEventListener('abort', onGone, { once: true });
    const { clock } = this.#input.options;
    const timer = clock.startTimer(PATIENCE_MS, () => {
      if (this.#input.hasOther()) exchange.abort(noHeader());
    });
    try {
      return await lease.upstream.open({
        modelId: lease.modelId,
        body: prepared.body,
        stream: call.stream,
        access,
        signal: exchange.signal,
        freshConnection,
        receipt: context.receipt,
      });
    } catch (error) {
      signal.removeEventListener('abort', onGone);
      throw exchange.signal.aborted && !signal.aborted ? exchange.signal.reason : error;
    } finally {
      timer.cancel();
    }
  }

  async #reply(frames: UpstreamStream): Promise<GenerateAnswer> {
    const { call, context, prepared } = this.#input;
    const input = this.#laneInput(frames);
    const { relay } = call;
    if (prepared.lane === 'relay' && relay !== undefined) {
      const reply = (bodies: readonly JsonObject[]) =>
        ({ kind: 'reply', body: relay.writeReply(bodies, this.#replyContext()) }) as const;
      const onTold = (bodies: readonly JsonObject[]): void => {
        this.#told = reply(bodies);
      };
      return reply(await relayReply({ ...input, edit: this.#relayEdit(relay) }, onTold));
    }
    // Noted only once the answer is whole: another attempt must not inherit this one's repairs.
    const receipt = createReceipt();
    const reply = await translateReply({ ...input, ...this.#rules(receipt) });
    for (const { action, path, reason } of receipt.entries) {
      context.receipt.add(action, path, reason);
    }
    return { kind: 'reply', body: call.writeReply(reply, this.#replyContext()) };
  }

  async #stream(frames: UpstreamStream): Promise<GenerateAnswer> {
    const { call, prepared } = this.#input;
    const input = this.#laneInput(frames);
    const chunks =
      prepared.lane === 'relay' && call.relay !== undefined
        ? this.#relay(input, call.relay)
        : this.#translate(input);
    // From the commit point on the lease lives as long as the stream.
    chunks.putBack(await chunks.next(), () => this.#release());
    return { kind: 'stream', chunks };
  }

  #relay(input: RelayInput, relay: RelayCall): AnswerText {
    const writer = relay.createStreamWriter(this.#replyContext());
    return relayStream({ ...input, edit: this.#relayEdit(relay) }, writer, (text) => {
      this.#told = { kind: 'stream', chunks: oneChunk(text) };
    });
  }

  /** Calls go back under the name they have here: what is remembered of one goes by it. */
  #relayEdit(relay: RelayCall): (value: JsonObject) => JsonObject {
    const { call, context } = this.#input;
    const { receipt } = context;
    const match = once(() =>
      createNameMatcher({ tools: call.request.tools.filter(isCallable), receipt }),
    );
    return (value) => relay.renameCalls(value, (name) => match()(name));
  }

  #translate(input: RelayInput): AnswerText {
    const { call, context } = this.#input;
    return translateStream(
      { ...input, ...this.#rules(context.receipt) },
      call.createStreamWriter(this.#replyContext()),
    );
  }

  /** Tells the pool how the stream ended. */
  #release(): void {
    const { lease, context } = this.#input;
    const { error, isFinished } = this.#watch;
    context.record.error = context.signal.aborted ? abortError(context.signal) : error;
    if (isFinished) this.#succeed();
    else if (error?.failure !== undefined && !context.signal.aborted) {
      const { failure } = error;
      // An answer has begun, so that what refuses the rest of it is not the account.
      lease.release(isRefusal(failure.kind) ? { kind: 'neutral' } : { kind: 'failure', failure });
    } else lease.release({ kind: 'neutral' });
  }

  /** Of an answer that was not heard to its end: what was told of it so far, with estimates for the rest. */
  #toldUsage(): Usage | undefined {
    const told = this.#decoder?.usage;
    return this.#missingUsage.estimate(told) ?? told;
  }

  #succeed(): void {
    const { call, lease, options, prepared } = this.#input;
    lease.release({ kind: 'success' });
    // A relayed call has no canonical form yet, and a better estimate is not worth building one.
    if (prepared.lane === 'relay') return;
    const usage = this.#watch.usage;
    if (usage === undefined || usage.isEstimate === true) return;
    options.estimator.observe(call.request, usage.promptTokens);
  }

  #laneInput(frames: UpstreamStream): RelayInput {
    const { call, lease, options, prepared } = this.#input;
    const decoder = lease.upstream.createDecoder({
      signatureFamily: prepared.signatureFamily,
      body: prepared.body,
      access: this.#access,
      // A search nobody asked for cites as well, and citations without a place mislead.
      placesCitations: prepared.lane === 'translate',
      passesParts: prepared.lane === 'relay',
      showsDrafts: prepared.lane === 'translate' && (call.request.imageDrafts ?? 0) > 0,
      callIdPrefix: call.callIdPrefix,
      createId: options.createId,
    });
    this.#decoder = decoder;
    return { frames, decoder, watch: this.#watch, missingUsage: this.#missingUsage };
  }

  #rules(receipt: Receipt): AnswerRules {
    const { call, options, lease, prepared } = this.#input;
    const { createId } = options;
    const { callIdPrefix } = call;
    const { isSearchNamed } = prepared;
    const request = call.request;
    const typed = lease.upstream.typedValues(prepared.body);
    const textLimit = this.#textLimit(request);
    return createAnswerRules({
      ...{ request, receipt, typed, callIdPrefix, createId, isSearchNamed, textLimit },
    });
  }

  /** The upstream's limit is raised for its thinking; what it does not think it may write. */
  #textLimit({ maxOutputTokens: limit }: CanonicalRequest): AnswerRulesOptions['textLimit'] {
    const { lease, prepared } = this.#input;
    const sent = lease.upstream.outputLimit(prepared.body);
    if (limit === undefined || sent === undefined || sent <= limit) return undefined;
    return { limit, counted: () => this.#decoder?.countedAnswer };
  }

  #replyContext(): ReplyContext {
    const { options, call, prepared } = this.#input;
    const { isSearchNamed } = prepared;
    const createdAt = Math.floor(options.clock.now() / 1000);
    return {
      model: call.model,
      createId: options.createId,
      createdAt,
      isSearchNamed,
      estimatePrompt: this.#estimatePrompt,
    };
  }
}

function noHeader(): GatewayError {
  return new GatewayError({
    kind: 'timeout',
    source: 'upstream',
    message: told`The upstream did not begin to answer in time.`,
    failure: { kind: 'path' },
  });
}

async function* oneChunk(text: string): AsyncGenerator<string, void> {
  yield text;
}

function whatIsAsked(call: GenerateCall): string {
  const { turns } = call.request;
  return precedingUserContent(turns, turns.length);
}
