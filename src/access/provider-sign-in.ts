// Signing in to the console at an OpenID Connect provider: authorization code with PKCE, state and nonce.

import { randomBytes } from 'node:crypto';
import type { ClientAuth, Configuration, IDToken } from 'openid-client';
import { StoreError } from '../accounts/account-store.ts';
import { GatewayError } from '../canonical/error.ts';
import type { SealedValues } from '../cluster/sealed-values.ts';
import { readWithin } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { isLoopbackHost } from '../lib/net.ts';
import { isSameText } from './password-hash.ts';
import {
  type createInvitations,
  type NewPerson,
  type People,
  type Person,
  ROLES,
  type Role,
} from './people.ts';

interface ProviderSettings {
  readonly issuer?: string | undefined;
  readonly clientId?: string | undefined;
  /** Plain, or sealed as the file has it. */
  readonly clientSecret?: string | undefined;
  /** Of the button. */
  readonly label: string;
  readonly scopes: readonly string[];
  readonly redirectUrl?: string | undefined;
  /** A claim, or the way to one in another with dots between. */
  readonly roleClaim?: string | undefined;
  /** Values of the claim that give a role. */
  readonly owners: readonly string[];
  readonly operators: readonly string[];
  readonly viewers: readonly string[];
  /** Of people whose claim gives none. */
  readonly defaultRole: Role | 'none';
  /** Of e-mail addresses; empty allows all. */
  readonly allowedDomains: readonly string[];
}

/** What waits for the browser to come back. */
interface PendingProviderSignIn {
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly issuer: string;
  readonly clientId: string;
  /** What the browser that began has in a cookie: nobody is signed in by somebody else's link. */
  readonly browser: string;
  /** The secret of the invitation that is accepted by it. */
  readonly invitation?: string | undefined;
}

interface ProviderSignInOptions {
  readonly settings: () => ProviderSettings;
  /** @throws Error */
  readonly openSecret: (text: string) => string;
  readonly fetch: ProviderFetch;
  readonly pending: Pick<SealedValues<PendingProviderSignIn>, 'put' | 'take'>;
  readonly people: Pick<People, 'findBySubject' | 'add' | 'change'>;
  readonly invitations: Pick<ReturnType<typeof createInvitations>, 'use'>;
  readonly log: LineLog;
}

/** Like the `fetch` of browsers, as far as it is used; redirects are not followed. */
type ProviderFetch = (
  url: string,
  options: {
    readonly method: 'GET' | 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | undefined;
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}>;

export type ProviderSignInParts = Omit<ProviderSignInOptions, 'people' | 'invitations' | 'log'>;

const LIFETIME_MS = 600_000;
const TIMEOUT_SECONDS = 10;
const MAX_REPLY_BYTES = 262_144;
const MAX_NAME_CHARACTERS = 128;

export function createProviderSignIn(options: ProviderSignInOptions) {
  const { settings, pending, people, invitations, log } = options;
  const connect = createConnector(options);
  return {
    /** What the sign-in page offers; undefined while no provider is configured. */
    get offer(): { readonly label: string } | undefined {
      const { issuer, clientId, label } = settings();
      return issuer === undefined || clientId === undefined ? undefined : { label };
    },

    /** @param origin of the page the browser returns to. @returns where to go, and the secret for its cookie */
    async begin(origin: string, invitation?: string) {
      const client = await load();
      const { configuration, issuer, clientId } = await connect(client);
      const { scopes, redirectUrl } = settings();
      const redirectUri = redirectUrl ?? new URL(PROVIDER_CALLBACK_PATH, origin).href;
      const [state, nonce, verifier] = [
        client.randomState(),
        client.randomNonce(),
        client.randomPKCECodeVerifier(),
      ];
      const browser = randomBytes(32).toString('base64url');
      const waiting = { nonce, verifier, redirectUri, issuer, clientId, browser, invitation };
      await pending.put(state, waiting, LIFETIME_MS);
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        ...{ state, nonce, code_challenge_method: 'S256' },
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
      });
      return { url: url.href, browser };
    },

    /** Who came back with this query. @param browser what its cookie holds. @throws GatewayError saying why */
    async complete(query: URLSearchParams, browser: string | undefined): Promise<Person> {
      const [state, ...others] = query.getAll('state');
      // Used up before anything is checked: nothing is tried twice with it.
      const waiting = state && others.length === 0 ? await pending.take(state) : undefined;
      if (state === undefined || waiting === undefined || browser === undefined)
        throw refuse('unknown');
      if (!isSameText(waiting.browser, browser)) throw refuse('unknown');
      const client = await load();
      const { configuration, issuer, clientId } = await connect(client);
      // Began with another provider than the settings have now.
      if (waiting.issuer !== issuer || waiting.clientId !== clientId) throw refuse('unknown');
      const claims = await readClaims({ client, configuration, query, state, waiting }).catch(
        (error: unknown) => {
          log.warn({ error: say(error) }, 'A sign-in at the OpenID Connect provider failed.');
          // The error of the library goes to the log only.
          throw refuse(error instanceof client.AuthorizationResponseError ? 'denied' : 'unproved');
        },
      );
      return personOf(claims, waiting);
    },
  };

  /** Known, invited, or let in by the claims. @throws GatewayError or StoreError */
  async function personOf(claims: Claims, { issuer, invitation }: PendingProviderSignIn) {
    const subject = `${issuer} ${claims.sub}`;
    const known = people.findBySubject(subject);
    if (invitation !== undefined) {
      if (known !== undefined) throw refuse('known');
      const given = await invitations.use(invitation, async ({ name, gift }) => {
        if (gift.kind !== 'person') throw refuse('invitation');
        return add({ name, role: gift.role, subject });
      });
      if (given === undefined) throw refuse('invitation');
      return given;
    }
    if (known !== undefined && !known.isRoleClaimed) return known;
    const role = roleOf(claims, settings());
    if (known === undefined) {
      return add({ name: nameOf(claims), role, subject, isRoleClaimed: true });
    }
    if (known.role === role) return known;
    return people.change(known.id, { role }).catch(onConflict('last'));
  }

  function add(person: NewPerson): Promise<Person> {
    return people.add(person).catch(onConflict('taken'));
  }
}

