// The OAuth endpoints: consent, tokens, revocation and user info, their clients and parameters.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { reasonDetail, SandboxError } from './errors.ts';
import { requireOwnPage, sendJson, sendText } from './http.ts';
import type { JsonObject } from './json.ts';
import {
  type ConsentChoice,
  SOMEONE,
  sendPage,
  startChoice,
  writeConsentPage,
  writeFaultPage,
} from './oauth-page.ts';
import {
  type Codes,
  type Grant,
  type Grants,
  meaningsOf,
  OAuthError,
  type RefreshToken,
  readAssertion,
  readAssertionEmail,
  readScopes,
  SCOPE_NAMES,
  type ScopeMeaning,
  type ServiceAccountKeys,
  type Tokens,
  writeOAuthError,
} from './oauth-tokens.ts';
import {
  createId,
  type Fault,
  type Faults,
  isSameSecret,
  type Member,
  type Members,
  readPersonEmail,
  SANDBOX_TIERS,
  type SandboxClock,
  type TierQuotas,
} from './state.ts';

export interface OAuthServices {
  readonly clock: SandboxClock;
  readonly clients: readonly SandboxClient[];
  readonly tokens: Tokens;
  readonly codes: Codes;
  readonly grants: Grants;
  readonly keys: ServiceAccountKeys;
  readonly members: Members;
  readonly faults: Faults;
  readonly tiers: TierQuotas;
  readonly accessTokenLifetimeMs: number;
  /** The sandbox's own address, without a trailing slash. */
  issuer(): string;
}

interface OAuthExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

type Operation = (exchange: OAuthExchange, services: OAuthServices) => void | Promise<void>;

const OPERATIONS = {
  metadata: ({ response }, { issuer }) => sendJson(response, 200, writeMetadata(issuer())),
  'ask-for-consent': ({ response, url }, services) => askForConsent(response, url, services),
  decide: ({ request, response }, services) => decide(request, response, services),
  token: (exchange, services) => answerToken(exchange, services),
  revoke: (exchange, services) => revoke(exchange, services),
  'user-info': ({ request, response }, services) =>
    sendJson(response, 200, readUserInfo(request, services)),
} as const satisfies Readonly<Record<string, Operation>>;

export type OAuthOperation = keyof typeof OPERATIONS;

/** Answers refusals too. @throws whatever the sandbox itself fails with, and the signal's reason. */
export async function answerOAuth(
  operation: OAuthOperation,
  exchange: OAuthExchange,
  services: OAuthServices,
): Promise<void> {
  try {
    requireOwnPage(exchange.request);
    await OPERATIONS[operation](exchange, services);
  } catch (error) {
    if (error instanceof OAuthError) sendRefusal(exchange.response, error);
    else if (error instanceof SandboxError && operation === 'user-info') {
      sendBearerRefusal(exchange.response, error);
    } else throw error;
  }
}

/** A fault's error and delay come before anything is used up; its garbage and cut after. */
async function answerToken(
  { request, response, signal }: OAuthExchange,
  services: OAuthServices,
): Promise<void> {
  const tokenRequest = readTokenRequest(request, await readForm(request), services);
  const { email } = tokenRequest;
  const fault = services.faults.take({ endpoint: 'token', account: email, models: [] }) ?? {};
  if (fault.delayMs !== undefined) await services.clock.sleep(fault.delayMs, signal);
  failIfTold(fault);
  const text = JSON.stringify(await tokenRequest.exchange());
  if (fault.garbage === true) return sendText(response, 200, text.slice(0, text.length / 2));
  if (fault.cutAfterBytes === undefined) return sendText(response, 200, text);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
  response.flushHeaders();
  response.write(text.slice(0, fault.cutAfterBytes), () => response.socket?.destroySoon());
}

function failIfTold({ status, error, message, retryDelay }: Fault): void {
  if (status === undefined && error === undefined) return;
  const code = error ?? (status === 503 ? 'temporarily_unavailable' : 'server_error');
  const seconds = Number.parseFloat(retryDelay ?? '');
  throw new OAuthError(code, message ?? 'The sandbox was told to answer so.', {
    status: status ?? (code === 'invalid_client' ? 401 : 400),
    headers: Number.isFinite(seconds) ? { 'retry-after': String(Math.ceil(seconds)) } : {},
  });
}

