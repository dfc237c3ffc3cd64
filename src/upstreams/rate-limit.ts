// Reads what the headers of an answer say of the limits on the rate of calls and tokens.

import { headerOf, MAX_RETRY_DELAY_MS } from './retry-delay.ts';
import type { RateLimit } from './upstream.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The names of the headers of one limit; lower-case. */
interface LimitHeaders {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** For a limit that does not say when it is whole again. */
const USUAL_WINDOW_MS = 60_000;

/** Of several limits the one of which the smallest share is left, as it is met first; undefined where no header names one. */
export function readScarcestLimit(
  headers: Headers,
  limits: readonly LimitHeaders[],
  { now, readWait }: { readonly now: number; readWait(text: string): number | undefined },
): RateLimit | undefined {
  let scarcest: RateLimit | undefined;
  for (const names of limits) {
    const limit = readCount(headers, names.limit);
    const remaining = readCount(headers, names.remaining);
    if (limit === undefined || limit === 0 || remaining === undefined) continue;
    const remainingFraction = Math.min(1, remaining / limit);
    if (scarcest !== undefined && scarcest.remainingFraction <= remainingFraction) continue;
    const waitMs = readWait(headerOf(headers, names.reset) ?? '') ?? USUAL_WINDOW_MS;
    scarcest = { remainingFraction, resetsAt: now + Math.min(waitMs, MAX_RETRY_DELAY_MS) };
  }
  return scarcest;
}

function readCount(headers: Headers, name: string): number | undefined {
  const text = headerOf(headers, name)?.trim();
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
