// One call of an OAuth endpoint: limited in time and size, never redirected, nothing secret in its errors.

import { Agent, type Dispatcher } from 'undici';
import type { OAuthCredential, ServiceAccountCredential } from '../accounts/account.ts';
import { type Clock, readWithin, withinLimit } from '../lib/clock.ts';
import { type JsonObject, readNumber, tryParse } from '../lib/json.ts';
import { codeOf, type Sentence, SpokenError, told } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';
import { CLOCK_CODES } from '../lib/net.ts';
import { NO_PROXY, type ProxyChoice } from '../lib/outbound-proxy.ts';
import { ProxyDispatchers, ProxyError, soundConnections } from '../lib/proxy-agent.ts';
import { headerOf, objectOf } from '../lib/read-values.ts';
import { scrub } from '../lib/redact.ts';
import { signAssertion } from './account-file.ts';

/** How a call goes out, and what ends it early. */
export interface Reach {
  readonly signal: AbortSignal;
  readonly proxyUrl?: string | undefined;
}

/** For a call whose answer is awaited whatever happens: it may hold the only copy of a rotated token. */
export const NEVER = new AbortController().signal;

interface EndpointCall {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Absent for GET. */
  readonly form?: URLSearchParams | undefined;
  readonly reach: Reach;
}

interface EndpointReply {
  readonly status: number;
  readonly body: JsonObject | undefined;
  readonly retryAfterMs: number | undefined;
}

export type TokenReply = ReturnType<typeof readTokenReply>;

/** What is stored of a reply, and of the credential before it, which stays where nothing new was given. */
export function toCredential(
  { accessToken, refreshToken, lifetimeMs, scopes }: TokenReply,
  previous: Pick<OAuthCredential, 'refreshToken' | 'scopes'>,
  sentAt: number,
): OAuthCredential {
  return {
    kind: 'oauth',
    refreshToken: refreshToken ?? previous.refreshToken,
    accessToken,
    expiresAt: sentAt + lifetimeMs,
    scopes: scopes ?? previous.scopes,
  };
}

export interface EndpointOptions {
  readonly fetch: OAuthFetch;
  readonly clock: Clock;
  /** No secret ever reaches it. */
  readonly log: WarnLog;
}

const LIMIT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const MAX_ORIGINS = 256;

/** RFC 6749 §5.1 only recommends `expires_in`; an upstream's 401 corrects a wrong guess. */
const USUAL_LIFETIME_SECONDS = 3600;
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

/** Calls of a provider. Every method throws OAuthFault, or the signal's reason when it aborts. */
export class TokenEndpoint {
  readonly #options: EndpointOptions;
  /** How far clocks of providers are ahead of ours, by origin. */
  readonly #offsets = new Map<string, number>();

  constructor(options: EndpointOptions) {
    this.#options = options;
  }

  exchangeCode(
    settings: OAuthSettings,
    { code, codeVerifier, redirectUri }: Record<'code' | 'codeVerifier' | 'redirectUri', string>,
    reach: Reach,
  ): Promise<TokenReply> {
    const proof = { code, code_verifier: codeVerifier, redirect_uri: redirectUri };
    const grant = { grant_type: 'authorization_code', ...proof };
    return this.#ask(settings.tokenUrl, { ...grant, ...clientFields(settings) }, reach);
  }

  refresh(settings: OAuthSettings, refreshToken: string, reach: Reach): Promise<TokenReply> {
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return this.#ask(settings.tokenUrl, { ...grant, ...clientFields(settings) }, reach);
  }

  /** RFC 7523 §2.1. `settings` fills in what the key does not say. */
  async tradeAssertion(
    settings: OAuthSettings | undefined,
    key: ServiceAccountCredential,
    reach: Reach,
  ): Promise<TokenReply> {
    const tokenUrl = key.tokenUrl ?? settings?.tokenUrl;
    if (tokenUrl === undefined) throw new OAuthFault('unconfigured');
    const offsetMs = this.#offsets.get(new URL(tokenUrl).origin) ?? 0;
    const issuedAt = this.#options.clock.now() + offsetMs;
    const scopes = settings?.scopes ?? [];
    const assertion = await signAssertion(key, { tokenUrl, scopes, issuedAt });
    return this.#ask(tokenUrl, { grant_type: JWT_BEARER, assertion }, reach);
  }

