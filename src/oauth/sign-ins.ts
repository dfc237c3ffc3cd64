// Signing in to an upstream: authorization code with PKCE and state, completed by callback or by paste.

import {
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  validateAuthResponse,
} from 'oauth4webapi';
import { type Account, isSameLabel } from '../accounts/account.ts';
import { GatewayError, invalidRequest } from '../canonical/error.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { isSafeEndpoint } from '../lib/net.ts';
import { isExpectedIssuer, readIdentity } from './identity.ts';
import {
  type EndpointOptions,
  NEVER,
  type OAuthDirectory,
  OAuthFault,
  type OAuthSettings,
  TokenEndpoint,
  toCredential,
} from './oauth-client.ts';
import { AccountPlacer, type AccountPlacerOptions, type Placed } from './place-account.ts';

interface PastedResponse {
  readonly parameters: URLSearchParams;
  /** Scheme, host and path, where a whole address was pasted. */
  readonly address?: string | undefined;
  /** A code alone knows no state. */
  readonly isCode?: boolean;
}

const MAX_PASTED = 16_384;
const CODE = /^[\x21-\x7e]{1,4096}$/;

/**
 * Reads a whole address, only its query, or only the code, with what else gets copied along:
 * blanks, line breaks of a terminal, quotes, angle brackets.
 * @throws GatewayError `invalid-request`
 */
