// Why an OAuth endpoint did not give what was asked, in words that hold no secret.

import { type Sentence, told } from '../lib/told.ts';

/**
 * `revoked` is the provider's own `invalid_grant`; everything else says nothing of the grant and may
 * pass: `unreachable` no connection · `too-slow` · `too-large` · `redirected` · `busy` 408, 429, 5xx ·
 * `refused` another OAuth error · `malformed` no OAuth answer at all · `unconfigured` no settings.
 */
export type OAuthFaultKind =
  | 'revoked'
  | 'unreachable'
  | 'too-slow'
  | 'too-large'
  | 'redirected'
  | 'busy'
  | 'refused'
  | 'malformed'
  | 'unconfigured';

export interface OAuthFaultFacts {
  readonly status?: number | undefined;
  /** OAuth's `error`, or the code of a network error. */
  readonly code?: string | undefined;
  /** What the provider said beside, scrubbed. */
  readonly detail?: string | undefined;
  /** The wait the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** The message is a clause without an end mark, fit to follow a colon. */
export class OAuthFault extends Error {
  readonly kind: OAuthFaultKind;
  readonly facts: OAuthFaultFacts;

  constructor(kind: OAuthFaultKind, facts: OAuthFaultFacts = {}) {
    super(wordsOf(kind, facts));
    this.name = 'OAuthFault';
    this.kind = kind;
    this.facts = facts;
  }
}

/** Node's codes for certificates that a wrong clock makes invalid. */
const CLOCK_CODES = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];

function wordsOf(kind: OAuthFaultKind, { status, code, detail }: OAuthFaultFacts): Sentence {
  const words = clauseOf(kind, { status, code });
  return detail === undefined ? words : told`${words} (${detail})`;
}

function clauseOf(kind: OAuthFaultKind, { status, code = '' }: OAuthFaultFacts): Sentence {
  switch (kind) {
    case 'revoked':
      return told`the provider no longer accepts this grant`;
    case 'unreachable':
      return unreached(code);
    case 'too-slow':
      return told`the provider did not answer within 10 s`;
    case 'too-large':
      return told`the answer of the provider is larger than 64 KB`;
    case 'redirected':
      return told`the provider redirected (HTTP ${status ?? 0}), which is never followed; check the address`;
    case 'busy':
      return told`the provider failed with HTTP ${status ?? 0}; try again later`;
    case 'refused':
      return refusedWith(code);
    case 'malformed':
      return told`the answer of the provider is no OAuth answer (HTTP ${status ?? 0}); check the address`;
    case 'unconfigured':
      return told`this upstream has no OAuth settings; add them to its configuration`;
    default:
      return kind satisfies never;
  }
}

function unreached(code: string): Sentence {
  if (code === '') return told`the provider could not be reached`;
  return CLOCK_CODES.includes(code)
    ? told`the provider could not be reached (${code}; is this machine's clock right?)`
    : told`the provider could not be reached (${code})`;
}

function refusedWith(code: string): Sentence {
  switch (code) {
    case 'invalid_client':
    case 'unauthorized_client':
      return told`the provider refused with ${code}; check the client id and secret of this upstream`;
    case 'invalid_scope':
      return told`the provider refused with ${code}; check the scopes of this upstream`;
    default:
      return told`the provider refused with ${code}`;
  }
}
