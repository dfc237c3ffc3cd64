// The trace that a request belongs to, by its W3C header.

import type { SpanContext } from '@opentelemetry/api';

const HEADER = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;

/** Reads the W3C `traceparent` header (w3.org/TR/trace-context); undefined when invalid. */
export function readTraceparent(header: string | undefined): SpanContext | undefined {
  if (header === undefined || header.length > 512) return undefined;
  const [, version, traceId = NO_TRACE, spanId = NO_SPAN, flags = '00', rest] =
    HEADER.exec(header.trim()) ?? [];
  // Later versions may go on behind the flags, the first one may not, and `ff` is never a version.
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) {
    return undefined;
  }
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
}