/** RFC 7009: the whole grant goes with any of its tokens; an unknown token is no fault. */
async function revoke(
  { request, response }: OAuthExchange,
  services: OAuthServices,
): Promise<void> {
  const form = await readForm(request);
  const client = requireClient(authenticateClient(request, form, services.clients));
  const text = requireParameter(form, 'token');
  const token = services.tokens.readRefresh(text) ?? services.tokens.readAccess(text);
  if (token !== undefined) {
    if ((token.grant.clientId ?? client.id) !== client.id) {
      throw new OAuthError('invalid_grant', 'The token belongs to another client.');
    }
    services.grants.revoke(token.grant);
  }
  sendJson(response, 200, {});
}

/** The claims the token's scopes allow (OpenID Connect Core, 5.3). */
function readUserInfo(request: IncomingMessage, services: OAuthServices): JsonObject {
  const text = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (text === undefined) throw new SandboxError(401, 'Send Authorization: Bearer <token>.');
  const { email } = authenticateToken(text, 'email', services);
  const scopes = services.tokens.readAccess(text)?.grant.scopes ?? [];
  const name = email.slice(0, email.indexOf('@'));
  return {
    sub: email,
    email,
    email_verified: true,
    ...(meaningsOf(scopes).has('profile') && {
      name: name.charAt(0).toUpperCase() + name.slice(1),
    }),
  };
}

function sendRefusal(response: ServerResponse, error: OAuthError): void {
  const text = JSON.stringify(writeOAuthError(error.code, error.message));
  sendText(response, error.status, text, error.headers);
}

/** RFC 6750, 3 */
function sendBearerRefusal(response: ServerResponse, { status, message }: SandboxError): void {
  const code = status === 403 ? 'insufficient_scope' : 'invalid_token';
  sendText(response, status, JSON.stringify(writeOAuthError(code, message)), {
    'www-authenticate': `Bearer error="${code}"`,
  });
}

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

