// Calls that generate nothing: token counts (the upstream's own where it can count, else a marked estimate) and embeddings.

import { noteCommit, type ServedBy } from '../canonical/call-record.ts';
import type { EmbedAnswer, Embedding } from '../canonical/embedding.ts';
import { type ErrorKind, GatewayError } from '../canonical/error.ts';
import { textTokens } from '../canonical/prompt-size.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { Lease } from '../pool/pool.ts';
import type { CountTokensCall, EmbedCall } from '../protocols/protocol.ts';
import type { EmbedRelay } from '../protocols/relayed-request.ts';
import type { RoutedModel } from '../routing/router.ts';
import type { HeldMemory } from '../stream/held-memory.ts';
import type { AttemptPlan } from './attempt-plan.ts';
import { type AttemptDependencies, type AttemptFacts, AttemptRun } from './attempts.ts';
import { noteLease, type RoutedCall } from './call-setup.ts';
import type { CallContext } from './dispatcher.ts';
import { createPatience } from './first-byte.ts';
import { type CallBodies, refuseLosses } from './prepare.ts';
import type { TokenEstimator } from './stream-observer.ts';

interface CountSetup {
  readonly routes: RoutedCall;
  readonly bodies: CallBodies;
  readonly dependencies: AttemptDependencies;
  readonly estimator: TokenEstimator;
}

/** @throws GatewayError for what the client has to mend; trouble behind the gateway gives an estimate. */
export async function countTokens(
  call: CountTokensCall,
  context: CallContext,
  { routes, bodies, dependencies, estimator }: CountSetup,
): Promise<JsonObject> {
  const { signal, record, receipt } = context;
  const estimated = (totalTokens: number): JsonObject => {
    record.isEstimate = true;
    return call.writeCount(totalTokens);
  };
  const count = async (
    lease: Lease,
    { plan, route, hasOther }: AttemptFacts,
  ): Promise<JsonObject> => {
    const { body, lane } = await bodies.prepare(lease, plan, route);
    const startedAt = dependencies.clock.monotonic();
    noteLease(lease, context, undefined);
    const access = await lease.access({ refresh: plan.refreshCredential, signal });
    const { modelId, upstream } = lease;
    const { freshConnection } = plan;
    const clientHeaders = lane === 'relay' ? call.relay?.headers : undefined;
    const patience = createPatience({ signal, clock: dependencies.clock, hasOther });
    const counting = { modelId, body, access, freshConnection, receipt, clientHeaders };
    const counted = await upstream
      .countTokens({ ...counting, signal: patience.signal })
      .catch((error: unknown) => {
        throw uncountable(patience.reasonOf(error));
      })
      .finally(patience.end);
    // Counting uses nothing of the quota: that it works says nothing of the limits of answers.
    lease.release({ kind: 'neutral' });
    record.timings.upstreamMs = dependencies.clock.monotonic() - startedAt;
    if (counted === undefined) return estimated(estimator.estimateCall(call));
    const { total, uncounted, answer } = counted;
    if (uncounted === undefined) {
      const written = call.writeCount(total);
      return lane === 'relay' ? { ...answer, ...written } : written;
    }
    return estimated(total + estimator.estimateText(textTokens(uncounted)));
  };
  try {
    const request = { routes, context, bodies, hasOwnLimits: true };
    return await new AttemptRun(request, dependencies).run(count);
  } catch (error) {
    if (!(error instanceof GatewayError) || !BEHIND_GATEWAY.has(error.kind)) throw error;
    return estimated(estimator.estimateCall(call));
  }
}

/** Errors of which the client mends nothing. */
const BEHIND_GATEWAY: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  ...(['rate-limited', 'quota-exhausted', 'overloaded'] as const),
  ...(['upstream-auth', 'upstream-unavailable', 'upstream-rejected', 'timeout'] as const),
]);

/** Statuses of a call that the upstream does not have, or not for this model. */
const NO_SUCH_CALL: ReadonlySet<number | undefined> = new Set([404, 405, 501]);

/** That a model is not counted must not take it from those who ask it for answers. */
function uncountable(error: unknown): unknown {
  if (!(error instanceof GatewayError) || !NO_SUCH_CALL.has(error.failure?.status)) return error;
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: told`The upstream does not count the tokens of this model.`,
    failure: { ...error.failure, kind: 'rejected' },
    cause: error,
  });
}

// Embeddings: an attempt keeps the vectors of the one before, as long as it is of the same model.

interface EmbedSetup {
  readonly routes: RoutedCall;
  readonly dependencies: AttemptDependencies;
  readonly estimator: TokenEstimator;
  /** For the vectors; they are the caller's to release. */
  readonly memory: HeldMemory;
}

