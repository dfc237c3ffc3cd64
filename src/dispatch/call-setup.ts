// What every operation of dispatch begins with: a route, a lease request and a way to prepare bodies.

import type { ThinkingMode } from '../canonical/effort.ts';
import { told } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { MediaFetcher } from '../media/fetch-media.ts';
import type { Lease, LeaseRequest, Pool } from '../pool/pool.ts';
import type { RelayBody } from '../protocols/protocol.ts';
import type { SignatureKeeper } from '../signatures/keeper.ts';
import type { AttemptDependencies } from './attempts.ts';
import { createCallMedia } from './call-media.ts';
import type { CallContext } from './dispatcher.ts';
import { createPreparer, type Preparer } from './prepare.ts';
import type { ModelRouter, RoutedModel } from './router.ts';
import type { TokenEstimator } from './token-estimate.ts';

export interface SetupOptions {
  readonly router: ModelRouter;
  readonly pool: Pool;
  readonly keeper: SignatureKeeper;
  readonly estimator: TokenEstimator;
  /** Absent where nothing is ever fetched. */
  readonly media: MediaFetcher | undefined;
  /** Read once per request, so that a request is not treated in two ways. */
  readonly thinkingMode: () => ThinkingMode;
  readonly dependencies: AttemptDependencies;
  /** True for calls that count tokens: they may be about a piece of a conversation. */
  readonly mayBePiece?: boolean | undefined;
}

/** Where a call goes, and what it asks of the pool. */
export interface RoutedCall {
  readonly route: RoutedModel;
  readonly leaseRequest: Omit<LeaseRequest, 'exclude'>;
}

export interface CallSetup extends RoutedCall, Preparer {
  /** Fetches what the request names by address, where needed; comes before `prepare`. @throws GatewayError */
  loadMedia(lease: Lease): Promise<void>;
  readonly dependencies: AttemptDependencies;
  readonly estimator: TokenEstimator;
}

interface SetupCall {
  readonly model: string;
  readonly relay?: RelayBody | undefined;
  canonical(): CanonicalRequest;
}

/** @throws GatewayError when the model name leads nowhere. */
export async function setUpCall(
  call: SetupCall,
  context: CallContext,
  options: SetupOptions,
): Promise<CallSetup> {
  const { keeper, dependencies, estimator } = options;
  const media = createCallMedia(call, { fetcher: options.media, signal: context.signal });
  const { route, leaseRequest } = await routeCall(call.model, context, options);
  const { clientKeyId, receipt, strict } = context;
  return {
    route,
    leaseRequest,
    loadMedia: ({ upstream }) => media.load(upstream),
    ...createPreparer({
      canonical: () => media.canonical(),
      relay: call.relay,
      route,
      keeper,
      clientKeyId,
      receipt,
      strict,
      thinkingMode: options.thinkingMode(),
      mayBePiece: options.mayBePiece ?? false,
    }),
    dependencies,
    estimator,
  };
}

/** @throws GatewayError when the model name leads nowhere. */
export async function routeCall(
  model: string,
  context: CallContext,
  { router, pool }: Pick<SetupOptions, 'router' | 'pool'>,
): Promise<RoutedCall> {
  await pool.ensureModels();
  const { clientKeyId, preferredAccount, onlyAccount, preferredTier } = context;
  const route = router.route(model, onlyAccount ?? preferredAccount);
  context.record.routedModel = route.target;
  const wishes = { preferredAccount, onlyAccount, preferredTier };
  return {
    route,
    leaseRequest: { model: route.target, clientKeyId, ...wishes },
  };
}

/** Writes the chosen account into the request's record; an unfollowed preference is no secret loss. */
export function noteLease(lease: Lease, { record, receipt }: CallContext): void {
  record.upstreamModel = lease.modelId;
  record.accountLabel = lease.account.label;
  record.isSandbox = lease.upstream.isSandbox;
  if (lease.preferenceFollowed) return;
  receipt.add('dropped', 'X-Preferred-Account', told`The preferred account could not be used.`);
}
