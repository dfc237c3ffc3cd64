// Token counts: the upstream's own where it can count, else a marked estimate.

import { GatewayError } from '../canonical/error.ts';
import { textTokens } from '../canonical/prompt-size.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { Lease } from '../pool/pool.ts';
import type { CountTokensCall } from '../protocols/protocol.ts';
import type { TokenCount } from '../upstreams/upstream.ts';
import { type AttemptPlan, runAttempts } from './attempts.ts';

import { type CallSetup, noteLease } from './call-setup.ts';
import type { CallContext } from './dispatcher.ts';
import type { PreparedBody } from './prepare.ts';

/** @throws GatewayError for what the client has to mend; trouble behind the gateway gives an estimate. */
export async function countTokens(
  call: CountTokensCall,
  context: CallContext,
  setup: CallSetup,
): Promise<JsonObject> {
  const { signal, record } = context;
  const { leaseRequest, loadMedia, prepare, repeats, dependencies, estimator } = setup;
  try {
    return await runAttempts(
      { leaseRequest, signal, record, hasOwnLimits: true, repeats },
      async (lease, plan) => {
        await loadMedia(lease);
        const prepared = prepare(lease, plan);
        const startedAt = dependencies.clock.monotonic();
        const counted = await countOn(lease, { context, plan, prepared });
        record.timings.upstreamMs = dependencies.clock.monotonic() - startedAt;
        return call.writeCount({ totalTokens: completeCount(counted, { record, estimator }) });
      },
      dependencies,
    );
  } catch (error) {
    if (!isBehindGateway(error)) throw error;
    record.isEstimate = true;
    return call.writeCount({ totalTokens: estimator.estimate(call.request) });
  }
}

interface CountInput {
  readonly context: CallContext;
  readonly plan: AttemptPlan;
  readonly prepared: PreparedBody;
}

async function countOn(lease: Lease, input: CountInput): Promise<TokenCount> {
  const { context, plan, prepared } = input;
  noteLease(lease, context);
  const { receipt, signal } = context;
  const access = await lease.access({ refresh: plan.refreshCredential, signal });
  const { modelId, upstream } = lease;
  const { freshConnection } = plan;
  const { body } = prepared;
  const counting = { modelId, body, access, signal, freshConnection, receipt };
  const counted = await upstream.countTokens(counting).catch((error: unknown) => {
    throw spareModel(error);
  });
  // Counting uses nothing of the quota: that it works says nothing of the limits of answers.
  lease.release({ kind: 'neutral' });
  return counted;
}

/** What the upstream could not count is estimated, and the whole marked as an estimate. */
function completeCount(
  { total, uncounted }: TokenCount,
  { record, estimator }: Pick<CallContext, 'record'> & Pick<CallSetup, 'estimator'>,
): number {
  if (uncounted === undefined) return total;
  record.isEstimate = true;
  return total + estimator.estimateText(textTokens(uncounted));
}

/** Statuses of a call that the upstream does not have, or not for this model. */
const NO_SUCH_CALL: ReadonlySet<number | undefined> = new Set([404, 405, 501]);

/** That a model is not counted must not take it from those who ask it for answers. */
function spareModel(error: unknown): unknown {
  if (!(error instanceof GatewayError) || !NO_SUCH_CALL.has(error.failure?.status)) return error;
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: told`The upstream does not count the tokens of this model.`,
    failure: { ...error.failure, kind: 'rejected' },
    cause: error,
  });
}

function isBehindGateway(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  switch (error.kind) {
    case 'rate-limited':
    case 'quota-exhausted':
    case 'upstream-auth':
    case 'upstream-unavailable':
    case 'upstream-rejected':
    case 'overloaded':
      return true;
    case 'invalid-request':
    case 'unauthenticated':
    case 'forbidden':
    case 'not-found':
    case 'method-not-allowed':
    case 'too-large':
    case 'headers-too-large':
    case 'unsupported-media-type':
    case 'upgrade-refused':
    case 'not-implemented':
    case 'timeout':
    case 'client-gone':
    case 'internal':
      return false;
    default:
      return error.kind satisfies never;
  }
}
