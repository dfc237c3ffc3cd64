// Puts a proven credential into the account book: a new account, or the same one signed in anew.

import { type Account, type Credential, isSameLabel } from '../accounts/account.ts';
import type { AccountBook, NewAccount } from '../accounts/account-book.ts';
import { StoreError } from '../accounts/account-store.ts';
import { clientError, invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/localized-message.ts';

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

  /**
   * Adds the account; one of the same label in its upstream gets the credential instead.
   * @throws GatewayError `invalid-request` when that one cannot take it; StoreError
   */
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
