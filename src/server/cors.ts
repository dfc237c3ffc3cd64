// Web pages of other origins: which may call without a key, which are the console's, and what browsers are told (CORS).

import { isOwnNumericPage, isOwnPage, type PeerInput } from './gates/locality.ts';
import { LIMIT_NAMES } from './limit-headers.ts';
import type { HeaderMap } from './settings.ts';

/** A page may call keyless only from an origin that is ours or that the operator named. */
export function isForeignPage({
  peer,
  corsOrigins,
}: {
  readonly peer: PeerInput;
  readonly corsOrigins: readonly string[];
}): boolean {
  const { origin } = peer.headers;
  if (origin !== undefined && corsOrigins.includes(origin)) return false;
  return !isOwnNumericPage(peer) && !isOwnPage(peer);
}

/**
 * The admin API is for pages of the console: also for one under an allowed name on any port, as a proxy may have it, and
 * one from the numeric address it calls.
 */
export function isSamePage(peer: PeerInput): boolean {
  const { origin, 'sec-fetch-site': site } = peer.headers;
  if (site === 'cross-site' || site === 'same-site') return false;
  if (origin === undefined || isOwnPage(peer)) return true;
  if (URL.canParse(origin) && peer.allowedHosts.includes(new URL(origin).hostname)) return true;
  return isOwnNumericPage(peer);
}

/** What SDKs in pages go by, and what the gateway says of its answers. */
const EXPOSED = [
  'request-id, x-request-id, retry-after, retry-after-ms, x-should-retry, server-timing, mcp-session-id, mcp-protocol-version',
  'x-isthmus-receipt, x-isthmus-estimate, x-isthmus-sandbox, x-isthmus-model, x-isthmus-attempts',
  ...LIMIT_NAMES,
].join(', ');
const MAX_REFLECTED_CHARACTERS = 4096;

/** Name and value pairs for an answer to this request, flat; empty for all but named origins. */
export function corsHeaders(headers: HeaderMap, corsOrigins: readonly string[]): readonly string[] {
  const { origin } = headers;
  if (origin === undefined || corsOrigins.length === 0) return [];
  // Caches must not hand one origin's answer to another.
  if (origin === '*' || !corsOrigins.includes(origin)) return ['vary', 'origin'];
  return [
    ...['vary', 'origin'],
    ...['access-control-allow-origin', origin],
    ...['access-control-expose-headers', EXPOSED],
  ];
}

/** What a preflight adds, with the methods that the path takes; the asked-for headers are allowed as they are, SDKs send dozens of them. */
export function preflightHeaders(
  headers: HeaderMap,
  corsOrigins: readonly string[],
  methods: string,
): readonly string[] {
  const base = corsHeaders(headers, corsOrigins);
  if (!base.includes('access-control-allow-origin')) return base;
  const asked = headers['access-control-request-headers'] ?? '';
  const reflected = asked.length <= MAX_REFLECTED_CHARACTERS ? asked : '';
  // Chromium up to 141 asks this of what runs on the user's own machine or network, in place of the user.
  const isPrivate = headers['access-control-request-private-network'] === 'true';
  return [
    ...base,
    ...['access-control-allow-methods', methods],
    ...(reflected === '' ? [] : ['access-control-allow-headers', reflected]),
    ...(isPrivate ? ['access-control-allow-private-network', 'true'] : []),
    ...['access-control-max-age', '600'],
  ];
}
