// Signing in to an upstream: authorization code with PKCE and state, completed by callback or by paste.

import { generateRandomCodeVerifier, generateRandomNonce, generateRandomState } from 'oauth4webapi';
import type { Account } from '../accounts/account.ts';
import type { OAuthCredential } from '../accounts/credential.ts';
import { isSameLabel } from '../accounts/label-key.ts';
import { invalidRequest } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/told.ts';
import { checkResponse, readPasted } from './authorization-response.ts';
import { chooseRedirectUri, writeAuthorizationUrl } from './authorization-url.ts';
import { createIdentityReader, type IdentityReader } from './identity.ts';
import { OAuthFault } from './oauth-fault.ts';
import type { OAuthFetch } from './oauth-fetch.ts';
import type { OAuthDirectory, OAuthLog, OAuthSettings } from './oauth-settings.ts';
import { createPendingSignIns, type PendingSignIn } from './pending-sign-ins.ts';
import {
  type AccountPlacer,
  type AccountPlacerOptions,
  createAccountPlacer,
  type Placed,
} from './place-account.ts';
import {
  failedAtProvider,
  missingState,
  namelessAccount,
  noRefreshToken,
  refused,
  tooManyPending,
  unknownSignIn,
} from './sign-in-errors.ts';
import { createTokenEndpoint, type TokenEndpoint, type TokenReply } from './token-endpoint.ts';

export interface SignIns {
  /** @throws GatewayError */
  start(request: StartSignIn): Promise<StartedSignIn>;
  /**
   * Ends a sign-in, whatever comes of it: a code is good for one try.
   * @throws GatewayError in words for the person who signs in; StoreError
   */
  complete(request: CompleteSignIn): Promise<Placed>;
}

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

export interface SignInsOptions extends AccountPlacerOptions {
  readonly oauth: OAuthDirectory;
  readonly fetch: OAuthFetch;
  readonly clock: Clock;
  readonly log: OAuthLog;
}

interface Parts {
  readonly options: SignInsOptions;
  readonly endpoint: TokenEndpoint;
  readonly identities: IdentityReader;
  readonly placer: AccountPlacer;
}

const NEVER = new AbortController().signal;

export function createSignIns(options: SignInsOptions): SignIns {
  const endpoint = createTokenEndpoint(options);
  const identities = createIdentityReader({ endpoint, clock: options.clock });
  const parts = { options, endpoint, identities, placer: createAccountPlacer(options) };
  const pending = createPendingSignIns(options.clock);
  return {
    async start({ upstreamId, redirectUri: own, owner, reauthenticate, label }) {
      const settings = requireSettings(options.oauth, upstreamId);
      const account = reauthenticate && requireAccount(options, { upstreamId, reauthenticate });
      const redirectUri = chooseRedirectUri(settings, own);
      const state = generateRandomState();
      const codeVerifier = generateRandomCodeVerifier();
      const nonce = settings.scopes.includes('openid') ? generateRandomNonce() : undefined;
      const added = pending.add(state, {
        owner,
        upstreamId,
        redirectUri,
        codeVerifier,
        nonce,
        reauthenticate,
        label: label?.trim() || undefined,
      });
      if (added === undefined) throw tooManyPending();
      const loginHint = account ? emailIn(account.record.label) : undefined;
      const request = { settings, redirectUri, state, codeVerifier, nonce, loginHint };
      const authorizationUrl = await writeAuthorizationUrl(request);
      return { authorizationUrl, state, redirectUri, expiresAt: added.expiresAt };
    },
    async complete({ owner, state: known, response }) {
      const pasted = readPasted(response);
      const states = new Set([...pasted.parameters.getAll('state'), ...(known ? [known] : [])]);
      const [state] = states;
      if (state === undefined) throw missingState();
      // Every state that was shown ends here, also when they contradict each other.
      const taken = [...states].map((one) => pending.take(one, owner));
      const signIn = states.size === 1 ? taken[0] : undefined;
      if (signIn === undefined) throw unknownSignIn();
      const settings = requireSettings(options.oauth, signIn.upstreamId);
      const { redirectUri } = signIn;
      const code = checkResponse(pasted, { state, redirectUri, settings });
      return finish(parts, { signIn, settings, code });
    },
  };
}

async function finish(
  { options, endpoint, identities, placer }: Parts,
  grant: {
    readonly signIn: PendingSignIn;
    readonly settings: OAuthSettings;
    readonly code: string;
  },
): Promise<Placed> {
  const { signIn, settings, code } = grant;
  const { upstreamId, redirectUri, codeVerifier, nonce, reauthenticate } = signIn;
  const account =
    reauthenticate === undefined
      ? undefined
      : requireAccount(options, { upstreamId, reauthenticate });
  const proxyUrl = account && options.book.proxyUrl(account.record.id);
  const reach = { signal: NEVER, proxyUrl };
  const sentAt = options.clock.now();
  try {
    const reply = await endpoint.exchangeCode(settings, { code, codeVerifier, redirectUri }, reach);
    const credential = credentialOf(reply, sentAt);
    const identity = await identities.read({ settings, reply, nonce, reach });
    if (identity.kind === 'rejected')
      throw refused(told`The sign-in was refused: ${identity.reason}.`);
    const email = identity.kind === 'email' ? identity.email : undefined;
    if (account !== undefined) {
      checkSameEmail(account, email);
      return {
        kind: 'reauthenticated',
        account: await placer.reauthenticate(account, credential),
      };
    }
    const label = email ?? signIn.label;
    if (label === undefined) throw namelessAccount();
    return await placer.place({ upstreamId, label, credential });
  } catch (error) {
    throw error instanceof OAuthFault ? failedAtProvider(error) : error;
  }
}

function credentialOf(reply: TokenReply, sentAt: number): OAuthCredential {
  const { refreshToken, accessToken, lifetimeMs, scopes } = reply;
  if (refreshToken === undefined) throw noRefreshToken();
  return { kind: 'oauth', refreshToken, accessToken, expiresAt: sentAt + lifetimeMs, scopes };
}

function requireSettings(oauth: OAuthDirectory, upstreamId: string): OAuthSettings {
  const settings = oauth.get(upstreamId);
  if (settings !== undefined && settings.clientId !== '') return settings;
  if (settings !== undefined) {
    throw invalidRequest(
      'upstreamId',
      told`Sign-in is not set up for "${upstreamId}". Add the client id of your own OAuth client under upstreams.<id>.oauth.`,
    );
  }
  throw invalidRequest(
    'upstreamId',
    told`Sign-in is not set up for "${upstreamId}". Add the client id and addresses of your own OAuth client under upstreams.<id>.oauth.`,
  );
}

function requireAccount(
  { book }: SignInsOptions,
  { upstreamId, reauthenticate }: { readonly upstreamId: string; readonly reauthenticate: string },
): Account {
  const account = book.find(reauthenticate);
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
  throw refused(
    told`You signed in as ${email}, but this account is ${expected}. Sign in as ${expected}, or add ${email} as an account of its own.`,
  );
}

function emailIn(label: string): string | undefined {
  return label.includes('@') ? label : undefined;
}