function onConflict(why: RefusalKind): (error: unknown) => never {
  return (error) => {
    throw error instanceof StoreError && error.fault === 'conflict' ? refuse(why) : error;
  };
}

/** Where the provider sends the browser back to. */
export const PROVIDER_CALLBACK_PATH = '/sign-in/callback';

type Client = typeof import('openid-client');
type Claims = IDToken & Readonly<Record<string, unknown>>;

/** Loaded with the first sign-in: most gateways have no provider. */
function load(): Promise<Client> {
  return import('openid-client');
}

/** What the provider says of itself, read again when the settings name another or when it could not be read. */
function createConnector({ settings, openSecret, fetch, log }: ProviderSignInOptions) {
  let known: { readonly of: string; readonly configuration: Promise<Configuration> } | undefined;
  const discover = async (client: Client, issuer: URL, clientId: string, sealed?: string) => {
    const secret = sealed === undefined ? undefined : openSecret(sealed);
    const isLocal = issuer.protocol === 'http:' && isLoopbackHost(issuer.hostname);
    return client.discovery(
      ...([issuer, clientId, {}] as const),
      secret === undefined ? client.None() : withSecret(client, secret),
      {
        timeout: TIMEOUT_SECONDS,
        [client.customFetch]: toFetch(fetch),
        // The signature of each token is checked, also of one that came over TLS from the provider itself.
        execute: [
          client.enableNonRepudiationChecks,
          ...(isLocal ? [client.allowInsecureRequests] : []),
        ],
      },
    );
  };
  return async (client: Client) => {
    const { issuer, clientId, clientSecret } = settings();
    if (issuer === undefined || clientId === undefined) throw refuse('none');
    const of = JSON.stringify([issuer, clientId, clientSecret]);
    if (known?.of !== of) {
      known = { of, configuration: discover(client, new URL(issuer), clientId, clientSecret) };
    }
    try {
      return { configuration: await known.configuration, issuer, clientId };
    } catch (error) {
      known = undefined;
      log.warn({ error: say(error) }, 'The OpenID Connect provider cannot be reached.');
      throw refuse('unreachable');
    }
  };
}

/** In the header, as is usual, but for those that say they take it in the body alone. */
function withSecret(client: Client, secret: string): ClientAuth {
  const [inHeader, inBody] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...call) => {
    const taken = server.token_endpoint_auth_methods_supported ?? [];
    const isBodyAlone =
      taken.includes('client_secret_post') && !taken.includes('client_secret_basic');
    return (isBodyAlone ? inBody : inHeader)(server, ...call);
  };
}

interface Answered {
  readonly client: Client;
  readonly configuration: Configuration;
  readonly query: URLSearchParams;
  readonly state: string;
  readonly waiting: PendingProviderSignIn;
}

