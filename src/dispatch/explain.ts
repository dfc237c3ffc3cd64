// Shows what would become of a call: its route, its account and the body, without sending anything.

import type { Receipt } from '../canonical/receipt.ts';
import { mendText } from '../canonical/text-forms.ts';
import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import { understood } from '../protocols/relayed-request.ts';
import { exhaustedError } from './account-search.ts';
import { FIRST_PLAN } from './attempt-plan.ts';
import { choicesOf, lookForLease, noteLease, type Routing, routeCall } from './call-setup.ts';
import type { CallContext, CallExplanation } from './dispatcher.ts';
import { askApart } from './fan-out.ts';
import { type BodiesOptions, CallBodies } from './prepare.ts';

/** Leases, prepares and gives back: nothing is sent and nothing held against the account. */
export async function explainCall(
  asked: GenerateCall,
  context: CallContext,
  options: Routing & BodiesOptions,
): Promise<CallExplanation> {
  const call = choicesOf(asked) > 1 ? await askApart(asked, context, options) : asked;
  const { model } = call;
  const routes = await routeCall(call, context, options);
  const bodies = new CallBodies(call, context, options);
  const { leased, choice } = lookForLease(routes, options.pool);
  if (leased.kind === 'none') throw exhaustedError(leased, choice, undefined);
  const { route } = choice;
  const { lease } = leased;
  try {
    noteLease(lease, context, { task: 'generate', model, route });
    const { lane, body } = await bodies.prepare(lease, FIRST_PLAN, route);
    return {
      route,
      accountId: lease.account.id,
      considered: lease.selectionLog,
      upstreamId: lease.upstream.id,
      upstreamModel: lease.modelId,
      lane,
      canonical: understood(call),
      upstreamBody: asSent(body, context.receipt),
      receipt: context.receipt.entries,
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
