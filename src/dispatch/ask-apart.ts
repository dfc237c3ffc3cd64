// Makes a request for several answers a request for each of them, where the model gives one at a time.

import type { CanonicalRequest } from '../canonical/request.ts';
import type { Pool } from '../pool/pool.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import { routeCall } from './call-setup.ts';
import type { CallContext } from './dispatcher.ts';
import type { ModelRouter } from './router.ts';

/** As many as the models give that give several; more are refused where the request is encoded. */
const MOST_ANSWERS = 8;

interface Routing {
  readonly router: ModelRouter;
  readonly pool: Pool;
}

/** False for native requests, which are the upstream's to judge. @throws GatewayError as `canonical` does */
export function asksForSeveral({ relay, canonical }: GenerateCall): boolean {
  if (relay !== undefined) return false;
  const { choices } = canonical();
  return choices > 1 && choices <= MOST_ANSWERS;
}

/**
 * The call as the model takes it, which is known with its account: one that would serve it now is looked at,
 * and not taken. @throws GatewayError when the model name leads nowhere.
 */
export async function askingApart(
  call: GenerateCall,
  context: CallContext,
  routing: Routing,
): Promise<GenerateCall> {
  if (await givesSeveral(call, context, routing)) return call;
  const { fanOut = { requests: [call.canonical()], takesPartial: true } } = call;
  const requests = fanOut.requests.flatMap(eachApart);
  const [first = call.canonical()] = requests;
  return { ...call, canonical: () => first, fanOut: { ...fanOut, requests } };
}

async function givesSeveral(
  { model }: GenerateCall,
  context: CallContext,
  routing: Routing,
): Promise<boolean> {
  const { leaseRequest } = await routeCall(model, context, routing);
  const waitedMs = Number.POSITIVE_INFINITY;
  const leased = routing.pool.lease({
    ...leaseRequest,
    exclude: new Set(),
    waitedMs,
    isDryRun: true,
  });
  // Without an account the attempts say what is wrong.
  if (leased.kind !== 'lease') return true;
  const { upstream, modelId, listedModel, release } = leased.lease;
  release({ kind: 'neutral' });
  return upstream.capabilities(modelId, listedModel).severalAnswers;
}

/** The same seed would give the same answer each time. */
function eachApart(request: CanonicalRequest): readonly CanonicalRequest[] {
  const { choices, sampling } = request;
  const { seed } = sampling;
  return Array.from({ length: choices }, (_, index) => ({
    ...request,
    choices: 1,
    sampling: seed === undefined ? sampling : { ...sampling, seed: seed + index },
  }));
}
