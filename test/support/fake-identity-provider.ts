// A strict identity provider in memory: PKCE enforced, refresh tokens rotate, reuse revokes the family.

import { createHash } from 'node:crypto';
import { decodeJwt, UnsecuredJWT } from 'jose';
import type { EndpointOptions, OAuthSettings } from '../../src/oauth/oauth-client.ts';

type OAuthFetchReply = Awaited<ReturnType<OAuthFetch>>;

type OAuthFetchOptions = Parameters<OAuthFetch>[1];

type OAuthFetch = EndpointOptions['fetch'];

export interface FakeIdentityProvider {
  readonly settings: OAuthSettings;
  readonly fetch: OAuthFetch;
  /** Calls that reached an endpoint, by its path. */
  readonly calls: readonly ProviderCall[];
  count(path: string): number;
  /** Plays the consent page: a person agrees. Gives the address the browser ends on. */
  consent(authorizationUrl: string, email: string, change?: ConsentChange): string;
  /** A refresh token of a family of its own, as somebody else got it. */
  grant(email: string): string;
  /** Ends the family the token belongs to. */
  revokeFamilyOf(refreshToken: string): void;
  isAlive(refreshToken: string): boolean;
  /** The next calls are answered so, one each; the default answer follows. */
  script(...answers: readonly Scripted[]): void;
  /** Answers every call so while it is set. */
  always: Scripted | undefined;
}

interface ProviderCall {
  readonly path: string;
  readonly form: URLSearchParams;
  readonly options: OAuthFetchOptions;
}

/** Parameters of the callback that are set or, with undefined, left out. */
export type ConsentChange = Readonly<Record<string, string | undefined>>;

/** `process` first does what was asked, then loses or replaces the answer. */
export type Scripted = (
  process: () => OAuthFetchReply,
  options: OAuthFetchOptions,
) => OAuthFetchReply | Promise<OAuthFetchReply>;

export interface FakeProviderOptions {
  readonly now: () => number;
  readonly settings?: Partial<OAuthSettings>;
  /** What the token endpoint leaves out or puts in. */
  readonly tokens?: (fields: Record<string, unknown>) => Record<string, unknown>;
  readonly person?: (claims: Record<string, unknown>) => Record<string, unknown>;
  /** A rotated token may be presented once more, and gets the same successor. */
  readonly allowsReuse?: boolean;
  readonly lifetimeSeconds?: number;
}

const ORIGIN = 'https://id.test';

interface Family {
  readonly email: string;
  current: string;
  isRevoked: boolean;
}

interface Code {
  readonly email: string;
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
  readonly nonce: string | undefined;
}

export function createFakeIdentityProvider(options: FakeProviderOptions): FakeIdentityProvider {
  return new Provider(options);
}

class Provider implements FakeIdentityProvider {
  readonly settings: OAuthSettings;
  readonly calls: ProviderCall[] = [];
  always: Scripted | undefined;
  readonly #options: FakeProviderOptions;
  readonly #families = new Map<string, Family>();
  readonly #codes = new Map<string, Code>();
  readonly #people = new Map<string, string>();
  #scripted: Scripted[] = [];
  #serial = 0;

  constructor(options: FakeProviderOptions) {
    this.#options = options;
    this.settings = {
      clientId: 'client-1',
      clientSecret: 'client-secret-canary',
      authorizationUrl: `${ORIGIN}/authorize`,
      tokenUrl: `${ORIGIN}/token`,
      revocationUrl: `${ORIGIN}/revoke`,
      userInfoUrl: `${ORIGIN}/userinfo`,
      scopes: ['openid', 'email', 'models'],
      ...options.settings,
    };
  }

  get fetch(): OAuthFetch {
    return async (url, options) => {
      options.signal.throwIfAborted();
      const path = new URL(url).pathname;
      const form = new URLSearchParams(options.body ?? '');
      this.calls.push({ path, form, options });
      const process = () => this.#answer(path, form, options);
      const scripted = this.#scripted.shift() ?? this.always;
      return scripted === undefined ? process() : scripted(process, options);
    };
  }

  count(path: string): number {
    return this.calls.filter((call) => call.path === path).length;
  }

  script(...answers: readonly Scripted[]): void {
    this.#scripted.push(...answers);
  }

