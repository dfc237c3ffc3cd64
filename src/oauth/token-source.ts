// The token source of the pool: what each account proves itself with now, whatever its kind.

import type { AccountBook } from '../accounts/account-book.ts';
import type { TokenSource } from '../accounts/token-source.ts';
import type { Clock } from '../lib/clock.ts';
import { type AccountTokens, type Credentials, createAccountTokens } from './account-tokens.ts';
import { unlessAborted } from './endpoint.ts';
import type { OAuthFetch } from './oauth-fetch.ts';
import type { OAuthDirectory, OAuthLog } from './oauth-settings.ts';
import { createRenewal } from './renewal.ts';
import { createTokenEndpoint } from './token-endpoint.ts';

export interface OAuthTokenSource extends TokenSource {
  /** To be called after an account's credential was replaced: by a sign-in, an import, a person. */
  forget(accountId: string): void;
  /** Waits for renewals under way: their answers may hold the only copy of a rotated token. */
  close(): Promise<void>;
}

export interface TokenSourceOptions {
  readonly book: Pick<
    AccountBook,
    'readCredential' | 'replaceCredential' | 'proxyUrl' | 'subscribe'
  >;
  readonly oauth: OAuthDirectory;
  readonly clock: Clock;
  readonly random: () => number;
  readonly fetch: OAuthFetch;
  readonly log: OAuthLog;
}

/**
 * Renewals are one at a time per account, limited to 10 s a call, and go on when a caller leaves.
 * Lifetimes count from `expires_in` on the monotonic clock: within 5 min ± 1 min of the end a token
 * in use is renewed in the background, within 90 s before it is given. Nothing is renewed unused.
 */
export function createTokenSource(options: TokenSourceOptions): OAuthTokenSource {
  const { book, oauth, clock, random, log } = options;
  const endpoint = createTokenEndpoint(options);
  const closing = new AbortController();
  const accounts = new Map<string, AccountTokens>();
  const unsubscribe = book.subscribe(({ kind, account }) => {
    if (kind === 'removed') accounts.delete(account.record.id);
  });

  const tokensOf = (id: string, upstreamId: string): AccountTokens => {
    const known = accounts.get(id);
    if (known !== undefined) return known;
    const subject = { accountId: id, upstreamId };
    const parts = { book, oauth, endpoint, clock, random, log, closing: closing.signal };
    const renewal = createRenewal(subject, parts);
    const tokens = createAccountTokens({ renewal, clock, random, log, subject });
    accounts.set(id, tokens);
    return tokens;
  };

  return {
    async accessFor({ record }, { refresh, refused, signal }) {
      signal.throwIfAborted();
      const given = tokensOf(record.id, record.upstreamId).access({ refresh, refused });
      const credentials: Credentials =
        given instanceof Promise ? await unlessAborted(signal, given) : given;
      return {
        accountId: record.id,
        ...credentials,
        projectId: record.projectId,
        proxyUrl: book.proxyUrl(record.id),
      };
    },
    forget: (accountId) => accounts.get(accountId)?.forget(),
    async close() {
      unsubscribe();
      closing.abort(new Error('the gateway is closing'));
      await Promise.all([...accounts.values()].map((tokens) => tokens.settled()));
    },
  };
}