/** Of the checked token, and of the provider's user info where the token says too little. */
async function readClaims({
  client,
  configuration,
  query,
  state,
  waiting,
}: Answered): Promise<Claims> {
  const url = new URL(waiting.redirectUri);
  url.search = query.toString();
  const tokens = await client.authorizationCodeGrant(configuration, url, {
    pkceCodeVerifier: waiting.verifier,
    expectedState: state,
    expectedNonce: waiting.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error('There is no id token.');
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const more = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  // What is signed wins.
  return { ...more, ...claims };
}

function roleOf(claims: Claims, settings: ProviderSettings): Role {
  const { allowedDomains, defaultRole } = settings;
  if (allowedDomains.length > 0 && !isOfDomain(claims, allowedDomains)) throw refuse('domain');
  const values = claimValues(claims, settings.roleClaim);
  const given = { owner: settings.owners, operator: settings.operators, viewer: settings.viewers };
  const role = ROLES.findLast((one) => given[one].some((value) => values.includes(value)));
  const found = role ?? defaultRole;
  if (found === 'none') throw refuse('role');
  return found;
}

/** Anybody may write any address at many providers: one that was not proved says nothing. */
function isOfDomain(
  { email, email_verified: isProved }: Claims,
  allowed: readonly string[],
): boolean {
  if (typeof email !== 'string' || isProved !== true) return false;
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return allowed.some((one) => one.toLowerCase() === domain);
}

/** Texts of a claim that is one, or a list of them; of an object the names (zitadel.com, "Claims"). */
function claimValues(claims: Claims, path: string | undefined): readonly string[] {
  if (path === undefined) return [];
  // Some are called by an address, in which there are dots.
  const found = Object.hasOwn(claims, path)
    ? claims[path]
    : path.split('.').reduce<unknown>(inside, claims);
  if (Array.isArray(found)) return found.filter((value) => typeof value === 'string');
  if (typeof found === 'string') return [found];
  return Object.entries(found ?? {}).flatMap(([name, held]) => (held ? [name] : []));
}

function inside(value: unknown, name: string): unknown {
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isThere ? Reflect.get(value, name) : undefined;
}

function nameOf({ email, preferred_username: user, name, sub }: Claims): string {
  const found = [email, user, name, sub].find(
    (one) => typeof one === 'string' && one.trim() !== '',
  );
  // No control characters, as in every other name.
  return String(found)
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, MAX_NAME_CHARACTERS);
}

function toFetch(fetch: ProviderFetch): (url: string, options: FetchOptions) => Promise<Response> {
  return async (url, { method, headers, body, signal }) => {
    const reply = await fetch(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(headers)),
      body: body === undefined || body === null ? undefined : String(body),
      signal: signal ?? AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    });
    const bytes = reply.body === null ? Buffer.of() : await readWithin(reply.body, MAX_REPLY_BYTES);
    if (bytes === undefined) throw new Error('The reply of the provider is too long.');
    const type = reply.headers.get('content-type');
    const challenge = reply.headers.get('www-authenticate');
    return new Response(new Uint8Array(bytes), {
      status: reply.status,
      headers: {
        ...(type !== null && { 'content-type': type }),
        ...(challenge !== null && { 'www-authenticate': challenge }),
      },
    });
  };
}

interface FetchOptions {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

export const REFUSALS = {
  unknown: told`No sign-in waits for this answer: it was used already, is older than ten minutes, or was begun in another browser. Begin a new one.`,
  none: told`No provider is configured.`,
  unreachable: told`The provider cannot be reached, or is not set up as proxy.sign_in says. The log of the gateway says why.`,
  denied: told`The provider refused the sign-in.`,
  unproved: told`The answer of the provider does not prove who you are. The log of the gateway says why.`,
  role: told`The provider gives you no role here. Ask an owner of this gateway to add you.`,
  domain: told`Your e-mail address is of no domain that may sign in here, or the provider has not verified it.`,
  invitation: told`This invitation was used already, has expired, or was revoked. Ask who sent it for another one.`,
  known: told`You sign in here already, so that you need no invitation.`,
  taken: told`Somebody here has your name already. Ask an owner of this gateway to remove them, or to invite you by another name.`,
  last: told`The provider takes the role of the last owner away, and the console has no password. Set WEB_PASSWORD where the gateway runs.`,
} as const;

export type RefusalKind = keyof typeof REFUSALS;

/** A person is told why in their language; nothing of what came from elsewhere is in it. */
export class ProviderRefusal extends GatewayError {
  readonly why: RefusalKind;

  constructor(why: RefusalKind) {
    super({ kind: 'forbidden', source: 'client', message: REFUSALS[why], field: 'provider' });
    this.why = why;
  }
}

function refuse(why: RefusalKind): ProviderRefusal {
  return new ProviderRefusal(why);
}

/** Without what the provider answered, which may hold a token. */
function say(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const because = cause instanceof Error ? `: ${cause.message}` : '';
  return `${error.name}: ${error.message}${because}`;
}