  consent(authorizationUrl: string, email: string, change: ConsentChange = {}): string {
    const { searchParams: asked } = new URL(authorizationUrl);
    const redirect = new URL(asked.get('redirect_uri') ?? '');
    const code = `code+/${this.#next()}`;
    this.#codes.set(code, {
      email,
      challenge: asked.get('code_challenge') ?? '',
      redirectUri: redirect.href,
      clientId: asked.get('client_id') ?? '',
      nonce: asked.get('nonce') ?? undefined,
    });
    const answer = { code, state: asked.get('state') ?? undefined, iss: ORIGIN, ...change };
    for (const [name, value] of Object.entries(answer)) {
      if (value !== undefined) redirect.searchParams.set(name, value);
    }
    return redirect.href;
  }

  grant(email: string): string {
    const family: Family = { email, current: `refresh-${this.#next()}`, isRevoked: false };
    this.#families.set(family.current, family);
    return family.current;
  }

  revokeFamilyOf(refreshToken: string): void {
    const family = this.#families.get(refreshToken);
    if (family !== undefined) family.isRevoked = true;
  }

  isAlive(refreshToken: string): boolean {
    const family = this.#families.get(refreshToken);
    return family !== undefined && !family.isRevoked && family.current === refreshToken;
  }

  #next(): string {
    this.#serial += 1;
    return `${String(this.#serial).padStart(4, '0')}-canary`;
  }

  #answer(path: string, form: URLSearchParams, options: OAuthFetchOptions): OAuthFetchReply {
    switch (path) {
      case '/token':
        return this.#answerToken(form);
      case '/userinfo':
        return this.#answerPerson(options.headers.authorization?.replace('Bearer ', '') ?? '');
      case '/revoke':
        this.revokeFamilyOf(form.get('token') ?? '');
        return jsonReply(200, {});
      default:
        return jsonReply(404, { error: 'not_found' });
    }
  }

  #answerToken(form: URLSearchParams): OAuthFetchReply {
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return this.#exchange(form);
      case 'refresh_token':
        return this.#refresh(form.get('refresh_token') ?? '');
      case 'urn:ietf:params:oauth:grant-type:jwt-bearer':
        return this.#trade(form.get('assertion') ?? '');
      default:
        return jsonReply(400, { error: 'unsupported_grant_type' });
    }
  }

  #exchange(form: URLSearchParams): OAuthFetchReply {
    const code = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood =
      code !== undefined &&
      code.challenge === challenge &&
      code.redirectUri === form.get('redirect_uri') &&
      code.clientId === form.get('client_id');
    if (!isGood) return refusal('Bad code or verifier.');
    return this.#tokens(this.grant(code.email), code.email, code.nonce);
  }

  #refresh(refreshToken: string): OAuthFetchReply {
    const family = this.#families.get(refreshToken);
    if (family === undefined) return refusal(`No such token: ${refreshToken}`);
    if (family.isRevoked) return refusal('Token has been expired or revoked.');
    if (family.current !== refreshToken && this.#options.allowsReuse !== true) {
      family.isRevoked = true;
      return refusal('Token was used before; its family is revoked.');
    }
    if (family.current === refreshToken) {
      family.current = `refresh-${this.#next()}`;
      this.#families.set(family.current, family);
    }
    return this.#tokens(family.current, family.email);
  }

  #trade(assertion: string): OAuthFetchReply {
    const { iss, aud, iat = 0 } = decodeJwt(assertion);
    const skewMs = Math.abs(iat * 1000 - this.#options.now());
    if (aud !== this.settings.tokenUrl || skewMs > 300_000) return refusal('Invalid JWT.');
    const { lifetimeSeconds = 3600 } = this.#options;
    const access = `access-${this.#next()}`;
    this.#people.set(access, iss ?? '');
    return jsonReply(200, { access_token: access, expires_in: lifetimeSeconds });
  }

  #tokens(refreshToken: string, email: string, nonce?: string): OAuthFetchReply {
    const access = `access-${this.#next()}`;
    this.#people.set(access, email);
    const { lifetimeSeconds = 3600, now, tokens = same } = this.#options;
    const idToken = new UnsecuredJWT({ email, email_verified: true, nonce })
      .setIssuer(ORIGIN)
      .setAudience(this.settings.clientId)
      .setSubject(email)
      .setExpirationTime(Math.floor(now() / 1000) + 3600)
      .encode();
    return jsonReply(
      200,
      tokens({
        access_token: access,
        token_type: 'Bearer',
        expires_in: lifetimeSeconds,
        refresh_token: refreshToken,
        id_token: idToken,
        scope: this.settings.scopes.join(' '),
      }),
    );
  }

  #answerPerson(accessToken: string): OAuthFetchReply {
    const email = this.#people.get(accessToken);
    if (email === undefined) return jsonReply(401, { error: 'invalid_token' });
    const { person = same } = this.#options;
    return jsonReply(200, person({ sub: email, email, email_verified: true }));
  }
}

export function jsonReply(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): OAuthFetchReply {
  return textReply(status, JSON.stringify(body), headers);
}

export function textReply(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): OAuthFetchReply {
  return {
    status,
    headers: { get: (name) => headers[name] ?? null },
    body: (async function* () {
      yield Buffer.from(text);
    })(),
  };
}

function refusal(description: string): OAuthFetchReply {
  return jsonReply(400, { error: 'invalid_grant', error_description: description });
}

function same(fields: Record<string, unknown>): Record<string, unknown> {
  return fields;
}
