// Dispatch: routes a call, runs its attempts, and hands the committed answer to the edge.

import { createReceipt, type Receipt } from '../canonical/receipt.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Lease, LeaseRequest, Pool } from '../pool/pool.ts';
import type { CountTokensCall, GenerateCall, ReplyContext } from '../protocols/protocol.ts';
import type { SignatureKeeper } from '../signatures/keeper.ts';
import { type AnswerTransform, createAnswerTransform } from '../transforms/answer/index.ts';
import type { UpstreamStream } from '../upstreams/upstream.ts';
import { type AnswerWatch, createAnswerWatch } from './answer-watch.ts';
import { type AttemptPlan, abortError, runAttempts } from './attempts.ts';
import type { CallContext, CallExplanation, Dispatcher, GenerateAnswer } from './dispatcher.ts';
import { exhaustedError } from './exhausted.ts';
import { createPreparer, type PreparedBody } from './prepare.ts';
import { relayReply, relayStream } from './relay.ts';
import { createRetryBudget } from './retry-budget.ts';
import type { ModelRouter, RoutedModel } from './router.ts';
import { nameSession } from './session.ts';
import { translateReply, translateStream } from './translate.ts';

export interface DispatchOptions {
  readonly router: ModelRouter;
  readonly pool: Pool;
  readonly keeper: SignatureKeeper;
  readonly clock: Clock;
  readonly random: () => number;
  readonly createId: (prefix: string) => string;
}

export function createDispatcher(options: DispatchOptions): Dispatcher {
  const { pool, clock, random } = options;
  const dependencies = { pool, clock, random, budget: createRetryBudget(clock) };
  return {
    async generate(call, context) {
      await pool.ensureModels();
      const route = routeCall(options, call.model, context);
      const prepare = createPreparer({
        ...context,
        ...options,
        route,
        canonical: () => call.canonical(),
        relay: call.relay,
      });
      const leaseRequest = {
        ...leaseRequestOf(route, context),
        session: nameSession(call, context),
      };
      const { signal, record } = context;
      return runAttempts(
        { leaseRequest, signal, record },
        (lease, plan) => {
          noteLease(lease, context);
          const prepared = prepare(lease, plan.signatures);
          return new GenerateAttempt({ options, call, context, lease, prepared, plan }).run();
        },
        dependencies,
      );
    },
    explain: (call, context) => explainCall(call, context, options),
    async countTokens(call, context) {
      await pool.ensureModels();
      const route = routeCall(options, call.model, context);
      const prepare = createPreparer({
        ...context,
        ...options,
        route,
        canonical: () => call.canonical(),
        relay: undefined,
      });
      const { signal, record } = context;
      return runAttempts(
        { leaseRequest: leaseRequestOf(route, context), signal, record },
        (lease, plan) =>
          countOn(lease, { call, context, plan, prepared: prepare(lease, plan.signatures) }),
        dependencies,
      );
    },
  };
}

/** Leases, prepares and gives back: nothing is sent and nothing held against the account. */
async function explainCall(
  call: GenerateCall,
  context: CallContext,
  options: DispatchOptions,
): Promise<CallExplanation> {
  await options.pool.ensureModels();
  const route = routeCall(options, call.model, context);
  const prepare = createPreparer({
    ...context,
    ...options,
    route,
    canonical: () => call.canonical(),
    relay: call.relay,
  });
  const leased = options.pool.lease({ ...leaseRequestOf(route, context), exclude: new Set() });
  if (leased.kind === 'none') throw exhaustedError(leased, undefined);
  const { lease } = leased;
  try {
    noteLease(lease, context);
    const { lane, body } = prepare(lease, 'carried');
    return {
      route,
      accountId: lease.account.id,
      considered: lease.considered,
      upstreamId: lease.upstream.id,
      upstreamModel: lease.modelId,
      lane,
      canonical: call.canonical(),
      upstreamBody: body,
    };
  } finally {
    lease.release({ kind: 'neutral' });
  }
}

function routeCall(options: DispatchOptions, model: string, { record }: CallContext): RoutedModel {
  const route = options.router.route(model);
  record.routedModel = route.target;
  return route;
}

function leaseRequestOf(route: RoutedModel, context: CallContext): Omit<LeaseRequest, 'exclude'> {
  const { clientKeyId, preferredAccount, preferredTier } = context;
  return { model: route.target, clientKeyId, preferredAccount, preferredTier };
}

function noteLease(lease: Lease, { record, receipt }: CallContext): void {
  record.upstreamModel = lease.modelId;
  record.accountLabel = lease.account.label;
  if (lease.preferenceFollowed) return;
  receipt.add('dropped', 'X-Preferred-Account', 'The preferred account could not be used.');
}

interface GenerateAttemptInput {
  readonly options: DispatchOptions;
  readonly call: GenerateCall;
  readonly context: CallContext;
  readonly lease: Lease;
  readonly prepared: PreparedBody;
  readonly plan: AttemptPlan;
}

