// Token counts: the upstream's own where it can count, else a marked estimate.

import { type ErrorKind, GatewayError } from '../canonical/error.ts';
import { textTokens } from '../canonical/prompt-size.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { Lease } from '../pool/pool.ts';
import type { CountTokensCall } from '../protocols/protocol.ts';
import { type AttemptDependencies, type AttemptFacts, AttemptRun } from './attempts.ts';
import { noteLease, type RoutedCall } from './call-setup.ts';
import type { CallContext } from './dispatcher.ts';
import type { CallBodies } from './prepare.ts';
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
  const count = async (lease: Lease, { plan, route }: AttemptFacts): Promise<JsonObject> => {
    const { body, lane } = await bodies.prepare(lease, plan, route);
    const startedAt = dependencies.clock.monotonic();
    noteLease(lease, context);
    const access = await lease.access({ refresh: plan.refreshCredential, signal });
    const { modelId, upstream } = lease;
    const { freshConnection } = plan;
    const clientHeaders = lane === 'relay' ? call.relay?.headers : undefined;
    const counting = { modelId, body, access, signal, freshConnection, receipt, clientHeaders };
    const { total, uncounted } = await upstream.countTokens(counting).catch((error: unknown) => {
      throw spareModel(error);
    });
    // Counting uses nothing of the quota: that it works says nothing of the limits of answers.
    lease.release({ kind: 'neutral' });
    record.timings.upstreamMs = dependencies.clock.monotonic() - startedAt;
    if (uncounted === undefined) return call.writeCount({ totalTokens: total });
    // What the upstream could not count is estimated, and the whole marked as an estimate.
    record.isEstimate = true;
    return call.writeCount({ totalTokens: total + estimator.estimateText(textTokens(uncounted)) });
  };
  try {
    const request = { routes, context, bodies, hasOwnLimits: true };
    return await new AttemptRun(request, dependencies).run(count);
  } catch (error) {
    if (!(error instanceof GatewayError) || !BEHIND_GATEWAY.has(error.kind)) throw error;
    record.isEstimate = true;
    return call.writeCount({ totalTokens: estimator.estimate(call.request) });
  }
}

/** Errors of which the client mends nothing. */
const BEHIND_GATEWAY: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  ...(['rate-limited', 'quota-exhausted', 'overloaded'] as const),
  ...(['upstream-auth', 'upstream-unavailable', 'upstream-rejected'] as const),
]);

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
