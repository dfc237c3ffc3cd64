// One call of an OAuth endpoint: limited in time and size, never redirected, nothing secret in its errors.

import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import { OAuthFault } from './oauth-fault.ts';
import type { OAuthFetch, OAuthFetchReply } from './oauth-fetch.ts';
import type { OAuthLog } from './oauth-settings.ts';

/** How a call goes out, and what ends it early. */
export interface Reach {
  readonly signal: AbortSignal;
  readonly proxyUrl?: string | undefined;
}

interface EndpointCall {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Absent for GET. */
  readonly form?: URLSearchParams | undefined;
  readonly reach: Reach;
}

export interface EndpointReply {
  readonly status: number;
  /** Undefined when the body is no JSON object. */
  readonly body: JsonObject | undefined;
  readonly retryAfterMs: number | undefined;
}

export interface Endpoint {
  /** @throws OAuthFault when there is no answer; or the signal's reason when it aborts */
  call(call: EndpointCall): Promise<EndpointReply>;
  /** How far the provider's clock is ahead of ours, by its last `Date`; 0 when within a minute. */
  clockOffsetMs(url: string): number;
}

export interface EndpointOptions {
  readonly fetch: OAuthFetch;
  readonly clock: Clock;
  readonly log: OAuthLog;
}

const LIMIT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const MAX_ORIGINS = 256;

export function createEndpoint({ fetch, clock, log }: EndpointOptions): Endpoint {
  const offsets = new Map<string, number>();

  const noteDate = (url: string, date: string | null): void => {
    const at = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(at)) return;
    const { origin } = new URL(url);
    const offsetMs = at - clock.now();
    const known = offsets.get(origin) ?? 0;
    if (Math.abs(offsetMs) <= MAX_CLOCK_DIFFERENCE_MS) return void offsets.delete(origin);
    if (offsets.size >= MAX_ORIGINS) offsets.clear();
    offsets.set(origin, offsetMs);
    if (Math.abs(offsetMs - known) <= MAX_CLOCK_DIFFERENCE_MS) return;
    const differenceSeconds = Math.round(offsetMs / 1000);
    log.warn({ origin, differenceSeconds }, 'the clock of this machine and the provider differ');
  };

  const exchange = async (call: EndpointCall, signal: AbortSignal): Promise<EndpointReply> => {
    const { url, form, headers, reach } = call;
    const reply = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { accept: 'application/json', ...(form && FORM_HEADERS), ...headers },
      body: form?.toString(),
      signal,
      proxyUrl: reach.proxyUrl,
    });
    noteDate(url, reply.headers.get('date'));
    if (reply.status >= 300 && reply.status < 400) {
      throw new OAuthFault('redirected', { status: reply.status });
    }
    const retryAfterMs = readRetryAfter(reply.headers.get('retry-after'), clock.now());
    return { status: reply.status, body: await readBody(reply), retryAfterMs };
  };

  return {
    async call(call) {
      const { signal } = call.reach;
      signal.throwIfAborted();
      const limit = new AbortController();
      const timer = clock.startTimer(LIMIT_MS, () => limit.abort(new OAuthFault('too-slow')));
      const ended = AbortSignal.any([signal, limit.signal]);
      try {
        return await unlessAborted(ended, exchange(call, ended));
      } catch (error) {
        if (ended.aborted) throw ended.reason;
        throw error instanceof OAuthFault ? error : unreachable(error);
      } finally {
        timer.cancel();
        limit.abort();
      }
    },
    clockOffsetMs: (url) => offsets.get(new URL(url).origin) ?? 0,
  };
}

const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' } as const;

async function readBody({ headers, body }: OAuthFetchReply): Promise<JsonObject | undefined> {
  if (body === null || (headers.get('content-encoding') ?? 'identity') !== 'identity') {
    return undefined;
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new OAuthFault('too-large');
    chunks.push(chunk);
  }
  try {
    const value = parseJson(Buffer.concat(chunks).toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 9110 §10.2.3: seconds or a date. */
function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const waitMs = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

/** Only the code goes on: the error itself may hold addresses with passwords. */
function unreachable(error: unknown): OAuthFault {
  return new OAuthFault('unreachable', { code: codeOf(error) });
}

function codeOf(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 4; depth += 1) {
    if ('code' in current && typeof current.code === 'string' && /^\w{2,40}$/.test(current.code)) {
      return current.code;
    }
    current = current.cause;
  }
  return undefined;
}

/** Rejects at once when the signal aborts, also while a connection is still being made. */
export function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      work.catch(() => {});
      return reject(signal.reason);
    }
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