/** One try on one account: resolves at the commit point, then owns the lease until the answer ends. */
class GenerateAttempt {
  readonly #input: GenerateAttemptInput;
  readonly #watch: AnswerWatch;

  constructor(input: GenerateAttemptInput) {
    this.#input = input;
    this.#watch = createAnswerWatch(input.options.keeper, input.context.clientKeyId);
  }

  async run(): Promise<GenerateAnswer> {
    const { call, context, lease, options } = this.#input;
    const startedAt = options.clock.monotonic();
    const frames = await this.#open();
    const answer = call.stream ? await this.#stream(frames) : await this.#reply(frames);
    context.record.timings.upstreamMs = options.clock.monotonic() - startedAt;
    if (answer.kind === 'reply') lease.release({ kind: 'success' });
    return answer;
  }

  async #open(): Promise<UpstreamStream> {
    const { call, context, lease, plan, prepared } = this.#input;
    const { signal } = context;
    const access = await lease.access({ refresh: plan.refreshCredential, signal });
    const { freshConnection } = plan;
    return lease.upstream.open({
      modelId: lease.modelId,
      body: prepared.body,
      stream: call.stream,
      access,
      signal,
      freshConnection,
    });
  }

  async #reply(frames: UpstreamStream): Promise<GenerateAnswer> {
    const { call, context, prepared } = this.#input;
    const input = this.#laneInput(frames);
    if (prepared.lane === 'relay' && call.relay !== undefined) {
      const body = call.relay.writeReply(await relayReply(input), this.#replyContext());
      return { kind: 'reply', body };
    }
    // Noted only once the answer is whole: another attempt must not inherit this one's repairs.
    const receipt = createReceipt();
    const reply = await translateReply({ ...input, transform: this.#transform(receipt) });
    for (const { action, path, reason } of receipt.entries) {
      context.receipt.add(action, path, reason);
    }
    return { kind: 'reply', body: call.writeReply(reply, this.#replyContext()) };
  }

  async #stream(frames: UpstreamStream): Promise<GenerateAnswer> {
    const { call, context, prepared } = this.#input;
    const input = this.#laneInput(frames);
    const chunks =
      prepared.lane === 'relay' && call.relay !== undefined
        ? relayStream(input, call.relay.createStreamWriter(this.#replyContext()))
        : translateStream(
            { ...input, transform: this.#transform(context.receipt) },
            call.createStreamWriter(this.#replyContext()),
          );
    const first = await chunks.next();
    return { kind: 'stream', chunks: this.#committed(first, chunks) };
  }

  /** The stream from its commit point on; tells the pool how it ended. */
  async *#committed(
    first: IteratorResult<string, void>,
    rest: AsyncGenerator<string, void>,
  ): AsyncGenerator<string, void> {
    try {
      if (!first.done) yield first.value;
      yield* rest;
    } finally {
      await rest.return();
      this.#release();
    }
  }

  #release(): void {
    const { lease, context } = this.#input;
    const { error, isFinished } = this.#watch;
    context.record.error = context.signal.aborted ? abortError(context.signal) : error;
    if (isFinished) lease.release({ kind: 'success' });
    else if (error?.failure !== undefined && !context.signal.aborted) {
      lease.release({ kind: 'failure', failure: error.failure });
    } else lease.release({ kind: 'neutral' });
  }

  #laneInput(frames: UpstreamStream) {
    const { lease, options, prepared } = this.#input;
    const decoder = lease.upstream.createDecoder({
      signatureFamily: prepared.signatureFamily,
      createId: options.createId,
    });
    return { frames, decoder, watch: this.#watch };
  }

  #transform(receipt: Receipt): AnswerTransform {
    const { call, options } = this.#input;
    const { createId } = options;
    return createAnswerTransform({ request: call.canonical(), receipt, createId });
  }

  #replyContext(): ReplyContext {
    const { options, call } = this.#input;
    const createdAt = Math.floor(options.clock.now() / 1000);
    return { model: call.model, createId: options.createId, createdAt };
  }
}

async function countOn(
  lease: Lease,
  input: {
    readonly call: CountTokensCall;
    readonly context: CallContext;
    readonly plan: AttemptPlan;
    readonly prepared: PreparedBody;
  },
): Promise<JsonObject> {
  const { call, context, plan, prepared } = input;
  noteLease(lease, context);
  const { signal } = context;
  const access = await lease.access({ refresh: plan.refreshCredential, signal });
  const { modelId, upstream } = lease;
  const { freshConnection } = plan;
  const totalTokens = await upstream.countTokens({
    modelId,
    body: prepared.body,
    access,
    signal,
    freshConnection,
  });
  lease.release({ kind: 'success' });
  return call.writeCount({ totalTokens });
}