function readPasted(text: string): PastedResponse {
  if (text.length > MAX_PASTED) throw badPaste(told`This is too long for an address or a code.`);
  const dense = text.replace(/\s+/g, '').replace(/^["'`<]+|["'`>]+$/g, '');
  if (dense === '') throw badPaste(told`Paste the address the browser ended on, or the code.`);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(dense)) {
    const url = URL.parse(dense);
    if (url === null) throw badPaste(told`This is no address. Copy it again, from its beginning.`);
    return { parameters: url.searchParams, address: addressOf(url) };
  }
  const query = dense.slice(dense.indexOf('?') + 1);
  const isQuery = /(^|&)(code|error)=|^(state|iss)=/.test(query);
  if (isQuery) return { parameters: new URLSearchParams(query) };
  // What follows the code may have been copied with it.
  // A bare code may hold `+` as it is, and may be percent-encoded as it stood in the address.
  return { parameters: new URLSearchParams(`code=${dense.replaceAll('+', '%2B')}`), isCode: true };
}

/**
 * The response when it answers the sign-in of `state`: right state, right issuer, a code, no error.
 * @throws GatewayError in plain words; neither code nor state is in it
 */
function checkResponse(
  { parameters: given, address, isCode = false }: PastedResponse,
  { settings, state, redirectUri }: ExpectedResponse,
): string {
  if (address !== undefined && address !== addressOf(new URL(redirectUri))) {
    throw badPaste(told`This is not the address the sign-in leads to (${redirectUri}).`);
  }
  const parameters = new URLSearchParams(given);
  if (isCode) parameters.set('state', state);
  const issuer = parameters.get('iss');
  if (issuer !== null && !isExpectedIssuer(issuer, settings)) {
    throw badPaste(told`This answer is from another provider than the sign-in was started with.`);
  }
  const server = { issuer: issuer ?? settings.issuer ?? settings.authorizationUrl };
  const [code, ...more] = validate(server, settings.clientId, { parameters, state }).getAll('code');
  if (code === undefined || more.length > 0 || !CODE.test(code)) {
    throw badPaste(told`There is no usable code in this. Start the sign-in again.`);
  }
  return code;
}

interface ExpectedResponse {
  readonly state: string;
  readonly redirectUri: string;
  readonly settings: OAuthSettings;
}

function addressOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

function validate(
  server: { readonly issuer: string },
  clientId: string,
  { parameters, state }: { readonly parameters: URLSearchParams; readonly state: string },
): URLSearchParams {
  try {
    return validateAuthResponse(server, { client_id: clientId }, parameters, state);
  } catch (error) {
    if (error instanceof AuthorizationResponseError) throw badPaste(refusalWords(error.error));
    throw badPaste(told`This is not a proper answer to this sign-in. Start the sign-in again.`);
  }
}

/** RFC 6749 §4.1.2.1 and OpenID Connect Core §3.1.2.6. */
function refusalWords(code: string): Sentence {
  switch (code) {
    case 'access_denied':
      return told`The sign-in was declined at the provider. Start it again and agree.`;
    case 'invalid_scope':
      return told`The provider does not know a scope. Correct the scopes of this upstream.`;
    case 'unauthorized_client':
    case 'invalid_request':
    case 'unsupported_response_type':
      return told`The provider does not allow this sign-in. Check the client and its registered redirect address.`;
    case 'server_error':
    case 'temporarily_unavailable':
      return told`The provider has trouble at the moment. Try again in some minutes.`;
    case 'login_required':
    case 'consent_required':
    case 'interaction_required':
    case 'account_selection_required':
      return told`The provider wants you to sign in there first. Start the sign-in again.`;
    default:
      return told`The provider refused the sign-in. Start it again.`;
  }
}

function badPaste(message: Sentence): GatewayError {
  return invalidRequest('response', message);
}

interface AuthorizationRequest {
  readonly settings: OAuthSettings;
  readonly redirectUri: string;
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string | undefined;
  /** The e-mail that is expected to sign in. */
  readonly loginHint: string | undefined;
}

/** The configured extra parameters never replace what protects the sign-in. */
async function writeAuthorizationUrl(request: AuthorizationRequest): Promise<string> {
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
function chooseRedirectUri(settings: OAuthSettings, own: string): string {
  const redirectUri = settings.redirectUrl ?? own;
  if (isSafeEndpoint(redirectUri)) return redirectUri;
  throw invalidRequest(
    'redirectUri',
    told`The redirect address must be https, or http on this machine (http://127.0.0.1:<port>/\u2026). Set redirect_url of this upstream, or use the loopback address and paste what the browser ends on.`,
  );
}

export type SignIns = ReturnType<typeof createSignIns>;

interface StartSignIn {
  readonly upstreamId: string;
  /** Where this gateway takes callbacks; the configured `redirectUrl` wins. */
  readonly redirectUri: string;
  /** The console session: only it can complete the sign-in. */
  readonly owner: string;
  /** The id of the account to sign in anew. */
  readonly reauthenticate?: string | undefined;
  /** Names the account when the provider does not say its e-mail. */
  readonly label?: string | undefined;
}

export interface StartedSignIn {
  readonly authorizationUrl: string;
  readonly state: string;
  readonly redirectUri: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface CompleteSignIn {
  readonly owner: string;
  /** Needed with a bare code; an address or query has it in itself. */
  readonly state?: string | undefined;
  /** The callback's address or query, or what a person pasted: an address, a query, a code. */
  readonly response: string;
}

export interface SignInsOptions extends AccountPlacerOptions, EndpointOptions {
  readonly oauth: OAuthDirectory;
}

/** A sign-in that was started and not yet completed: taken once, by who started it, in time. */
interface PendingSignIn extends Pick<StartSignIn, 'owner' | 'upstreamId' | 'reauthenticate'> {
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly nonce: string | undefined;
  readonly label: string | undefined;
  /** By the monotonic clock; people are told the time of day. */
  readonly endsAt: number;
}

const LIFETIME_MS = 600_000;
const MAX_PER_OWNER = 16;
const MAX_TOTAL = 256;

export function createSignIns(options: SignInsOptions) {
  const { oauth, clock } = options;
  const pending = new Map<string, PendingSignIn>();
  const parts = {
    ...options,
    endpoint: new TokenEndpoint(options),
    placer: new AccountPlacer(options),
  };

  const dropExpired = (): void => {
    for (const [state, { endsAt }] of pending) {
      if (endsAt <= clock.monotonic()) pending.delete(state);
    }
  };

  /** The oldest of the same owner gives way first. */
  const add = (state: string, signIn: PendingSignIn): void => {
    dropExpired();
    const own = [...pending].filter(([, { owner }]) => owner === signIn.owner);
    const [oldest] = own;
    if (oldest !== undefined && own.length >= MAX_PER_OWNER) pending.delete(oldest[0]);
    if (pending.size >= MAX_TOTAL) {
      throw new GatewayError({
        kind: 'rate-limited',
        source: 'gateway',
        message: told`Too many sign-ins are under way. Try again in ten minutes.`,
      });
    }
    pending.set(state, signIn);
  };

  /** Undefined for unknown, used, expired and foreign ones alike. Whoever presents a state ends it. */
  const take = (state: string, owner: string): PendingSignIn | undefined => {
    dropExpired();
    const signIn = pending.get(state);
    pending.delete(state);
    return signIn?.owner === owner ? signIn : undefined;
  };

  return {
    /** @throws GatewayError */
    async start(request: StartSignIn): Promise<StartedSignIn> {
      const { upstreamId, owner, reauthenticate, label } = request;
      const settings = requireSettings(oauth, upstreamId);
      const account = reauthenticate && requireAccount(options, upstreamId, reauthenticate);
      const redirectUri = chooseRedirectUri(settings, request.redirectUri);
      const state = generateRandomState();
      const codeVerifier = generateRandomCodeVerifier();
      const nonce = settings.scopes.includes('openid') ? generateRandomNonce() : undefined;
      add(state, {
        ...{ owner, upstreamId, redirectUri, codeVerifier, nonce, reauthenticate },
        label: label?.trim() || undefined,
        endsAt: clock.monotonic() + LIFETIME_MS,
      });
      const expiresAt = clock.now() + LIFETIME_MS;
      const loginHint = account ? emailIn(account.record.label) : undefined;
      const parameters = { settings, redirectUri, state, codeVerifier, nonce, loginHint };
      const authorizationUrl = await writeAuthorizationUrl(parameters);
      return { authorizationUrl, state, redirectUri, expiresAt };
    },
    /**
     * Ends a sign-in, whatever comes of it: a code is good for one try.
     * @throws GatewayError in words for the person who signs in; StoreError
     */
    async complete({ owner, state: known, response }: CompleteSignIn): Promise<Placed> {
      const pasted = readPasted(response);
      const states = new Set([...pasted.parameters.getAll('state'), ...(known ? [known] : [])]);
      const [state] = states;
      if (state === undefined) {
        throw invalidRequest(
          'state',
          told`It is not clear which sign-in this belongs to. Paste the whole address the browser ended on.`,
          'missing-field',
        );
      }
      // Every state that was shown ends here, also when they contradict each other.
      const taken = [...states].map((one) => take(one, owner));
      const signIn = states.size === 1 ? taken[0] : undefined;
      if (signIn === undefined) {
        throw invalidRequest(
          'state',
          told`This sign-in is unknown, was used already, has expired, or was started in another session. Start it again.`,
        );
      }
      const settings = requireSettings(oauth, signIn.upstreamId);
      const { redirectUri } = signIn;
      const code = checkResponse(pasted, { state, redirectUri, settings });
      return finish(parts, { signIn, settings, code });
    },
  };
}

interface Parts extends SignInsOptions {
  readonly endpoint: TokenEndpoint;
  readonly placer: AccountPlacer;
}

interface Grant {
  readonly signIn: PendingSignIn;
  readonly settings: OAuthSettings;
  readonly code: string;
}

async function finish(parts: Parts, { signIn, settings, code }: Grant): Promise<Placed> {
  const { endpoint, placer, clock, book } = parts;
  const { upstreamId, redirectUri, codeVerifier, nonce, reauthenticate } = signIn;
  const account =
    reauthenticate === undefined ? undefined : requireAccount(parts, upstreamId, reauthenticate);
  const proxyUrl = account && book.proxyUrl(account.record.id);
  const reach = { signal: NEVER, proxyUrl };
  const sentAt = clock.now();
  try {
    const reply = await endpoint.exchangeCode(settings, { code, codeVerifier, redirectUri }, reach);
    const { refreshToken } = reply;
    if (refreshToken === undefined) throw noRefreshToken();
    const credential = toCredential(reply, { refreshToken, scopes: undefined }, sentAt);
    const question = { settings, reply, nonce, reach };
    const identity = await readIdentity(endpoint, clock.now(), question);
    if (identity.kind === 'rejected')
      throw badPaste(told`The sign-in was refused: ${identity.reason}.`);
    const email = identity.kind === 'email' ? identity.email : undefined;
    if (account !== undefined) {
      checkSameEmail(account, email);
      const signedIn = await placer.reauthenticate(account, credential);
      return { kind: 'reauthenticated', account: signedIn };
    }
    const label = email ?? signIn.label;
    if (label === undefined) throw namelessAccount();
    return await placer.place({ upstreamId, label, credential });
  } catch (error) {
    throw error instanceof OAuthFault ? failedAtProvider(error) : error;
  }
}

function noRefreshToken(): GatewayError {
  return badPaste(
    told`The provider gave no refresh token, so the account would end within the hour. Add access_type=offline and prompt=consent to extra_parameters of this upstream (or the scope offline_access, as the provider wants it), then sign in again.`,
  );
}

function namelessAccount(): GatewayError {
  return badPaste(
    told`The provider does not say whose account this is. Add the scopes openid and email or a userinfo_url to this upstream, or give a label.`,
  );
}

function failedAtProvider(fault: OAuthFault): GatewayError {
  const isRefusal = fault.kind === 'revoked' || fault.kind === 'refused';
  return new GatewayError({
    kind: isRefusal ? 'upstream-rejected' : 'upstream-unavailable',
    source: 'upstream',
    message: told`The sign-in could not be completed: ${fault.sentence}. Start it again.`,
    cause: fault,
  });
}

function requireSettings(oauth: OAuthDirectory, upstreamId: string): OAuthSettings {
  const settings = oauth.get(upstreamId);
  if (settings !== undefined && settings.clientId !== '') return settings;
  const message = settings
    ? told`Sign-in is not set up for "${upstreamId}". Add the client id of your own OAuth client under upstreams.<id>.oauth.`
    : told`Sign-in is not set up for "${upstreamId}". Add the client id and addresses of your own OAuth client under upstreams.<id>.oauth.`;
  throw invalidRequest('upstreamId', message);
}

function requireAccount({ book }: SignInsOptions, upstreamId: string, id: string): Account {
  const account = book.find(id);
  if (account?.origin === 'stored' && account.record.upstreamId === upstreamId) {
    if (account.record.kind === 'oauth') return account;
    throw invalidRequest('reauthenticate', told`This account does not sign in: it has a key.`);
  }
  throw invalidRequest(
    'reauthenticate',
    told`There is no such account of this upstream to sign in.`,
  );
}

/** A label that is no e-mail says nothing of who may sign in. */
function checkSameEmail({ record }: Account, email: string | undefined): void {
  const expected = emailIn(record.label);
  if (expected === undefined || email === undefined || isSameLabel(expected, email)) return;
  throw badPaste(
    told`You signed in as ${email}, but this account is ${expected}. Sign in as ${expected}, or add ${email} as an account of its own.`,
  );
}

function emailIn(label: string): string | undefined {
  return label.includes('@') ? label : undefined;
}
