// Why an OAuth endpoint did not give what was asked, in words that hold no secret.

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

function wordsOf(kind: OAuthFaultKind, { status, code, detail }: OAuthFaultFacts): string {
  const said = detail === undefined ? '' : ` (${detail})`;
  switch (kind) {
    case 'revoked':
      return `the provider no longer accepts this grant${said}`;
    case 'unreachable':
      return `the provider could not be reached${codeWords(code)}`;
    case 'too-slow':
      return 'the provider did not answer within 10 s';
    case 'too-large':
      return 'the answer of the provider is larger than 64 KB';
    case 'redirected':
      return `the provider redirected (HTTP ${status}), which is never followed; check the address`;
    case 'busy':
      return `the provider failed with HTTP ${status}; try again later`;
    case 'refused':
      return `the provider refused with ${code}${hintFor(code)}${said}`;
    case 'malformed':
      return `the answer of the provider is no OAuth answer (HTTP ${status}); check the address`;
    case 'unconfigured':
      return 'this upstream has no OAuth settings; add them to its configuration';
    default:
      return kind satisfies never;
  }
}

function codeWords(code: string | undefined): string {
  if (code === undefined) return '';
  const clock = CLOCK_CODES.includes(code) ? "; is this machine's clock right?" : '';
  return ` (${code}${clock})`;
}

function hintFor(code: string | undefined): string {
  switch (code) {
    case 'invalid_client':
    case 'unauthorized_client':
      return '; check the client id and secret of this upstream';
    case 'invalid_scope':
      return '; check the scopes of this upstream';
    default:
      return '';
  }
}
