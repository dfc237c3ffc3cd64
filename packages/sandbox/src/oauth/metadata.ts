// Where the OAuth endpoints are and what they take (RFC 8414, RFC 9207).

import type { JsonObject } from '../json.ts';
import { SCOPE_NAMES } from './scopes.ts';

export interface OAuthAddresses {
  readonly issuer: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly revocationUrl: string;
  readonly userInfoUrl: string;
}

export const JWT_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export function oauthAddresses(issuer: string): OAuthAddresses {
  return {
    issuer,
    authorizationUrl: `${issuer}/oauth/authorize`,
    tokenUrl: `${issuer}/oauth/token`,
    revocationUrl: `${issuer}/oauth/revoke`,
    userInfoUrl: `${issuer}/oauth/userinfo`,
  };
}

export function writeMetadata(issuer: string): JsonObject {
  const addresses = oauthAddresses(issuer);
  const clientMethods = ['none', 'client_secret_basic', 'client_secret_post'];
  return {
    issuer,
    authorization_endpoint: addresses.authorizationUrl,
    token_endpoint: addresses.tokenUrl,
    revocation_endpoint: addresses.revocationUrl,
    userinfo_endpoint: addresses.userInfoUrl,
    scopes_supported: [...SCOPE_NAMES],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', JWT_GRANT],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: clientMethods,
    revocation_endpoint_auth_methods_supported: clientMethods,
    authorization_response_iss_parameter_supported: true,
  };
}
