// The dry run of a call: what would be sent to whom, without sending it.

import { mendText } from '../canonical/mend-text.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import type { Pool } from '../pool/pool.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import { type CallSetup, noteLease } from './call-setup.ts';
import type { CallContext, CallExplanation } from './dispatcher.ts';
import { exhaustedError } from './exhausted.ts';
import { requireTask } from './model-task.ts';

/** Leases, prepares and gives back: nothing is sent and nothing held against the account. */
export async function explainCall(
  call: GenerateCall,
  context: CallContext,
  { setup, pool }: { readonly setup: CallSetup; readonly pool: Pool },
): Promise<CallExplanation> {
  // A dry run has no patience: a busy account is passed over as if it had been waited for.
  const waitedMs = Number.POSITIVE_INFINITY;
  const leased = pool.lease({
    ...setup.leaseRequest,
    exclude: new Set(),
    waitedMs,
    isDryRun: true,
  });
  if (leased.kind === 'wait') throw new Error('The pool asked for more time than there is.');
  if (leased.kind === 'none') throw exhaustedError(leased, undefined);
  const { lease } = leased;
  try {
    noteLease(lease, context);
    requireTask('generate', { model: call.model, target: setup.route.target }, lease);
    await setup.loadMedia(lease);
    const { lane, body } = setup.prepare(lease, { signatures: 'carried', standsIn: false });
    const upstreamBody = asSent(body, context.receipt);
    // Before the canonical form is made for show: what it cannot hold is relayed all the same.
    const receipt = [...context.receipt.entries];
    return {
      route: setup.route,
      accountId: lease.account.id,
      considered: lease.considered,
      upstreamId: lease.upstream.id,
      upstreamModel: lease.modelId,
      lane,
      canonical: call.canonical(),
      upstreamBody,
      receipt,
    };
  } finally {
    lease.release({ kind: 'neutral' });
  }
}

/** The body with what is mended in its text when it is sent. */
function asSent(body: JsonObject, receipt: Receipt): JsonObject {
  const text = JSON.stringify(body);
  const mended = mendText(text, receipt);
  const value = mended === text ? body : parseJson(mended);
  return isJsonObject(value) ? value : body;
}
