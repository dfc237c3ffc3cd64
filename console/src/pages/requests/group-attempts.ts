// The attempts of a request by the upstream calls they are of, each numbered within its call, and where a target
// was left for the next one.

import type {
  RequestAttempt,
  RequestDetail,
  RequestFallback,
} from '../../../../src/admin/contract.ts';

export interface AttemptsOfCall {
  /** From 1; undefined where the request was one call. */
  readonly call: number | undefined;
  readonly steps: readonly AttemptStep[];
}

type AttemptStep =
  | { readonly kind: 'attempt'; readonly attempt: RequestAttempt; readonly number: number }
  | { readonly kind: 'fallback'; readonly fallback: RequestFallback };

type Attempted = Pick<RequestDetail, 'attemptsList' | 'fallbacks' | 'upstreamCalls'>;

export function groupAttempts(detail: Attempted): AttemptsOfCall[] {
  const { attemptsList, fallbacks = [], upstreamCalls = 1 } = detail;
  const isOne = upstreamCalls < 2;
  const callOf = ({ upstreamCall = 1 }: { readonly upstreamCall?: number }) =>
    isOne ? 1 : upstreamCall;
  const calls = new Set([...attemptsList, ...fallbacks].map(callOf));
  return [...calls]
    .sort((one, other) => one - other)
    .map((call) => ({
      call: isOne ? undefined : call,
      steps: orderSteps(
        attemptsList.filter((attempt) => callOf(attempt) === call),
        fallbacks.filter((fallback) => callOf(fallback) === call),
      ),
    }));
}

/** A target is left behind the attempts that were made until then. */
function orderSteps(
  attempts: readonly RequestAttempt[],
  fallbacks: readonly RequestFallback[],
): readonly AttemptStep[] {
  const leftAfter = (count: number): readonly AttemptStep[] =>
    fallbacks
      .filter(({ afterAttempts }) => Math.min(afterAttempts, attempts.length) === count)
      .map((fallback) => ({ kind: 'fallback', fallback }));
  return [
    ...leftAfter(0),
    ...attempts.flatMap((attempt, index): readonly AttemptStep[] => [
      { kind: 'attempt', attempt, number: index + 1 },
      ...leftAfter(index + 1),
    ]),
  ];
}
