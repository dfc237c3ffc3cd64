// A real OpenID Connect provider on loopback, whose people sign in at once, and whose token replies tests may forge.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CryptoKey,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from 'jose';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'isthmus', secret: 'secret-of-the-gateway-as-a-client' };

type Claims = Readonly<Record<string, unknown>>;

export interface TestProvider {
  readonly issuer: string;
  /** Who signs in next, with these claims. */
  person: { readonly id: string; readonly claims: Claims };
  /** Changes the id token of the next replies. */
  forge: ((token: string) => Promise<string>) | undefined;
  /** The payload of a token changed, signed by the provider's key or another. */
  resign(token: string, change: Claims, by?: 'provider' | 'another'): Promise<string>;
  /** Plays the browser at the provider. @returns where it sends the browser back to */
  signIn(authorizationUrl: string): Promise<URL>;
  close(): Promise<void>;
}

/**
 * @param redirectUri the one address it sends browsers back to
 * @param secretIn where it takes the secret of its client, as nowhere else
 */
export async function startProvider(
  redirectUri: string,
  secretIn: 'client_secret_basic' | 'client_secret_post' = 'client_secret_basic',
): Promise<TestProvider> {
  const own = await generateKeyPair('RS256', { extractable: true });
  const foreign = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(own.privateKey)), kid: 'own', alg: 'RS256', use: 'sig' };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens at a port of TCP.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: secretIn,
      },
    ],
    clientAuthMethods: [secretIn],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key of this test'] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'groups', 'urn:project:roles'],
    },
    features: { devInteractions: { enabled: false } },
    ttl: TTL,
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({
      accountId,
      claims: async () => ({
        sub: accountId,
        ...(test.person.id === accountId ? test.person.claims : {}),
      }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const test: TestProvider = {
    issuer,
    person: { id: 'ann', claims: {} },
    forge: undefined,
    resign: (token, change, by = 'provider') =>
      sign(
        { ...decodeJwt(token), ...change },
        by === 'provider' ? own.privateKey : foreign.privateKey,
      ),
    signIn: (url) => playBrowser(url, redirectUri),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  provider.use(async (context, next) => {
    // The package takes it in either place.
    const isElsewhere =
      (context.get('authorization') === '') !== (secretIn === 'client_secret_post');
    if (context.path === '/token' && isElsewhere) context.throw(401);
    await next();
    const { body } = context;
    if (context.path !== '/token' || test.forge === undefined || !hasToken(body)) return;
    context.body = { ...body, id_token: await test.forge(body.id_token) };
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response);
    const login = { accountId: test.person.id };
    void provider.interactionFinished(request, response, { login });
  });
  return test;
}

const TTL = {
  ...{ AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600 },
  ...{ Interaction: 600, Session: 600 },
};

function hasToken(body: unknown): body is { readonly id_token: string } {
  return typeof body === 'object' && body !== null && 'id_token' in body;
}

function sign(payload: JWTPayload, key: CryptoKey): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(key);
}

/** Follows redirects with the cookies of one browser, up to the address of the gateway. */
async function playBrowser(from: string, end: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = from;
  for (let step = 0; step < 10; step += 1) {
    const answer = await fetch(at, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    const text = await answer.text();
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`The provider answers ${answer.status}: ${text}`);
    const next = new URL(location, at);
    if (next.href.startsWith(end)) return next;
    at = next.href;
  }
  throw new Error('The provider sends the browser round and round.');
}
