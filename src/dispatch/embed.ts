// Embeddings: attempts that keep what is done, as long as the next one goes on with the same model.

import { noteCommit, type ServedBy } from '../canonical/call-record.ts';
import { GatewayError } from '../canonical/error.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { EmbedAnswer, Embedding } from '../canonical/request.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { Lease } from '../pool/pool.ts';
import type { EmbedCall, EmbedRelay } from '../protocols/protocol.ts';
import type { RoutedModel } from '../routing/router.ts';
import { type AttemptDependencies, type AttemptPlan, AttemptRun } from './attempts.ts';
import { noteLease, type RoutedCall, requireTask } from './call-setup.ts';
import type { CallContext } from './dispatcher.ts';
import { refuseLosses } from './prepare.ts';
import type { TokenEstimator } from './stream-observer.ts';

interface EmbedSetup {
  readonly routes: RoutedCall;
  readonly dependencies: AttemptDependencies;
  readonly estimator: TokenEstimator;
}

/** @throws GatewayError to render in the client's protocol. */
export async function embed(
  call: EmbedCall,
  context: CallContext,
  { routes, dependencies, estimator }: EmbedSetup,
): Promise<JsonObject> {
  const { record, receipt } = context;
  const progress = new Progress();
  let server: ServedBy | undefined;
  await new AttemptRun({ routes, context }, dependencies).run(async (lease, { plan, route }) => {
    noteLease(lease, context);
    const isKnown = requireTask('embed', { model: call.model, target: route.target }, lease);
    noteVariant(route, receipt);
    const startedAt = dependencies.clock.monotonic();
    await embedOn(lease, { call, context, plan, progress, isKnown });
    record.timings.upstreamMs = dependencies.clock.monotonic() - startedAt;
    const { id: accountId, upstreamId } = lease.account;
    server = { accountId, upstreamId, modelId: lease.modelId };
  });
  const answer = progress.answer();
  const { promptTokens } = answer;
  const usage = promptTokens === undefined ? undefined : { ...NO_USAGE, promptTokens };
  noteCommit(record, { usage, imageCount: 0, servedBy: server }, dependencies.clock.monotonic());
  if (progress.relay !== undefined) return progress.relay.writeEmbeddings(answer);
  if (promptTokens !== undefined || !call.showsUsage) return call.writeEmbeddings(answer);
  record.isEstimate = true;
  const parts = call.inputs().map(({ text }) => ({ kind: 'text' as const, text }));
  const asked = { system: [], turns: [{ role: 'user' as const, parts }], tools: [] };
  return call.writeEmbeddings({ ...answer, promptTokens: estimator.estimate(asked) });
}

interface EmbedAttempt {
  readonly call: EmbedCall;
  readonly context: CallContext;
  readonly plan: AttemptPlan;
  readonly progress: Progress;
  /** True where somebody knows that the model embeds. */
  readonly isKnown: boolean;
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
  try {
    const parts = upstream.embed({ modelId, bodies, access, signal, freshConnection, receipt });
    for await (const part of parts) progress.add(part);
  } catch (error) {
    throw isKnown ? error : spareModel(error);
  }
  lease.release({ kind: 'success' });
}

/** What is embedded so far. Vectors of different models do not compare, so that they never mix. */
class Progress {
  #place = '';
  #parts: EmbedAnswer[] = [];
  /** Set while the client's own bodies are sent. */
  relay: EmbedRelay | undefined;

  /** How many inputs are done already where this lease leads. */
  goOnWith({ upstream, modelId }: Lease, relay: EmbedRelay | undefined): number {
    const place = `${upstream.id}\n${modelId}`;
    this.relay = relay;
    if (place !== this.#place) this.#parts = [];
    this.#place = place;
    return this.#parts.reduce((sum, { embeddings }) => sum + embeddings.length, 0);
  }

  add(part: EmbedAnswer): void {
    this.#parts.push(part);
  }

  answer(): EmbedAnswer {
    const embeddings: Embedding[] = this.#parts.flatMap((part) => part.embeddings);
    const counts = this.#parts.map((part) => part.promptTokens);
    const known = counts.filter((count) => count !== undefined);
    const isCounted = known.length === counts.length;
    return {
      embeddings,
      promptTokens: isCounted ? known.reduce((sum, count) => sum + count, 0) : undefined,
      nativeUsages: isCounted ? this.#parts.flatMap((part) => part.nativeUsages) : [],
    };
  }
}

/**
 * Upstreams say "not found" of a model that cannot embed, too. Where nobody says that it can, this
 * must not take it from those who ask it for answers.
 */
function spareModel(error: unknown): unknown {
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
  const reason = told`What the end of the name asks for means nothing to embeddings.`;
  receipt.add('dropped', 'model', reason);
}
