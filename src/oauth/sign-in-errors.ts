// What goes wrong with a sign-in, in words for the person who signs in.

import { GatewayError, invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import type { OAuthFault } from './oauth-fault.ts';

export function refused(message: string): GatewayError {
  return invalidRequest('response', message);
}

export function unknownSignIn(): GatewayError {
  return invalidRequest(
    'state',
    told`This sign-in is unknown, was used already, has expired, or was started in another session. Start it again.`,
  );
}

export function missingState(): GatewayError {
  return invalidRequest(
    'state',
    told`It is not clear which sign-in this belongs to. Paste the whole address the browser ended on.`,
    'missing-field',
  );
}

export function tooManyPending(): GatewayError {
  return new GatewayError({
    kind: 'rate-limited',
    source: 'gateway',
    message: told`Too many sign-ins are under way. Try again in ten minutes.`,
  });
}

export function noRefreshToken(): GatewayError {
  return refused(
    told`The provider gave no refresh token, so the account would end within the hour. Add access_type=offline and prompt=consent to extra_parameters of this upstream (or the scope offline_access, as the provider wants it), then sign in again.`,
  );
}

export function namelessAccount(): GatewayError {
  return refused(
    told`The provider does not say whose account this is. Add the scopes openid and email or a userinfo_url to this upstream, or give a label.`,
  );
}

export function failedAtProvider(fault: OAuthFault): GatewayError {
  const isRefusal = fault.kind === 'revoked' || fault.kind === 'refused';
  return new GatewayError({
    kind: isRefusal ? 'upstream-rejected' : 'upstream-unavailable',
    source: 'upstream',
    message: told`The sign-in could not be completed: ${fault.message}. Start it again.`,
    cause: fault,
  });
}
