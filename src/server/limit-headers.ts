// What a key has left of its limits, in the headers that clients of each protocol know.

import type { LimitState } from '../access/usage-meter.ts';

type Limits = Readonly<Record<'requests' | 'tokens', LimitState | undefined>>;

interface HeaderOptions {
  readonly family: 'chat' | 'messages';
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Names and values alternating. Sources: OpenAI API, "Rate limits in headers"; Messages API, "Rate limits, response
 * headers", which also tell input and output apart: a limit of all tokens is one of both.
 */
export function writeLimits(limits: Limits, { family, now }: HeaderOptions): string[] {
  const list: string[] = [];
  for (const what of ['requests', 'tokens'] as const) {
    const state = limits[what];
    if (state === undefined) continue;
    if (family === 'chat') {
      list.push(`x-ratelimit-limit-${what}`, String(state.limit));
      list.push(`x-ratelimit-remaining-${what}`, String(state.remaining));
      list.push(`x-ratelimit-reset-${what}`, writeSpan(state.resetMs));
      continue;
    }
    const names = what === 'tokens' ? ['tokens', 'input-tokens', 'output-tokens'] : [what];
    for (const name of names) {
      list.push(`anthropic-ratelimit-${name}-limit`, String(state.limit));
      list.push(`anthropic-ratelimit-${name}-remaining`, String(state.remaining));
      list.push(`anthropic-ratelimit-${name}-reset`, writeTime(now + state.resetMs));
    }
  }
  return list;
}

/** `6m0s`, `1h2m3s`, `0s`: as the vendor writes spans, whole seconds. */
function writeSpan(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}

/** RFC 3339, whole seconds. */
function writeTime(at: number): string {
  return new Date(Math.ceil(at / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

const NO_LIMIT = { limit: 0, remaining: 0, resetMs: 0 };
/** The names of all these headers. */
export const LIMIT_NAMES = (['chat', 'messages'] as const).flatMap((family) =>
  writeLimits({ requests: NO_LIMIT, tokens: NO_LIMIT }, { family, now: 0 }).filter(
    (_, index) => index % 2 === 0,
  ),
);
