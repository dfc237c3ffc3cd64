// The dry run of a call: what would be sent to whom, without sending it.

import type { Pool } from '../pool/pool.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import { type CallSetup, noteLease } from './call-setup.ts';
import type { CallContext, CallExplanation } from './dispatcher.ts';
import { exhaustedError } from './exhausted.ts';

/** Leases, prepares and gives back: nothing is sent and nothing held against the account. */
export async function explainCall(
  call: GenerateCall,
  context: CallContext,
  { setup, pool }: { readonly setup: CallSetup; readonly pool: Pool },
): Promise<CallExplanation> {
  const leased = pool.lease({ ...setup.leaseRequest, exclude: new Set() });
  if (leased.kind === 'none') throw exhaustedError(leased, undefined);
  const { lease } = leased;
  try {
    noteLease(lease, context);
    await setup.loadMedia(lease);
    const { lane, body } = setup.prepare(lease, 'carried');
    return {
      route: setup.route,
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
