// Whose tokens these are, and their way into the account book: a new account, or one signed in anew.

import { type Account, type Credential, isSameLabel } from '../accounts/account.ts';
import type { AccountBook, NewAccount } from '../accounts/account-book.ts';
import { StoreError } from '../accounts/account-store.ts';
import { clientError, invalidRequest } from '../canonical/error.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { readClaims } from './account-file.ts';
import {
  OAuthFault,
  type OAuthSettings,
  type Reach,
  type TokenEndpoint,
  type TokenReply,
} from './oauth-client.ts';

/** `unknown`: the provider does not say · `rejected`: what it said cannot be trusted. */
export type Identity =
  | { readonly kind: 'email'; readonly email: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'rejected'; readonly reason: Sentence };

interface IdentityQuestion {
  readonly settings: OAuthSettings;
  readonly reply: TokenReply;
  /** What the authorization request asked to be repeated; undefined when there was none. */
  readonly nonce?: string | undefined;
  readonly reach: Reach;
}

type Claims = Readonly<Record<string, unknown>>;

/** Seconds the provider's clock may differ from ours. */
const TOLERANCE_SECONDS = 300;
const EMAIL = /^[^\s@\p{Cc}]{1,128}@[^\s@\p{Cc}]{1,190}$/u;

/** @throws OAuthFault when the UserInfo endpoint gives no answer; or the signal's reason */
export async function readIdentity(
  endpoint: TokenEndpoint,
  now: number,
  { settings, reply, nonce, reach }: IdentityQuestion,
): Promise<Identity> {
  const { idToken, accessToken } = reply;
  // The token came from the token endpoint itself, so its signature need not be checked (OpenID Connect Core
  // §3.1.3.7, step 6); its claims are.
  const claims = idToken === undefined ? {} : readClaims(idToken);
  if (claims === undefined) throw new OAuthFault('malformed', { status: 200 });
  const reason = idToken === undefined ? undefined : refuseClaims(claims, settings, { nonce, now });
  if (reason !== undefined) return { kind: 'rejected', reason };
  if (settings.userInfoUrl === undefined) return emailOf(claims);
  const person = await endpoint.readUserInfo(settings.userInfoUrl, accessToken, reach);
  // OpenID Connect Core §5.3.2: answers about another subject must not be used.
  if (claims.sub !== undefined && person.sub !== undefined && claims.sub !== person.sub) {
    return { kind: 'rejected', reason: told`its user info is that of another person` };
  }
  return emailOf(person);
}

function refuseClaims(
  { iss, aud, azp, exp, nonce: given }: Claims,
  settings: OAuthSettings,
  { nonce, now }: { readonly nonce: string | undefined; readonly now: number },
): Sentence | undefined {
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (typeof iss !== 'string' || !isExpectedIssuer(iss, settings)) {
    return told`its id token has another issuer; check "issuer" of this upstream`;
  }
  const isForOther = azp !== undefined && azp !== settings.clientId;
  if (isForOther || !audiences.includes(settings.clientId)) {
    return told`its id token is for another client`;
  }
  if (typeof exp !== 'number' || exp + TOLERANCE_SECONDS < now / 1000) {
    return told`its id token has expired`;
  }
  // A refresh gives an id token without the nonce of the sign-in before.
  if (nonce !== undefined && given !== nonce) return told`its id token belongs to another sign-in`;
  return undefined;
}

/** Some id tokens give the issuer without `https://`. */
export function isExpectedIssuer(issuer: string, settings: OAuthSettings): boolean {
  if (settings.issuer !== undefined) return issuer === settings.issuer;
  const url = URL.parse(issuer) ?? URL.parse(`https://${issuer}`);
  return url !== null && url.origin === new URL(settings.authorizationUrl).origin;
}

function emailOf(claims: Claims): Identity {
  const { email, email_verified: verified } = claims;
  if (typeof email !== 'string' || !EMAIL.test(email)) return { kind: 'unknown' };
  if (verified === false || verified === 'false') {
    return { kind: 'rejected', reason: told`the provider has not verified the e-mail` };
  }
  return { kind: 'email', email };
}

export interface Placed {
  readonly kind: 'added' | 'reauthenticated';
  readonly account: Account;
}

export interface AccountPlacerOptions {
  readonly book: Pick<
    AccountBook,
    'list' | 'find' | 'add' | 'apply' | 'replaceCredential' | 'proxyUrl'
  >;
  /** Told of each account whose credential was replaced: the token source's `forget`. */
  readonly onCredentialReplaced: (accountId: string) => void;
}

export class AccountPlacer {
  readonly #options: AccountPlacerOptions;

  constructor(options: AccountPlacerOptions) {
    this.#options = options;
  }

  find(upstreamId: string, label: string): Account | undefined {
    return this.#options.book
      .list()
      .find(({ record }) => record.upstreamId === upstreamId && isSameLabel(record.label, label));
  }

  /** @throws as `place` */
  async reauthenticate(account: Account, credential: Credential): Promise<Account> {
    checkCanTake(account, credential);
    const { book, onCredentialReplaced } = this.#options;
    const { id } = account.record;
    // Whatever stands there gives way: a renewal under way finds its own stale, and an unreadable
    // credential is just what a new sign-in is for.
    const replaced = await book.replaceCredential(id, credential, undefined);
    if (replaced === 'missing') {
      throw clientError('not-found', told`This account was removed meanwhile. Add it again.`);
    }
    onCredentialReplaced(id);
    book.apply(id, { kind: 'reauthenticated' });
    return book.find(id) ?? account;
  }

  /** Adds the account, or gives its credential to the one of that label. @throws GatewayError; StoreError */
  async place(account: NewAccount): Promise<Placed> {
    const { upstreamId, label, credential } = account;
    let same = this.find(upstreamId, label);
    if (same === undefined) {
      try {
        return { kind: 'added', account: await this.#options.book.add(account) };
      } catch (error) {
        same = this.find(upstreamId, label);
        const isTaken = error instanceof StoreError && error.fault === 'conflict';
        if (!isTaken) throw error;
        if (same === undefined) throw new StoreError('conflict', told`The label is taken.`);
      }
    }
    return { kind: 'reauthenticated', account: await this.reauthenticate(same, credential) };
  }
}

function checkCanTake({ origin, record }: Account, credential: Credential): void {
  if (origin !== 'stored') {
    const message = told`The account "${record.label}" comes with the ${origin} and cannot be changed here. Give another label.`;
    throw invalidRequest('account', message);
  }
  if (record.kind !== credential.kind) {
    const message = told`There is an account "${record.label}" of another kind (${record.kind}). Rename or remove it first.`;
    throw invalidRequest('account', message);
  }
}
