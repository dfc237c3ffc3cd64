// The token endpoint: codes, refresh tokens and assertions against access tokens.

import type { IncomingMessage } from 'node:http';
import { createId } from '../clock.ts';
import type { JsonObject } from '../json.ts';
import { readAssertion, readAssertionEmail } from './assertion.ts';
import { authenticateClient, requireClient, type SandboxClient } from './clients.ts';
import { JWT_GRANT } from './metadata.ts';
import { OAuthError } from './oauth-error.ts';
import type { OAuthServices } from './oauth-services.ts';
import { type Parameters, requireParameter } from './parameters.ts';
import type { Grant, RefreshToken } from './tokens.ts';

export interface TokenRequest {
  /** Whose tokens are asked for; undefined when the request does not tell. */
  readonly email: string | undefined;
  /** Uses up what was sent. @throws OAuthError */
  exchange(): Promise<JsonObject>;
}

/** RFC 7636, 4.1 */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
const REFUSED_ROTATIONS = {
  revoked: 'Token has been expired or revoked.',
  reused: 'The refresh token was used before; all tokens of its grant are revoked.',
} as const;
/** The plan of every service account. */
const SERVICE_ACCOUNT_TIER = 'pro';

/** @throws OAuthError for another grant type, a missing parameter or a wrong client. */
export function readTokenRequest(
  request: IncomingMessage,
  form: Parameters,
  services: OAuthServices,
): TokenRequest {
  const client = authenticateClient(request, form, services.clients);
  const type = requireParameter(form, 'grant_type');
  switch (type) {
    case 'authorization_code':
      return readCodeRequest(form, requireClient(client), services);
    case 'refresh_token':
      return readRefreshRequest(form, requireClient(client), services);
    case JWT_GRANT:
      return readAssertionRequest(requireParameter(form, 'assertion'), services);
    default:
      throw new OAuthError(
        'unsupported_grant_type',
        `grant_type must be authorization_code, refresh_token or ${JWT_GRANT}.`,
      );
  }
}

function readCodeRequest(
  form: Parameters,
  client: SandboxClient,
  services: OAuthServices,
): TokenRequest {
  const code = requireParameter(form, 'code');
  const verifier = requireParameter(form, 'code_verifier');
  if (!VERIFIER.test(verifier)) {
    throw new OAuthError('invalid_request', 'code_verifier must be 43 to 128 characters.');
  }
  const redirectUrl = form.get('redirect_uri');
  return {
    email: services.codes.emailOf(code),
    async exchange() {
      const redeemed = services.codes.redeem(code, { clientId: client.id, redirectUrl, verifier });
      if (redeemed.kind === 'refused') throw refusal(redeemed.because);
      const { grant } = redeemed;
      if (redeemed.kind === 'reused') {
        services.grants.revoke(grant);
        throw refusal('The code was used before; its tokens are revoked.');
      }
      if (services.grants.isRevoked(grant)) throw refusal('The grant was revoked.');
      return writeTokens(grant, { grant, generation: 1 }, services);
    },
  };
}

function readRefreshRequest(
  form: Parameters,
  client: SandboxClient,
  services: OAuthServices,
): TokenRequest {
  const token = services.tokens.readRefresh(requireParameter(form, 'refresh_token'));
  return {
    email: token?.grant.email,
    async exchange() {
      if (token === undefined) throw refusal('The refresh token is not one of this sandbox.');
      const { grant, generation } = token;
      if (grant.clientId !== client.id) throw refusal('The token belongs to another client.');
      const scopes = narrowScopes(form.get('scope'), grant);
      const rotation = services.grants.rotate(grant, generation);
      if (rotation.kind !== 'next') throw refusal(REFUSED_ROTATIONS[rotation.kind]);
      services.members.restore(grant.email, grant.tier);
      const next = { grant, generation: rotation.generation };
      return writeTokens({ ...grant, scopes }, next, services);
    },
  };
}

function readAssertionRequest(text: string, services: OAuthServices): TokenRequest {
  const { keys, clock, grants, members } = services;
  return {
    email: readAssertionEmail(text),
    async exchange() {
      const now = clock.now();
      const { email, scopes } = await readAssertion(text, { keys, now });
      if (grants.isClosed(email)) throw refusal('Invalid grant: account not found.');
      const { tier } = members.restore(email, SERVICE_ACCOUNT_TIER);
      const grant = { familyId: createId(''), email, tier, scopes, grantedAt: now };
      grants.start(grant);
      return writeTokens(grant, undefined, services);
    },
  };
}

/** A refresh may ask for less than was granted, for this access token only (RFC 6749, 6). */
function narrowScopes(asked: string | undefined, grant: Grant): readonly string[] {
  if (asked === undefined) return grant.scopes;
  const scopes = asked.split(' ').filter((scope) => scope !== '' && scope !== 'openid');
  if (scopes.every((scope) => grant.scopes.includes(scope))) return scopes;
  throw new OAuthError('invalid_scope', 'A scope was not granted.');
}

/** RFC 6749, 5.1 */
function writeTokens(
  grant: Grant,
  refresh: RefreshToken | undefined,
  { tokens, clock, accessTokenLifetimeMs }: OAuthServices,
): JsonObject {
  const expiresAt = clock.now() + accessTokenLifetimeMs;
  return {
    access_token: tokens.mintAccess({ grant, expiresAt }),
    token_type: 'Bearer',
    expires_in: Math.floor(accessTokenLifetimeMs / 1000),
    ...(refresh !== undefined && { refresh_token: tokens.mintRefresh(refresh) }),
    scope: grant.scopes.join(' '),
  };
}

function refusal(message: string): OAuthError {
  return new OAuthError('invalid_grant', message);
}
