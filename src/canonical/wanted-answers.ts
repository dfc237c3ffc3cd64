// How many answers a call is to give.

import type { CanonicalRequest } from './request.ts';

type Asking = Pick<CanonicalRequest, 'choices'>;

export interface Wanting {
  /** @throws GatewayError for a request that cannot be read */
  canonical(): Asking;
  /** The requests it is, where it is several: each may ask for several answers of its own. */
  readonly fanOut?: { readonly requests: readonly Asking[] } | undefined;
}

/** @throws GatewayError as `canonical` does */
export function wantedAnswers({ canonical, fanOut }: Wanting): number {
  const requests = fanOut?.requests ?? [canonical()];
  return requests.reduce((sum, { choices }) => sum + Math.max(1, choices), 0);
}
