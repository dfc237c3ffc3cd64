// Which row of the retry table a refusal is: the account's fault, the path's, or the request's.

import type { UpstreamFailureKind } from '../../canonical/error.ts';
import type { ErrorBody } from './error-body.ts';
import {
  blamesAccount,
  blamesLocation,
  blamesNamedResource,
  blamesSignature,
  missesSignature,
} from './error-words.ts';

export interface RefusalFacts extends ErrorBody {
  readonly status: number;
  /** True for an HTML page: something between here and the upstream wrote it. */
  readonly isPage: boolean;
}

const HOUR_MS = 3_600_000;

/**
 * An account is blamed only by an answer of this wire: a page, a text or nothing at all with a 403
 * or 404 is the work of a firewall, a proxy or a wrong address, and would be the same for every account.
 */
export function failureKind(facts: RefusalFacts): UpstreamFailureKind {
  const { status } = facts;
  if (status === 402) return 'quota-exhausted';
  if (status === 429) return isQuota(facts) ? 'quota-exhausted' : 'rate-limited';
  if (status === 503 || status === 529) return 'overloaded';
  if (facts.isPage || status < 400 || status >= 500 || blamesPlace(facts)) return 'path';
  if (facts.reasons.some((reason) => BAD_CREDENTIAL.has(reason))) return 'unauthenticated';
  switch (status) {
    case 401:
      return 'unauthenticated';
    case 403:
      return facts.isStructured ? forbiddenKind(facts) : 'path';
    case 404:
      return facts.isStructured ? missingKind(facts) : 'path';
    case 405:
    case 407:
    case 408:
    case 409:
    case 425:
    case 451:
    case 499:
      return 'path';
    default:
      return status === 400 ? badRequestKind(facts) : 'rejected';
  }
}

/** Reasons of the public API's ErrorInfo that come with status 400 as well (google.api `ErrorReason`). */
const BAD_CREDENTIAL: ReadonlySet<string> = new Set(['API_KEY_INVALID', 'API_KEY_EXPIRED']);

/** True when the upstream does not serve the place the request came from: another way out may do. */
export function blamesPlace({ status, message }: RefusalFacts): boolean {
  return (status === 400 || status === 403) && blamesLocation(message);
}

/** A quota of hours or a day is gone; one of a minute, or an unnamed one, only limits the rate. */
function isQuota({ reasons, quota }: ErrorBody): boolean {
  return reasons.includes('QUOTA_EXHAUSTED') || (quota?.windowMs ?? 0) >= HOUR_MS;
}

function forbiddenKind(facts: ErrorBody): UpstreamFailureKind {
  const { reasons, metadata, message } = facts;
  if (reasons.includes('VALIDATION_REQUIRED') || metadata.has('validation_url')) {
    return 'verification-required';
  }
  // The client named it, so that every account would be refused, one after the other.
  if (blamesNamedResource(message)) return 'rejected';
  const isOfAccount = reasons.some((reason) => REFUSED_ACCOUNT.has(reason));
  return isOfAccount || blamesAccount(message) ? 'forbidden' : 'model-forbidden';
}

/** Reasons that hold for whatever the account asks (google.api `ErrorReason`). */
const REFUSED_ACCOUNT: ReadonlySet<string> = new Set([
  'BILLING_DISABLED',
  'SERVICE_DISABLED',
  'CONSUMER_INVALID',
  'CONSUMER_SUSPENDED',
  'ACCOUNT_STATE_INVALID',
  'API_KEY_SERVICE_BLOCKED',
  'API_KEY_IP_ADDRESS_BLOCKED',
  'API_KEY_HTTP_REFERRER_BLOCKED',
]);

function badRequestKind({ message }: ErrorBody): UpstreamFailureKind {
  if (missesSignature(message)) return 'missing-signature';
  return blamesSignature(message) ? 'bad-signature' : 'rejected';
}

function missingKind({ message }: ErrorBody): UpstreamFailureKind {
  return blamesNamedResource(message) ? 'rejected' : 'model-not-found';
}
