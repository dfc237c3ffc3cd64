// The public OAuth addresses of the profiles that have well-known ones, as data; clients are the operator's own.

import type { UpstreamProfile } from './values.ts';

export interface OAuthEndpoints {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly revocationUrl: string;
  readonly userInfoUrl: string;
  readonly scopes: readonly string[];
  readonly extraAuthorizationParameters: Readonly<Record<string, string>>;
}

/**
 * `access_type=offline` asks for a refresh token, `prompt=consent` for one at every sign-in.
 * Sources: "Using OAuth 2.0 for Web Server Applications" and the OpenID Connect discovery document
 * of the provider; Vertex AI and Gemini API, "Authentication".
 */
const GOOGLE: OAuthEndpoints = {
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  revocationUrl: 'https://oauth2.googleapis.com/revoke',
  userInfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
  scopes: ['openid', 'email', 'https://www.googleapis.com/auth/cloud-platform'],
  extraAuthorizationParameters: { access_type: 'offline', prompt: 'consent' },
};

/** Undefined for profiles whose provider is not known beforehand. */
export function oauthEndpointsOf(profile: UpstreamProfile): OAuthEndpoints | undefined {
  return profile === 'gemini-api' || profile === 'vertex' ? GOOGLE : undefined;
}