  /** RFC 7009. */
  async revoke(settings: OAuthSettings, refreshToken: string, reach: Reach): Promise<void> {
    const { revocationUrl: url } = settings;
    if (url === undefined) throw new OAuthFault('unconfigured');
    const token = { token: refreshToken, token_type_hint: 'refresh_token' };
    const fields = { ...token, ...clientFields(settings) };
    const reply = await this.call({ url, form: new URLSearchParams(fields), reach });
    if (!isSuccess(reply)) throw faultOf(reply, Object.values(fields));
  }

  /** The claims of the OpenID Connect UserInfo endpoint. */
  async readUserInfo(url: string, accessToken: string, reach: Reach): Promise<JsonObject> {
    const headers = { authorization: `Bearer ${accessToken}` };
    const reply = await this.call({ url, headers, reach });
    if (reply.status !== 200 || reply.body === undefined) throw faultOf(reply, [accessToken]);
    return reply.body;
  }

  call(call: EndpointCall): Promise<EndpointReply> {
    const limit = {
      clock: this.#options.clock,
      limitMs: LIMIT_MS,
      signal: call.reach.signal,
      tooSlow: () => new OAuthFault('too-slow'),
      // Only the code goes on: the error itself may hold addresses with passwords.
      faultOf: (error: unknown) =>
        error instanceof OAuthFault
          ? error
          : new OAuthFault('unreachable', { code: codeBehind(error) }),
    };
    return withinLimit(limit, (ended) => this.#exchange(call, ended));
  }

  async #ask(
    url: string,
    fields: Readonly<Record<string, string>>,
    reach: Reach,
  ): Promise<TokenReply> {
    const reply = await this.call({ url, form: new URLSearchParams(fields), reach });
    return readTokenReply(reply, Object.values(fields));
  }

  async #exchange(call: EndpointCall, signal: AbortSignal): Promise<EndpointReply> {
    const { url, form, headers, reach } = call;
    const { fetch, clock } = this.#options;
    const reply = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { accept: 'application/json', ...(form && FORM_HEADERS), ...headers },
      body: form?.toString(),
      signal,
      proxyUrl: reach.proxyUrl,
    });
    this.#noteDate(url, reply.headers.get('date'));
    if (reply.status >= 300 && reply.status < 400) {
      throw new OAuthFault('redirected', { status: reply.status });
    }
    const retryAfterMs = readRetryAfter(reply.headers.get('retry-after'), clock.now());
    return { status: reply.status, body: await readBody(reply), retryAfterMs };
  }

  #noteDate(url: string, date: string | null): void {
    const { clock, log } = this.#options;
    const offsetMs = Date.parse(date ?? '') - clock.now();
    if (Number.isNaN(offsetMs)) return;
    const { origin } = new URL(url);
    const known = this.#offsets.get(origin) ?? 0;
    if (Math.abs(offsetMs) <= MAX_CLOCK_DIFFERENCE_MS) return void this.#offsets.delete(origin);
    if (this.#offsets.size >= MAX_ORIGINS) this.#offsets.clear();
    this.#offsets.set(origin, offsetMs);
    if (Math.abs(offsetMs - known) <= MAX_CLOCK_DIFFERENCE_MS) return;
    const differenceSeconds = Math.round(offsetMs / 1000);
    log.warn({ origin, differenceSeconds }, 'the clock of this machine and the provider differ');
  }
}

function isSuccess({ status }: EndpointReply): boolean {
  return status >= 200 && status <= 299;
}

const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' } as const;

async function readBody({ headers, body }: OAuthFetchReply): Promise<JsonObject | undefined> {
  if (body === null || (headers.get('content-encoding') ?? 'identity') !== 'identity') {
    return undefined;
  }
  const bytes = await readWithin(body, MAX_BYTES);
  if (bytes === undefined) throw new OAuthFault('too-large');
  return objectOf(tryParse(bytes.toString('utf8')));
}

