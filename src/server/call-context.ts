// Reads the gateway's own request headers: session, account and tier wishes, strictness.

import { invalidRequest } from '../canonical/error.ts';
import type { CallContext } from '../dispatch/dispatcher.ts';
import { readHeader } from '../wire/vocabulary.ts';
import type { Exchange } from './edge.ts';
import type { HeaderMap } from './headers.ts';

type Tier = NonNullable<CallContext['preferredTier']>;

const TIERS: readonly Tier[] = ['ultra', 'pro', 'free'];
const MAX_SESSION_CHARACTERS = 256;
/** The longest e-mail address there is (RFC 5321). */
const MAX_ACCOUNT_CHARACTERS = 320;
/** Official header first, then what clients send by themselves. */
const SESSION_HEADERS = ['x-session-id', 'session-id', 'x-session-affinity'] as const;

/** @throws GatewayError invalid-request naming the header. */
export function readCallContext(exchange: Exchange): CallContext {
  const { headers } = exchange;
  return {
    requestId: exchange.requestId,
    clientKeyId: exchange.clientKeyId,
    signal: exchange.abort.signal,
    receipt: exchange.receipt,
    record: exchange.record,
    strict: headers['x-isthmus-strict'] === '1' || headers['x-isthmus-strict'] === 'true',
    headerSession: readSession(headers),
    preferredAccount: readLimited(headers, 'x-preferred-account', MAX_ACCOUNT_CHARACTERS),
    preferredTier: readTier(headers),
  };
}

function readSession(headers: HeaderMap): string | undefined {
  for (const name of SESSION_HEADERS) {
    const session = readLimited(headers, name, MAX_SESSION_CHARACTERS);
    if (session !== undefined) return session;
  }
  const session = readHeader(headers, 'codingCliSession');
  return session === undefined || session.length > MAX_SESSION_CHARACTERS ? undefined : session;
}

function readLimited(headers: HeaderMap, name: string, maxLength: number): string | undefined {
  const value = headers[name]?.trim();
  if (value === undefined || value === '') return undefined;
  if (value.length <= maxLength) return value;
  throw invalidRequest(name, `The header ${name} is longer than ${maxLength} characters.`);
}

function readTier(headers: HeaderMap): Tier | undefined {
  const value = headers['x-model-tier']?.trim().toLowerCase();
  if (value === undefined || value === '') return undefined;
  const tier = TIERS.find((known) => known === value);
  if (tier !== undefined) return tier;
  throw invalidRequest('x-model-tier', 'The header x-model-tier must be ultra, pro or free.');
}
