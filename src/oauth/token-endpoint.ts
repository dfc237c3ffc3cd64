// What is asked of a provider: tokens for a code, a refresh token or a signed assertion; and revocation.

import type { ServiceAccountCredential } from '../accounts/credential.ts';
import type { Clock } from '../lib/clock.ts';
import { type JsonObject, readNumber } from '../lib/json.ts';
import { createEndpoint, type Endpoint, type EndpointReply, type Reach } from './endpoint.ts';
import { OAuthFault } from './oauth-fault.ts';
import type { OAuthFetch } from './oauth-fetch.ts';
import type { OAuthLog, OAuthSettings } from './oauth-settings.ts';
import { scrub } from './scrub.ts';
import { signAssertion } from './service-account-key.ts';

export interface TokenReply {
  readonly accessToken: string;
  /** A rotated one replaces the one it was asked with; undefined leaves that one valid. */
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  /** From the moment the request was sent. */
  readonly lifetimeMs: number;
  readonly scopes: readonly string[] | undefined;
}

/** Every method throws OAuthFault, or the signal's reason when it aborts. */
export interface TokenEndpoint {
  exchangeCode(settings: OAuthSettings, grant: CodeGrant, reach: Reach): Promise<TokenReply>;
  refresh(settings: OAuthSettings, refreshToken: string, reach: Reach): Promise<TokenReply>;
  /** RFC 7523 §2.1. `settings` fills in what the key does not say. */
  tradeAssertion(
    settings: OAuthSettings | undefined,
    key: ServiceAccountCredential,
    reach: Reach,
  ): Promise<TokenReply>;
  /** RFC 7009. */
  revoke(settings: OAuthSettings, refreshToken: string, reach: Reach): Promise<void>;
  /** The claims of the OpenID Connect UserInfo endpoint. */
  readUserInfo(url: string, accessToken: string, reach: Reach): Promise<JsonObject>;
}

interface CodeGrant {
  readonly code: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
}

/** RFC 6749 §5.1 only recommends `expires_in`; an upstream's 401 corrects a wrong guess. */
const USUAL_LIFETIME_SECONDS = 3600;
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

export function createTokenEndpoint(options: {
  readonly fetch: OAuthFetch;
  readonly clock: Clock;
  readonly log: OAuthLog;
}): TokenEndpoint {
  const endpoint = createEndpoint(options);
  const ask: AskForToken = async (url, fields, reach) => {
    const form = new URLSearchParams(fields);
    return readTokenReply(await endpoint.call({ url, form, reach }), Object.values(fields));
  };
  return {
    exchangeCode: (settings, { code, codeVerifier, redirectUri }, reach) =>
      ask(
        settings.tokenUrl,
        {
          grant_type: 'authorization_code',
          code,
          code_verifier: codeVerifier,
          redirect_uri: redirectUri,
          ...clientFields(settings),
        },
        reach,
      ),
    refresh: (settings, refreshToken, reach) =>
      ask(
        settings.tokenUrl,
        { grant_type: 'refresh_token', refresh_token: refreshToken, ...clientFields(settings) },
        reach,
      ),
    async tradeAssertion(settings, key, reach) {
      const tokenUrl = key.tokenUrl ?? settings?.tokenUrl;
      if (tokenUrl === undefined) throw new OAuthFault('unconfigured');
      const issuedAt = options.clock.now() + endpoint.clockOffsetMs(tokenUrl);
      const scopes = settings?.scopes ?? [];
      const assertion = await signAssertion(key, { tokenUrl, scopes, issuedAt });
      return ask(tokenUrl, { grant_type: JWT_BEARER, assertion }, reach);
    },
    revoke: (settings, refreshToken, reach) => revoke(endpoint, settings, { refreshToken, reach }),
    async readUserInfo(url, accessToken, reach) {
      const headers = { authorization: `Bearer ${accessToken}` };
      const reply = await endpoint.call({ url, headers, reach });
      if (reply.status !== 200 || reply.body === undefined) throw faultOf(reply, [accessToken]);
      return reply.body;
    },
  };
}

type AskForToken = (
  url: string,
  fields: Readonly<Record<string, string>>,
  reach: Reach,
) => Promise<TokenReply>;

function clientFields({ clientId, clientSecret }: OAuthSettings): Record<string, string> {
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
  };
}

async function revoke(
  endpoint: Endpoint,
  settings: OAuthSettings,
  { refreshToken, reach }: { readonly refreshToken: string; readonly reach: Reach },
): Promise<void> {
  const { revocationUrl: url } = settings;
  if (url === undefined) throw new OAuthFault('unconfigured');
  const fields = {
    token: refreshToken,
    token_type_hint: 'refresh_token',
    ...clientFields(settings),
  };
  const reply = await endpoint.call({ url, form: new URLSearchParams(fields), reach });
  if (reply.status < 200 || reply.status > 299) throw faultOf(reply, Object.values(fields));
}

function readTokenReply(reply: EndpointReply, secrets: readonly string[]): TokenReply {
  const { status, body } = reply;
  const accessToken = body?.access_token;
  const kind = body?.token_type ?? 'bearer';
  const isBearer = typeof kind === 'string' && kind.toLowerCase() === 'bearer';
  const isToken = typeof accessToken === 'string' && TOKEN.test(accessToken);
  if (status < 200 || status > 299 || body === undefined || !isToken || !isBearer) {
    throw faultOf(reply, secrets);
  }
  const { refresh_token: refreshToken, id_token: idToken, scope } = body;
  return {
    accessToken,
    refreshToken:
      typeof refreshToken === 'string' && TOKEN.test(refreshToken) ? refreshToken : undefined,
    idToken: typeof idToken === 'string' ? idToken : undefined,
    lifetimeMs: readLifetimeSeconds(body.expires_in) * 1000,
    scopes: typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : undefined,
  };
}

/** Some providers write the number as a string. */
function readLifetimeSeconds(value: unknown): number {
  const seconds = typeof value === 'string' ? Number(value) : readNumber(value);
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0
    ? seconds
    : USUAL_LIFETIME_SECONDS;
}

/** RFC 6749 §5.2. Only the provider's own word in a proper answer counts as a revocation. */
function faultOf(reply: EndpointReply, secrets: readonly string[]): OAuthFault {
  const { status, body, retryAfterMs } = reply;
  if (status === 408 || status === 429 || status >= 500) {
    return new OAuthFault('busy', { status, retryAfterMs });
  }
  const code = body?.error;
  if (typeof code !== 'string' || !/^[a-z_]{1,60}$/i.test(code)) {
    return new OAuthFault('malformed', { status });
  }
  const description = body?.error_description;
  const detail = typeof description === 'string' ? scrub(description, secrets) : undefined;
  return new OAuthFault(code === 'invalid_grant' ? 'revoked' : 'refused', { status, code, detail });
}