function writeMetadata(issuer: string): JsonObject {
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

const TICKET_LIFETIME_MS = 10 * 60_000;

/** `GET /oauth/authorize` */
function askForConsent(response: ServerResponse, url: URL, services: OAuthServices): void {
  const request = admit(response, url.searchParams, services);
  if (request === undefined) return;
  const ticket = services.tokens.mintTicket({
    query: url.searchParams.toString(),
    expiresAt: services.clock.now() + TICKET_LIFETIME_MS,
  });
  const choice = startChoice(request.loginHint);
  sendPage(response, writeConsentPage({ request, ticket, choice, quotas: services.tiers }));
}

/** `POST /oauth/authorize`: the consent page's form. Only the ticket says what is being decided. */
async function decide(
  message: IncomingMessage,
  response: ServerResponse,
  services: OAuthServices,
): Promise<void> {
  const form = await readConsentForm(message);
  if (form instanceof OAuthError) return sendPage(response, writeFaultPage(form.message));
  const ticket = services.tokens.readTicket(form.get('ticket') ?? '');
  if (ticket === undefined || ticket.expiresAt <= services.clock.now()) {
    return sendPage(response, writeFaultPage('This page is too old to be answered.'));
  }
  const request = admit(response, new URLSearchParams(ticket.query), services);
  if (request === undefined) return;
  if (form.get('decision') !== 'allow') {
    return sendBack(response, request, services, {
      error: 'access_denied',
      error_description: 'The person refused.',
    });
  }
  const choice = readChoice(form);
  if (choice === undefined) return sendPage(response, writeFaultPage('The plan is unknown.'));
  const given = choice.person === SOMEONE ? choice.email : choice.person;
  const email = readPersonEmail(given);
  if (email === undefined) {
    const ticketText = form.get('ticket') ?? '';
    const complaint = `${JSON.stringify(given)} is not an e-mail at sandbox.example.`;
    const page = { request, ticket: ticketText, choice, quotas: services.tiers, complaint };
    return sendPage(response, writeConsentPage(page));
  }
  sendBack(response, request, services, { code: grantCode(request, email, choice, services) });
}

/** The request, or undefined when its fault was answered already. */
function admit(
  response: ServerResponse,
  query: URLSearchParams,
  services: OAuthServices,
): AuthorizationRequest | undefined {
  const reading = readAuthorizationRequest(query, services.clients);
  switch (reading.kind) {
    case 'good':
      return reading.request;
    case 'untrusted':
      sendPage(response, writeFaultPage(reading.message));
      return undefined;
    case 'refused':
      sendBack(response, reading, services, {
        error: reading.code,
        error_description: reading.message,
      });
      return undefined;
    default:
      return reading satisfies never;
  }
}

function grantCode(
  { client, scopes, redirectUrl, challenge }: AuthorizationRequest,
  email: string,
  { tier }: ConsentChoice,
  { codes, members, grants, clock }: OAuthServices,
): string {
  members.enter(email, tier);
  const grant = {
    familyId: createId(''),
    email,
    tier,
    clientId: client.id,
    scopes,
    grantedAt: clock.now(),
  };
  grants.start(grant);
  return codes.issue({ grant, redirectUrl, challenge });
}

/** `state` as it came, and `iss` so that the client knows who answered (RFC 9207). */
function sendBack(
  response: ServerResponse,
  { redirectUrl, state }: { readonly redirectUrl: string; readonly state: string | undefined },
  { issuer }: OAuthServices,
  answer: Readonly<Record<string, string>>,
): void {
  const target = new URL(redirectUrl);
  const all = { ...answer, ...(state !== undefined && { state }), iss: issuer() };
  for (const [name, value] of Object.entries(all)) target.searchParams.set(name, value);
  response.writeHead(303, {
    location: target.href,
    'content-length': 0,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  response.end();
}

async function readConsentForm(message: IncomingMessage): Promise<Parameters | OAuthError> {
  try {
    return await readForm(message);
  } catch (error) {
    if (error instanceof OAuthError) return error;
    throw error;
  }
}

function readChoice(form: Parameters): ConsentChoice | undefined {
  const tier = SANDBOX_TIERS.find((one) => one === form.get('tier'));
  return tier && { person: form.get('person') ?? SOMEONE, email: form.get('email') ?? '', tier };
}

interface AuthorizationRequest {
  readonly client: SandboxClient;
  readonly redirectUrl: string;
  /** Given back as it came; allowed to be absent, as RFC 6749 only recommends it. */
  readonly state: string | undefined;
  readonly scopes: readonly string[];
  /** PKCE, method S256. */
  readonly challenge: string;
  /** Who the client thinks will sign in. */
  readonly loginHint: string | undefined;
}

/** `untrusted`: the client or its address is in doubt, so the fault is shown here and sent nowhere. */
type AuthorizationReading =
  | { readonly kind: 'good'; readonly request: AuthorizationRequest }
  | { readonly kind: 'untrusted'; readonly message: string }
  | {
      readonly kind: 'refused';
      readonly redirectUrl: string;
      readonly state: string | undefined;
      readonly code: string;
      readonly message: string;
    };

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

function readAuthorizationRequest(
  query: URLSearchParams,
  clients: readonly SandboxClient[],
): AuthorizationReading {
  for (const name of ['client_id', 'redirect_uri']) {
    if (query.getAll(name).length > 1) return untrusted(`${name} is given twice.`);
  }
  const client = clients.find(({ id }) => id === query.get('client_id'));
  if (client === undefined) return untrusted('The client is unknown: check client_id.');
  const redirectUrl = query.get('redirect_uri') ?? '';
  if (!isRegisteredRedirect(client, redirectUrl)) {
    return untrusted('The return address is not one of this client: check redirect_uri.');
  }
  const states = query.getAll('state');
  try {
    return { kind: 'good', request: { client, redirectUrl, ...readRest(readParameters(query)) } };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const state = states.length === 1 ? states[0] : undefined;
    return { kind: 'refused', redirectUrl, state, code: error.code, message: error.message };
  }
}

function readRest(parameters: Parameters): Omit<AuthorizationRequest, 'client' | 'redirectUrl'> {
  const type = parameters.get('response_type');
  if (type === undefined) throw new OAuthError('invalid_request', 'response_type is missing.');
  if (type !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type must be code.');
  }
  if ((parameters.get('response_mode') ?? 'query') !== 'query') {
    throw new OAuthError('invalid_request', 'response_mode must be query.');
  }
  const challenge = parameters.get('code_challenge') ?? '';
  if (parameters.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge)) {
    throw new OAuthError(
      'invalid_request',
      'PKCE is required: code_challenge_method must be S256 and code_challenge the hash.',
    );
  }
  const scopes = readScopes(parameters.get('scope'));
  if (scopes === undefined) throw new OAuthError('invalid_scope', 'A scope is unknown.');
  const [state, loginHint] = [parameters.get('state'), parameters.get('login_hint')];
  return { state, scopes, challenge, loginHint };
}

function untrusted(message: string): AuthorizationReading {
  return { kind: 'untrusted', message };
}

interface TokenRequest {
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
function readTokenRequest(
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

export interface SandboxClient {
  readonly id: string;
  /** As the consent page shows it. */
  readonly name: string;
  /** Public clients send none. One that is sent must be this. */
  readonly secret?: string | undefined;
  /** Compared as text; `http` addresses of this machine without a port stand for any port. */
  readonly redirectUrls: readonly string[];
}

export const DEFAULT_CLIENT_ID = 'isthmus-sandbox';
const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];
const CALLBACK_PATHS = ['/', '/callback', '/oauth/callback', '/oauth2callback'];
const API_CALLBACK_PATHS = ['/api/oauth/callback'];
const LOOPBACK_ADDRESS = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(\/.*)$/;

/** The built-in public client; `redirectUrls` are allowed beside its addresses on this machine. */
export function createDefaultClient(redirectUrls: readonly string[]): SandboxClient {
  const paths = [...CALLBACK_PATHS, ...API_CALLBACK_PATHS];
  return {
    id: DEFAULT_CLIENT_ID,
    name: 'isthmus',
    secret: 'isthmus-sandbox-secret',
    redirectUrls: [
      ...LOOPBACK_HOSTS.flatMap((host) => paths.map((path) => `http://${host}${path}`)),
      ...redirectUrls,
    ],
  };
}

/** Exact, except for the port of an address on this machine (RFC 8252, 7.3; RFC 9700, 2.1). */
function isRegisteredRedirect({ redirectUrls }: SandboxClient, given: string): boolean {
  if (given.includes('#') || URL.parse(given) === null) return false;
  if (redirectUrls.includes(given)) return true;
  const loopback = LOOPBACK_ADDRESS.exec(given);
  return loopback !== null && redirectUrls.includes(`${loopback[1]}${loopback[2]}`);
}

/**
 * The client of a token or revocation request: `client_id` alone, with `client_secret`, or by HTTP
 * Basic (RFC 6749, 2.3.1); undefined when the request names none.
 * @throws OAuthError invalid_client 401, or invalid_request for two ways at once.
 */
function authenticateClient(
  request: IncomingMessage,
  form: Parameters,
  clients: readonly SandboxClient[],
): SandboxClient | undefined {
  const basic = readBasic(request.headers.authorization);
  if (basic !== undefined && form.has('client_secret')) {
    throw new OAuthError('invalid_request', 'Send the client secret in one way only.');
  }
  const id = basic?.id ?? form.get('client_id');
  const secret = basic?.secret ?? form.get('client_secret');
  if (id === undefined) return undefined;
  const client = clients.find((one) => one.id === id);
  const isItself = basic === undefined || (form.get('client_id') ?? id) === id;
  if (client === undefined || !isItself || !acceptsSecret(client, secret)) {
    throw new OAuthError('invalid_client', 'The client is unknown or its secret is wrong.', {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="sandbox"' },
    });
  }
  return client;
}

/** @throws OAuthError invalid_client 401 */
function requireClient(client: SandboxClient | undefined): SandboxClient {
  if (client !== undefined) return client;
  throw new OAuthError('invalid_client', 'client_id is missing.', { status: 401 });
}

function acceptsSecret(client: SandboxClient, secret: string | undefined): boolean {
  if (secret === undefined || secret === '') return true;
  return client.secret !== undefined && isSameSecret(client.secret, secret);
}

/** Both halves are form-encoded before they are joined. */
function readBasic(header: string | undefined): { id: string; secret: string } | undefined {
  if (header === undefined) return undefined;
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1] ?? '';
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) {
    throw new OAuthError('invalid_client', 'The Authorization header cannot be read.', {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="sandbox"' },
    });
  }
  return { id: decodeForm(id), secret: decodeForm(secret) };
}

function decodeForm(text: string): string {
  return new URLSearchParams(`value=${text.replaceAll('&', '%26')}`).get('value') ?? '';
}

/** Parameters without a value count as absent (RFC 6749, 3.1). */
type Parameters = ReadonlyMap<string, string>;

const MAX_FORM_BYTES = 64 * 1024;
const MAX_VALUE_CHARACTERS = 16 * 1024;

/** @throws OAuthError invalid_request for a form of another type, too large, or with a parameter given twice. */
async function readForm(request: IncomingMessage): Promise<Parameters> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw new OAuthError(
      'invalid_request',
      'The Content-Type must be application/x-www-form-urlencoded.',
    );
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > MAX_FORM_BYTES) {
      throw new OAuthError('invalid_request', `The form is larger than ${MAX_FORM_BYTES} bytes.`, {
        status: 413,
      });
    }
    chunks.push(buffer);
  }
  return readParameters(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}

