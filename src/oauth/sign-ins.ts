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
import {
  type GatewayError,
  gatewayError,
  invalidRequest,
  upstreamError,
} from '../canonical/error.ts';
import type { SealedValues } from '../cluster/sealed-values.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { isSafeEndpoint } from '../lib/net.ts';
import {
  type EndpointOptions,
  NEVER,
  type OAuthDirectory,
  OAuthFault,
  type OAuthSettings,
  TokenEndpoint,
  toCredential,
} from './oauth-client.ts';
import {
  AccountPlacer,
  type AccountPlacerOptions,
  isExpectedIssuer,
  type Placed,
  readIdentity,
} from './place-account.ts';

/** What was pasted: scheme, host and path, where it was a whole address; a code alone knows no state. */
interface PastedResponse {
  readonly parameters: URLSearchParams;
  readonly address?: string | undefined;
  readonly isCode?: boolean;
}

const MAX_PASTED = 16_384;
const CODE = /^[\x21-\x7e]{1,4096}$/;

/** Reads an address, a query or a code, with blanks or quotes copied along. @throws GatewayError */
function readPasted(text: string): PastedResponse {
  if (text.length > MAX_PASTED) throw badPaste(told`This is too long for an address or a code.`);
  const dense = text.replace(/\s+/g, '').replace(/^["'`<]+|(?<!["'`>])["'`>]+$/g, '');
  if (dense === '') throw badPaste(told`Paste the address the browser ended on, or the code.`);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(dense)) {
    const url = URL.parse(dense);
    if (url === null) throw badPaste(told`This is no address. Copy it again, from its beginning.`);
    return { parameters: url.searchParams, address: addressOf(url) };
  }
  const query = dense.slice(dense.indexOf('?') + 1);
  const isQuery = /(^|&)(code|error)=|^(state|iss)=/.test(query);
  if (isQuery) return { parameters: new URLSearchParams(query) };
  // A bare code may hold `+` as it is, and may be percent-encoded as it stood in the address.
  return { parameters: new URLSearchParams(`code=${dense.replaceAll('+', '%2B')}`), isCode: true };
}

/** The response, if state and issuer are right and it has a code. @throws GatewayError without code and state */
function checkResponse(
  { parameters: given, address, isCode = false }: PastedResponse,
  settings: OAuthSettings,
  { state, redirectUri }: Readonly<Record<'state' | 'redirectUri', string>>,
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
  const client = { client_id: settings.clientId };
  let answer: URLSearchParams;
  try {
    answer = validateAuthResponse(server, client, parameters, state);
  } catch (error) {
    if (error instanceof AuthorizationResponseError) throw badPaste(refusalWords(error.error));
    throw badPaste(told`This is not a proper answer to this sign-in. Start the sign-in again.`);
  }
  const [code, ...more] = answer.getAll('code');
  if (code === undefined || more.length > 0 || !CODE.test(code)) {
    throw badPaste(told`There is no usable code in this. Start the sign-in again.`);
  }
  return code;
}

function addressOf({ origin, pathname }: URL): string {
  return origin + pathname;
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

/** The configured extra parameters never replace what protects the sign-in. @param loginHint who is expected */
async function writeAuthorizationUrl(
  settings: OAuthSettings,
  { state, redirectUri, codeVerifier, nonce }: PendingSignIn & { readonly state: string },
  loginHint: string | undefined,
): Promise<string> {
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

function chooseRedirectUri(settings: OAuthSettings, own: string): string {
  const redirectUri = settings.redirectUrl ?? own;
  if (isSafeEndpoint(redirectUri)) return redirectUri;
  const message = told`The redirect address must be https, or http on this machine (http://127.0.0.1:<port>/\u2026). Set redirect_url of this upstream, or use the loopback address and paste what the browser ends on.`;
  throw invalidRequest('redirectUri', message);
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

interface CompleteSignIn {
  readonly owner: string;
  /** Needed with a bare code; an address or query has it in itself. */
  readonly state?: string | undefined;
  /** The callback's address or query, or what a person pasted: an address, a query, a code. */
  readonly response: string;
}

interface SignInsOptions extends AccountPlacerOptions, EndpointOptions {
  readonly oauth: OAuthDirectory;
  /** Keeps what was started, for whichever process the browser comes back to. */
  readonly pending: Pick<SealedValues<PendingSignIn>, 'put' | 'take'>;
}

/** A sign-in that was started and not yet completed: taken once, by who started it, in time. */
export interface PendingSignIn extends StartSignIn {
  readonly codeVerifier: string;
  readonly nonce?: string | undefined;
}

/** One that this process started; how many there are is bounded for each process. */
interface StartedHere {
  readonly owner: string;
  /** By the monotonic clock; people are told the time of day. */
  readonly endsAt: number;
}

const LIFETIME_MS = 600_000;
const MAX_PER_OWNER = 16;
const MAX_TOTAL = 256;

export function createSignIns(options: SignInsOptions) {
  const { oauth, clock, book, pending } = options;
  const startedHere = new Map<string, StartedHere>();
  const endpoint = new TokenEndpoint(options);
  const placer = new AccountPlacer(options);

  const dropExpired = (): void => {
    for (const [state, { endsAt }] of startedHere) {
      if (endsAt <= clock.monotonic()) startedHere.delete(state);
    }
  };

  /** The oldest of the same owner gives way first. */
  const add = async (state: string, signIn: PendingSignIn): Promise<void> => {
    dropExpired();
    const own = [...startedHere].filter(([, { owner }]) => owner === signIn.owner);
    const [oldest] = own;
    if (oldest !== undefined && own.length >= MAX_PER_OWNER) await take(oldest[0], signIn.owner);
    if (startedHere.size >= MAX_TOTAL) {
      throw gatewayError(
        'rate-limited',
        told`Too many sign-ins are under way. Try again in ten minutes.`,
      );
    }
    startedHere.set(state, { owner: signIn.owner, endsAt: clock.monotonic() + LIFETIME_MS });
    await pending.put(state, signIn, LIFETIME_MS);
  };

  /** Undefined for unknown, used, expired and foreign ones alike. A state is used up by its first use. */
  const take = async (state: string, owner: string): Promise<PendingSignIn | undefined> => {
    startedHere.delete(state);
    const signIn = await pending.take(state);
    return signIn?.owner === owner ? signIn : undefined;
  };

  return {
    /** @throws GatewayError */
    async start(request: StartSignIn) {
      const { upstreamId, reauthenticate } = request;
      const settings = requireSettings(oauth, upstreamId);
      const account = reauthenticate && requireAccount(book, upstreamId, reauthenticate);
      const state = generateRandomState();
      const signIn = {
        ...request,
        redirectUri: chooseRedirectUri(settings, request.redirectUri),
        label: request.label?.trim() || undefined,
        codeVerifier: generateRandomCodeVerifier(),
        nonce: settings.scopes.includes('openid') ? generateRandomNonce() : undefined,
      };
      await add(state, signIn);
      const expiresAt = clock.now() + LIFETIME_MS;
      const loginHint = account ? emailIn(account.record.label) : undefined;
      const parameters = { ...signIn, state };
      const authorizationUrl = await writeAuthorizationUrl(settings, parameters, loginHint);
      return { authorizationUrl, state, redirectUri: signIn.redirectUri, expiresAt };
    },
    /** Ends a sign-in, even if it fails: a code works once. @throws GatewayError in plain words; StoreError */
    async complete({ owner, state: known, response }: CompleteSignIn): Promise<Placed> {
      const pasted = readPasted(response);
      const states = new Set([...pasted.parameters.getAll('state'), ...(known ? [known] : [])]);
      const [state] = states;
      if (state === undefined) {
        const message = told`It is not clear which sign-in this belongs to. Paste the whole address the browser ended on.`;
        throw invalidRequest('state', message, 'missing-field');
      }
      // Every state that was shown ends here, also when they contradict each other.
      const taken = await Promise.all([...states].map((one) => take(one, owner)));
      const signIn = states.size === 1 ? taken[0] : undefined;
      if (signIn === undefined) {
        const message = told`This sign-in is unknown, was used already, has expired, or was started in another session. Start it again.`;
        throw invalidRequest('state', message);
      }
      const settings = requireSettings(oauth, signIn.upstreamId);
      const { redirectUri } = signIn;
      const code = checkResponse(pasted, settings, { state, redirectUri });
      return finish(signIn, settings, code);
    },
  };

  async function finish(
    signIn: PendingSignIn,
    settings: OAuthSettings,
    code: string,
  ): Promise<Placed> {
    const { upstreamId, redirectUri, codeVerifier, nonce, reauthenticate } = signIn;
    const account =
      reauthenticate === undefined ? undefined : requireAccount(book, upstreamId, reauthenticate);
    const proxyUrl = account && book.proxyUrl(account.record.id);
    const reach = { signal: NEVER, proxyUrl };
    const sentAt = clock.now();
    try {
      const reply = await endpoint.exchangeCode(
        settings,
        { code, codeVerifier, redirectUri },
        reach,
      );
      const { refreshToken } = reply;
      if (refreshToken === undefined) throw badPaste(NO_REFRESH_TOKEN);
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
      if (label === undefined) throw badPaste(NAMELESS_ACCOUNT);
      return await placer.place({ upstreamId, label, credential });
    } catch (error) {
      throw error instanceof OAuthFault ? failedAtProvider(error) : error;
    }
  }
}

const NO_REFRESH_TOKEN = told`The provider gave no refresh token, so the account would end within the hour. Add access_type=offline and prompt=consent to extra_parameters of this upstream (or the scope offline_access, as the provider wants it), then sign in again.`;
const NAMELESS_ACCOUNT = told`The provider does not say whose account this is. Add the scopes openid and email or a userinfo_url to this upstream, or give a label.`;

function failedAtProvider(fault: OAuthFault): GatewayError {
  const isRefusal = fault.kind === 'revoked' || fault.kind === 'refused';
  return upstreamError(
    isRefusal ? 'upstream-rejected' : 'upstream-unavailable',
    told`The sign-in could not be completed: ${fault.sentence}. Start it again.`,
    { cause: fault },
  );
}

function requireSettings(oauth: OAuthDirectory, upstreamId: string): OAuthSettings {
  const settings = oauth.get(upstreamId);
  if (settings !== undefined && settings.clientId !== '') return settings;
  const message = settings
    ? told`Sign-in is not set up for "${upstreamId}". Add the client id of your own OAuth client under upstreams.<id>.oauth.`
    : told`Sign-in is not set up for "${upstreamId}". Add the client id and addresses of your own OAuth client under upstreams.<id>.oauth.`;
  throw invalidRequest('upstreamId', message);
}

function requireAccount(book: SignInsOptions['book'], upstreamId: string, id: string): Account {
  const account = book.find(id);
  if (account?.origin === 'stored' && account.record.upstreamId === upstreamId) {
    if (account.record.kind === 'oauth') return account;
    throw invalidRequest('reauthenticate', told`This account does not sign in: it has a key.`);
  }
  const message = told`There is no such account of this upstream to sign in.`;
  throw invalidRequest('reauthenticate', message);
}

/** A label that is no e-mail says nothing of who may sign in. */
function checkSameEmail({ record }: Account, email: string | undefined): void {
  const expected = emailIn(record.label);
  if (expected === undefined || email === undefined || isSameLabel(expected, email)) return;
  const message = told`You signed in as ${email}, but this account is ${expected}. Sign in as ${expected}, or add ${email} as an account of its own.`;
  throw badPaste(message);
}

function emailIn(label: string): string | undefined {
  return label.includes('@') ? label : undefined;
}
