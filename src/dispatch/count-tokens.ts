// Token counts: the upstream's own where it can count, else a marked estimate.

import { GatewayError } from '../canonical/error.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Lease } from '../pool/pool.ts';
import type { CountTokensCall } from '../protocols/protocol.ts';
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
  const { leaseRequest, loadMedia, prepare, dependencies, estimator } = setup;
  try {
    return await runAttempts(
      { leaseRequest, signal, record },
      async (lease, plan) => {
        await loadMedia(lease);
        const prepared = prepare(lease, plan.signatures);
        const startedAt = dependencies.clock.monotonic();
        const body = await countOn(lease, { call, context, plan, prepared });
        record.timings.upstreamMs = dependencies.clock.monotonic() - startedAt;
        return body;
      },
      dependencies,
    );
  } catch (error) {
    if (!isBehindGateway(error)) throw error;
    record.isEstimate = true;
    return call.writeCount({ totalTokens: estimator.estimate(call.canonical()) });
  }
}

interface CountInput {
  readonly call: CountTokensCall;
  readonly context: CallContext;
  readonly plan: AttemptPlan;
  readonly prepared: PreparedBody;
}

async function countOn(lease: Lease, input: CountInput): Promise<JsonObject> {
  const { call, context, plan, prepared } = input;
  noteLease(lease, context);
  const { signal } = context;
  const access = await lease.access({ refresh: plan.refreshCredential, signal });
  const { modelId, upstream } = lease;
  const { freshConnection } = plan;
  const { body } = prepared;
  const totalTokens = await upstream.countTokens({
    modelId,
    body,
    access,
    signal,
    freshConnection,
  });
  lease.release({ kind: 'success' });
  return call.writeCount({ totalTokens });
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
    case 'unsupported-media-type':
    case 'upgrade-refused':
    case 'timeout':
    case 'client-gone':
    case 'internal':
      return false;
    default:
      return error.kind satisfies never;
  }
}