/** RFC 9110 §10.2.3: seconds or a date. */
function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const waitMs = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

/** Its own, or that of what caused it. */
function codeBehind(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 4; depth += 1) {
    const code = codeOf(current);
    if (code !== undefined && /^\w{2,40}$/.test(code)) return code;
    current = current.cause;
  }
  return undefined;
}

/** Like `fetch`, cut down to what OAuth calls need. Redirects are answered as they came, never followed. */
type OAuthFetch = (url: string, options: OAuthFetchOptions) => Promise<OAuthFetchReply>;

interface OAuthFetchOptions {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** `http://`, `https://` or `socks5://`, perhaps with user and password; undefined goes the way of the gateway. */
  readonly proxyUrl?: string | undefined;
}

interface OAuthFetchReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Below the limit of the call, so that a proxy that says nothing is known as what failed. */
const PROXY_CONNECT_MS = 5_000;
const AGENT_OPTIONS = {
  allowH2: false,
  connect: soundConnections({ allowH2: false, timeout: LIMIT_MS }),
  headersTimeout: LIMIT_MS,
  bodyTimeout: LIMIT_MS,
};

interface OutboundOptions {
  readonly userAgent: string;
  /** The proxy of the gateway as it is now; without it calls of accounts that have none go direct. */
  readonly proxyFor?: ProxyChoice | undefined;
}

/** How OAuth calls leave the process: one request, no redirects, through the account's own proxy or the gateway's. */
export function createOAuthOutbound({ userAgent, proxyFor = NO_PROXY }: OutboundOptions) {
  const direct = new Agent(AGENT_OPTIONS);
  const proxies = new ProxyDispatchers({ ...AGENT_OPTIONS, connectMs: PROXY_CONNECT_MS });
  const dispatcherFor = (proxyUrl: string | undefined): Dispatcher =>
    proxyUrl === undefined ? direct : proxies.get(proxyUrl);

  const fetch: OAuthFetch = async (url, { proxyUrl, headers, method, body, signal }) => {
    const own = proxyUrl === undefined ? proxyFor(url) : undefined;
    const { origin, pathname, search } = new URL(url);
    const options = {
      ...{ origin, path: pathname + search, method, signal },
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': userAgent },
      body: body ?? null,
    };
    const dispatcher = dispatcherFor(proxyUrl ?? own?.url);
    const reply = await dispatcher.request(options).catch((error: unknown) => {
      if (own === undefined || !(error instanceof ProxyError) || !error.isOfProxy) throw error;
      throw new OAuthFault('gateway-proxy', { code: error.code });
    });
    const get = (name: string): string | null =>
      headerOf(reply.headers, name.toLowerCase()) ?? null;
    return { status: reply.statusCode, headers: { get }, body: reply.body };
  };

  return {
    fetch,
    /** Ends every connection at once. */
    close: async () => {
      await Promise.all([direct.destroy(), proxies.destroy()]);
    },
  };
}

function clientFields({ clientId, clientSecret }: OAuthSettings): Record<string, string> {
  const secret = clientSecret === undefined ? {} : { client_secret: clientSecret };
  return { client_id: clientId, ...secret };
}

function readTokenReply(reply: EndpointReply, secrets: readonly string[]) {
  const { body = {} } = reply;
  const accessToken = readToken(body.access_token);
  const kind = body.token_type ?? 'bearer';
  const isBearer = typeof kind === 'string' && kind.toLowerCase() === 'bearer';
  if (!isSuccess(reply) || accessToken === undefined || !isBearer) throw faultOf(reply, secrets);
  const { refresh_token: refreshToken, id_token: idToken, scope } = body;
  return {
    accessToken,
    /** A rotated one replaces the one it was asked with; undefined leaves that one valid. */
    refreshToken: readToken(refreshToken),
    idToken: typeof idToken === 'string' ? idToken : undefined,
    /** From the moment the request was sent. */
    lifetimeMs: readLifetimeSeconds(body.expires_in) * 1000,
    scopes: typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : undefined,
  };
}