/** @throws OAuthError invalid_request for a parameter given twice or too long. */
function readParameters(given: URLSearchParams): Parameters {
  const parameters = new Map<string, string>();
  for (const [name, value] of given) {
    if (value === '') continue;
    if (parameters.has(name)) {
      throw new OAuthError('invalid_request', `${show(name)} must be given once only.`);
    }
    if (value.length > MAX_VALUE_CHARACTERS) {
      throw new OAuthError('invalid_request', `${show(name)} is too long.`);
    }
    parameters.set(name, value);
  }
  return parameters;
}

/** @throws OAuthError invalid_request when it is absent. */
function requireParameter(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`);
  return value;
}

function show(name: string): string {
  return JSON.stringify(name.slice(0, 40));
}

export type BearerServices = Pick<OAuthServices, 'tokens' | 'grants' | 'members' | 'clock'>;

/** True for what looks like an access token of a sandbox, good or not. */
export function isAccessToken(text: string): boolean {
  return text.startsWith('sandbox-access.');
}

/**
 * The member a good access token was made for.
 * @throws SandboxError 401 when it is forged, expired or revoked, 403 without the needed scope.
 */
export function authenticateToken(
  text: string,
  needed: ScopeMeaning,
  { tokens, grants, members, clock }: BearerServices,
): Member {
  const token = tokens.readAccess(text);
  if (token === undefined) throw unauthenticated('ACCESS_TOKEN_TYPE_UNSUPPORTED', 'is not valid');
  const { grant, expiresAt } = token;
  if (expiresAt <= clock.now()) throw unauthenticated('ACCESS_TOKEN_EXPIRED', 'has expired');
  if (grants.isRevoked(grant)) throw unauthenticated('ACCESS_TOKEN_REVOKED', 'was revoked');
  if (!meaningsOf(grant.scopes).has(needed)) {
    throw new SandboxError(403, `The access token lacks the scope "${needed}".`, [
      reasonDetail('ACCESS_TOKEN_SCOPE_INSUFFICIENT', { scope: needed }),
    ]);
  }
  return members.restore(grant.email, grant.tier);
}

function unauthenticated(reason: string, what: string): SandboxError {
  return new SandboxError(401, `The access token ${what}.`, [reasonDetail(reason)]);
}
