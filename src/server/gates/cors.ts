// CORS headers: none, unless the origin is in the allowed origins.

import type { HeaderMap } from '../settings.ts';

/** What SDKs in pages go by, and what the gateway says of its answers. */
const EXPOSED =
  'request-id, x-request-id, retry-after, retry-after-ms, x-should-retry, server-timing, ' +
  'mcp-session-id, mcp-protocol-version, x-isthmus-receipt, x-isthmus-estimate, x-isthmus-sandbox, x-isthmus-model, x-isthmus-attempts';
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
  return [
    ...base,
    ...['access-control-allow-methods', methods],
    ...(reflected === '' ? [] : ['access-control-allow-headers', reflected]),
    ...['access-control-max-age', '600'],
  ];
}