function readToken(value: unknown): string | undefined {
  return typeof value === 'string' && TOKEN.test(value) ? value : undefined;
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

interface OAuthFaultFacts {
  readonly status?: number | undefined;
  /** OAuth's `error`, or the code of a network error. */
  readonly code?: string | undefined;
  /** What the provider said beside, scrubbed. */
  readonly detail?: string | Sentence | undefined;
  /** The wait the provider asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** The message is a clause without an end mark, fit to follow a colon. */
export class OAuthFault extends SpokenError {
  readonly kind: keyof typeof CLAUSES;
  readonly facts: OAuthFaultFacts;

  constructor(kind: OAuthFault['kind'], facts: OAuthFaultFacts = {}) {
    const words = CLAUSES[kind](facts);
    const isWhole = facts.detail === undefined || words === facts.detail;
    super(isWhole ? words : told`${words} (${facts.detail})`);
    this.name = 'OAuthFault';
    this.kind = kind;
    this.facts = facts;
  }
}

/**
 * `revoked` is the provider's own `invalid_grant`; everything else says nothing of the grant and may pass. `busy`
 * is 408, 429 and 5xx, `refused` another OAuth error, `malformed` no OAuth answer at all. Of ours: of `storage`,
 * `detail` says whether a credential could not be read or a new one not stored.
 */
const CLAUSES = {
  revoked: () => told`the provider no longer accepts this grant`,
  unreachable: ({ code = '' }: OAuthFaultFacts) => unreached(code),
  'gateway-proxy': ({ code = '' }: OAuthFaultFacts) =>
    told`the proxy of the gateway failed or refused (${code})`,
  'too-slow': () => told`the provider did not answer within 10 s`,
  'too-large': () => told`the answer of the provider is larger than 64 KB`,
  redirected: ({ status = 0 }: OAuthFaultFacts) =>
    told`the provider redirected (HTTP ${status}), which is never followed; check the address`,
  busy: ({ status = 0 }: OAuthFaultFacts) =>
    told`the provider failed with HTTP ${status}; try again later`,
  refused: ({ code = '' }: OAuthFaultFacts) => refusedWith(code),
  malformed: ({ status = 0 }: OAuthFaultFacts) =>
    told`the answer of the provider is no OAuth answer (HTTP ${status}); check the address`,
  unconfigured: () => told`this upstream has no OAuth settings; add them to its configuration`,
  gone: () => told`the account was removed`,
  storage: ({ detail = '' }: OAuthFaultFacts) => detail,
};

function unreached(code: string): Sentence {
  if (code === '') return told`the provider could not be reached`;
  return CLOCK_CODES.includes(code)
    ? told`the provider could not be reached (${code}; is this machine's clock right?)`
    : told`the provider could not be reached (${code})`;
}

function refusedWith(code: string): Sentence {
  switch (code) {
    case 'invalid_client':
    case 'unauthorized_client':
      return told`the provider refused with ${code}; check the client id and secret of this upstream`;
    case 'invalid_scope':
      return told`the provider refused with ${code}; check the scopes of this upstream`;
    default:
      return told`the provider refused with ${code}`;
  }
}

/** Of service accounts only `tokenUrl` and `scopes` are read, so `clientId` may be empty for them. */
export interface OAuthSettings {
  readonly clientId: string;
  /** Sent in the body (RFC 6749 §2.3.1); undefined for public clients. */
  readonly clientSecret?: string | undefined;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  /** RFC 7009; without one a removed account is only forgotten here. */
  readonly revocationUrl?: string | undefined;
  /** OpenID Connect UserInfo; without one the e-mail is read from the id token. */
  readonly userInfoUrl?: string | undefined;
  readonly scopes: readonly string[];
  readonly extraAuthorizationParameters?: Readonly<Record<string, string>> | undefined;
  /** Registered at the provider; undefined for this gateway's own loopback address. */
  readonly redirectUrl?: string | undefined;
  /** RFC 9207 `iss`; undefined accepts any issuer on the host of `authorizationUrl`. */
  readonly issuer?: string | undefined;
}

export interface OAuthDirectory {
  get(upstreamId: string): OAuthSettings | undefined;
}
