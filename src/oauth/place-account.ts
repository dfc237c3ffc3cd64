// Puts a proven credential into the account book: a new account, or the same one signed in anew.

import { type Account, type Credential, isSameLabel } from '../accounts/account.ts';
import type { AccountBook, NewAccount } from '../accounts/account-book.ts';
import { StoreError } from '../accounts/account-store.ts';

import { GatewayError, invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/localized-message.ts';

export interface Placed {
  readonly kind: 'added' | 'reauthenticated';
  readonly account: Account;
}

export type AccountPlacer = ReturnType<typeof createAccountPlacer>;

export interface AccountPlacerOptions {
  readonly book: Pick<
    AccountBook,
    'list' | 'find' | 'add' | 'apply' | 'replaceCredential' | 'proxyUrl'
  >;
  /** Told of each account whose credential was replaced: the token source's `forget`. */
  readonly onCredentialReplaced: (accountId: string) => void;
}

export function createAccountPlacer(options: AccountPlacerOptions) {
  const { book, onCredentialReplaced } = options;

  const find = (upstreamId: string, label: string): Account | undefined =>
    book
      .list()
      .find(({ record }) => record.upstreamId === upstreamId && isSameLabel(record.label, label));

  const reauthenticate = async (account: Account, credential: Credential): Promise<Account> => {
    checkCanTake(account, credential);
    const { id } = account.record;
    // Whatever stands there gives way: a renewal under way finds its own stale, and an unreadable
    // credential is just what a new sign-in is for.
    const replaced = await book.replaceCredential(id, credential, undefined);
    if (replaced === 'missing') throw removedMeanwhile();
    onCredentialReplaced(id);
    book.apply(id, { kind: 'reauthenticated' });
    return book.find(id) ?? account;
  };

  return {
    find,
    /** @throws as `place` */
    reauthenticate,
    /**
     * Adds the account; one of the same label in its upstream gets the credential instead.
     * @throws GatewayError `invalid-request` when that one cannot take it; StoreError
     */
    async place(account: NewAccount): Promise<Placed> {
      const existing = find(account.upstreamId, account.label);
      if (existing === undefined) {
        const added = await book.add(account).catch((error: unknown) => {
          if (error instanceof StoreError && error.fault === 'conflict') return undefined;
          throw error;
        });
        if (added !== undefined) return { kind: 'added', account: added };
      }
      const same = existing ?? find(account.upstreamId, account.label);
      if (same === undefined) throw new StoreError('conflict', told`The label is taken.`);
      return {
        kind: 'reauthenticated',
        account: await reauthenticate(same, account.credential),
      };
    },
  };
}

function checkCanTake({ origin, record }: Account, credential: Credential): void {
  if (origin !== 'stored') {
    throw invalidRequest(
      'account',
      told`The account "${record.label}" comes with the ${origin} and cannot be changed here. Give another label.`,
    );
  }
  if (record.kind !== credential.kind) {
    throw invalidRequest(
      'account',
      told`There is an account "${record.label}" of another kind (${record.kind}). Rename or remove it first.`,
    );
  }
}

function removedMeanwhile(): GatewayError {
  return new GatewayError({
    kind: 'not-found',
    source: 'client',
    message: told`This account was removed meanwhile. Add it again.`,
  });
}