/** @throws GatewayError to render in the client's protocol. */
export async function embed(
  call: EmbedCall,
  context: CallContext,
  { routes, dependencies, estimator, memory }: EmbedSetup,
): Promise<JsonObject> {
  const { record, receipt } = context;
  const progress = new Progress(memory);
  let server: ServedBy | undefined;
  const attempt = async (lease: Lease, { plan, route, hasOther }: AttemptFacts): Promise<void> => {
    const isKnown = noteLease(lease, context, { task: 'embed', model: call.model, route });
    noteVariant(route, receipt);
    const startedAt = dependencies.clock.monotonic();
    const { clock } = dependencies;
    await embedOn(lease, { call, context, plan, progress, isKnown, clock, hasOther });
    record.timings.upstreamMs = dependencies.clock.monotonic() - startedAt;
    const { id: accountId, upstreamId } = lease.account;
    server = { accountId, upstreamId, modelId: lease.modelId };
  };
  await new AttemptRun({ routes, context }, dependencies).run(attempt);
  const answer = progress.answer();
  const isEstimate = answer.promptTokens === undefined || undefined;
  const size = (): number => call.texts().reduce((sum, text) => sum + textTokens(text), 0);
  const promptTokens = answer.promptTokens ?? estimator.estimateText(size());
  const usage = { ...NO_USAGE, promptTokens, media: answer.media, isEstimate };
  noteCommit(record, { usage, imageCount: 0, servedBy: server }, dependencies.clock.monotonic());
  const writer = progress.relay ?? call;
  if (!call.showsUsage) return writer.writeEmbeddings(answer);
  record.isEstimate = isEstimate;
  return writer.writeEmbeddings({ ...answer, promptTokens });
}

interface EmbedAttempt {
  readonly call: EmbedCall;
  readonly context: CallContext;
  readonly plan: AttemptPlan;
  readonly progress: Progress;
  /** True where somebody knows that the model embeds. */
  readonly isKnown: boolean;
  readonly clock: AttemptDependencies['clock'];
  readonly hasOther: AttemptFacts['hasOther'];
}

async function embedOn(lease: Lease, attempt: EmbedAttempt): Promise<void> {
  const { call, context, plan, progress, isKnown } = attempt;
  const { receipt, signal, strict } = context;
  const { modelId, upstream } = lease;
  const relay = call.relay?.wire === upstream.wire ? call.relay : undefined;
  const all = relay?.bodies ?? call.inputs().map((input) => upstream.encodeEmbedInput(input));
  if (strict) refuseLosses(receipt, all);
  const access = await lease.access({ refresh: plan.refreshCredential, signal });
  const { freshConnection } = plan;
  const bodies = all.slice(progress.goOnWith(lease, relay));
  const patience = createPatience({ signal, ...attempt });
  const asked = { modelId, bodies, access, freshConnection, receipt, signal: patience.signal };
  try {
    const parts = upstream.embed(asked);
    for await (const part of parts) {
      progress.add(part);
      patience.restart();
    }
  } catch (error) {
    const reason = patience.reasonOf(error);
    throw isKnown ? reason : notEmbedded(reason);
  } finally {
    patience.end();
  }
  lease.release({ kind: 'success' });
}

/** Counted for a number of a vector, as characters of a text are, which take several times as many bytes; its JSON takes as much again. */
const NUMBER_BYTES = 6;

/** What is embedded so far. Vectors of different models do not compare, so that they never mix. */
class Progress {
  readonly #memory: HeldMemory;
  #place = '';
  #parts: EmbedAnswer[] = [];
  #numbers = 0;
  /** Set while the client's own bodies are sent. */
  relay: EmbedRelay | undefined;

  constructor(memory: HeldMemory) {
    this.#memory = memory;
  }

  /** How many inputs are done already where this lease leads. */
  goOnWith({ upstream, modelId }: Lease, relay: EmbedRelay | undefined): number {
    const place = `${upstream.id}\n${modelId}`;
    this.relay = relay;
    if (place !== this.#place) {
      this.#parts = [];
      this.#numbers = 0;
    }
    this.#place = place;
    return this.#parts.reduce((sum, { embeddings }) => sum + embeddings.length, 0);
  }

  /** @throws GatewayError when there is not enough memory for all of them */
  add(part: EmbedAnswer): void {
    this.#parts.push(part);
    for (const { values } of part.embeddings) this.#numbers += values.length;
    this.#memory.count(NUMBER_BYTES * this.#numbers);
  }

  /** @throws as `add` */
  answer(): EmbedAnswer {
    this.#memory.count(2 * NUMBER_BYTES * this.#numbers);
    const embeddings: Embedding[] = this.#parts.flatMap((part) => part.embeddings);
    const counts = this.#parts.map((part) => part.promptTokens);
    const known = counts.filter((count) => count !== undefined);
    const isCounted = known.length === counts.length;
    return {
      embeddings,
      promptTokens: isCounted ? known.reduce((sum, count) => sum + count, 0) : undefined,
      media: {
        image: this.#parts.reduce((sum, { media }) => sum + (media?.image ?? 0), 0),
        audio: this.#parts.reduce((sum, { media }) => sum + (media?.audio ?? 0), 0),
      },
      nativeUsages: isCounted ? this.#parts.flatMap((part) => part.nativeUsages) : [],
    };
  }
}

/**
 * Upstreams say "not found" of a model that cannot embed, too. Where nobody says that it can, this
 * must not take it from those who ask it for answers.
 */
function notEmbedded(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.failure?.kind !== 'model-not-found') return error;
  return new GatewayError({
    kind: 'not-found',
    source: 'upstream',
    reason: 'model-not-found',
    field: 'model',
    message: told`The upstream does not offer this model, or not for embeddings.`,
    failure: { ...error.failure, kind: 'rejected' },
    cause: error,
  });
}

function noteVariant({ effort, thinking, webSearch, image }: RoutedModel, receipt: Receipt): void {
  const isPlain = effort === undefined && thinking === undefined && image === undefined;
  if (isPlain && !webSearch) return;
  const reason = told`The suffix of the model name means nothing to embeddings.`;
  receipt.add('dropped', 'model', reason);
}
