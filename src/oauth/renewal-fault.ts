// Why an account has no access token now, as the retry table reads it.

import { StoreError } from '../accounts/account-store.ts';
import { GatewayError } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import { OAuthFault } from './oauth-fault.ts';

/** `gone` the account was removed · `storage` its credential could not be read or a new one not kept. */
export class RenewalFault extends Error {
  readonly kind: 'gone' | 'storage';

  constructor(kind: 'gone' | 'storage', message: string) {
    super(message);
    this.name = 'RenewalFault';
    this.kind = kind;
  }
}

export function storageFault(error: unknown): RenewalFault {
  const fault = error instanceof StoreError ? error.fault : 'unavailable';
  const words =
    fault === 'unreadable'
      ? told`the stored credential cannot be read with this secret key`
      : told`the account storage does not answer`;
  return new RenewalFault('storage', words);
}

export function isRevoked(error: unknown): boolean {
  return error instanceof OAuthFault && error.kind === 'revoked';
}

/** The error callers get: `credential-revoked` only for the provider's own confirmed word. */
export function toGatewayError(fault: unknown): GatewayError {
  if (isRevoked(fault)) {
    return new GatewayError({
      kind: 'upstream-auth',
      source: 'upstream',
      message: told`The provider revoked the sign-in of this account. Sign it in again.`,
      failure: { kind: 'credential-revoked', status: statusOf(fault), detail: detailOf(fault) },
      cause: fault,
    });
  }
  return new GatewayError({
    kind: isTimeout(fault) ? 'timeout' : 'upstream-unavailable',
    source: 'upstream',
    message: told`No access token could be had for this account just now. Try again shortly.`,
    failure: { kind: 'credential-unavailable', status: statusOf(fault), detail: detailOf(fault) },
    cause: isOurs(fault) ? fault : new Error('the renewal failed unexpectedly', { cause: fault }),
  });
}

/** Fields for the log: nothing a provider or a driver wrote unscrubbed. */
export function describeFault(fault: unknown): object {
  if (fault instanceof OAuthFault) return { fault: fault.kind, ...fault.facts };
  if (fault instanceof RenewalFault) return { fault: fault.kind, detail: fault.message };
  return { fault: 'unexpected', detail: fault instanceof Error ? fault.name : typeof fault };
}

function isOurs(fault: unknown): boolean {
  return fault instanceof OAuthFault || fault instanceof RenewalFault;
}

function isTimeout(fault: unknown): boolean {
  return fault instanceof OAuthFault && fault.kind === 'too-slow';
}

/** The wait the provider asked for, in milliseconds. */
export function retryAfterOf(fault: unknown): number | undefined {
  return fault instanceof OAuthFault ? fault.facts.retryAfterMs : undefined;
}

function detailOf(fault: unknown): string | undefined {
  return fault instanceof OAuthFault || fault instanceof RenewalFault ? fault.message : undefined;
}

function statusOf(fault: unknown): number | undefined {
  return fault instanceof OAuthFault ? fault.facts.status : undefined;
}
