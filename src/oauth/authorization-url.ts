// The address of the provider's consent page for one sign-in (RFC 6749 §4.1.1, RFC 7636).

import { calculatePKCECodeChallenge } from 'oauth4webapi';
import { invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import { isSafeEndpoint } from './safe-url.ts';

export interface AuthorizationRequest {
  readonly settings: OAuthSettings;
  readonly redirectUri: string;
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string | undefined;
  /** The e-mail that is expected to sign in. */
  readonly loginHint: string | undefined;
}

/** The configured extra parameters never replace what protects the sign-in. */
export async function writeAuthorizationUrl(request: AuthorizationRequest): Promise<string> {
  const { settings, redirectUri, state, codeVerifier, nonce, loginHint } = request;
  const url = new URL(settings.authorizationUrl);
  const optional = { login_hint: loginHint, ...settings.extraAuthorizationParameters };
  const own = {
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    scope: settings.scopes.length === 0 ? undefined : settings.scopes.join(' '),
    state,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    nonce,
  };
  for (const [name, value] of Object.entries({ ...optional, ...own })) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}

/**
 * The configured redirect address, or the caller's own.
 * @throws GatewayError `invalid-request` when a code sent there could be read on the way
 */
export function chooseRedirectUri(settings: OAuthSettings, own: string): string {
  const redirectUri = settings.redirectUrl ?? own;
  if (isSafeEndpoint(redirectUri)) return redirectUri;
  throw invalidRequest(
    'redirectUri',
    told`The redirect address must be https, or http on this machine (http://127.0.0.1:<port>/…). Set redirect_url of this upstream, or use the loopback address and paste what the browser ends on.`,
  );
}
