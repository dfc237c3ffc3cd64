// The attempts of a request by the upstream calls they are of, each numbered within its call.

import type { RequestAttempt, RequestDetail } from '../../../../src/admin/contract.ts';

export interface AttemptsOfCall {
  /** From 1; undefined where the request was one call. */
  readonly call: number | undefined;
  readonly attempts: readonly RequestAttempt[];
}

type Attempted = Pick<RequestDetail, 'attemptsList' | 'upstreamCalls'>;

export function groupAttempts({ attemptsList, upstreamCalls = 1 }: Attempted): AttemptsOfCall[] {
  if (attemptsList.length === 0) return [];
  if (upstreamCalls < 2) return [{ call: undefined, attempts: attemptsList }];
  const byCall = Map.groupBy(attemptsList, ({ upstreamCall = 1 }) => upstreamCall);
  return [...byCall]
    .map(([call, attempts]) => ({ call, attempts }))
    .sort((one, other) => one.call - other.call);
}
