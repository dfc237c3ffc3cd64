// Accounts as the console reads and changes them; and what is done to them.

import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type {
  Account,
  AccountChange,
  AccountImport,
  AccountList,
  AccountTest,
  ExportedAccounts,
  ImportedAccounts,
  NewAccount,
  OrderedAccounts,
  Revocation,
  Upstreams,
} from '../../../../src/admin/contract.ts';
import { callApi, isStale, pathOf, read, withQuery } from '../client.ts';
import { useChange } from '../use-change.ts';

const PREFIX = '/api/accounts';
const ACCOUNTS_KEY = ['accounts'] as const;
const REFRESH_MS = 60_000;

export const accountsQuery = queryOptions({
  queryKey: ACCOUNTS_KEY,
  queryFn: read<AccountList>(PREFIX),
  refetchInterval: REFRESH_MS,
});

export const upstreamsQuery = queryOptions({
  queryKey: ['upstreams'],
  queryFn: read<Upstreams>('/api/upstreams'),
});

/** What a person does to one account; each answers with the account as it is then. */
export type AccountAction =
  | { readonly kind: 'enable' | 'disable' | 'refresh'; readonly id: string }
  | { readonly kind: 'clear-cooldowns'; readonly id: string; readonly model?: string | undefined };

export function useAccountAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: AccountAction) => runAction(action),
    onSuccess: (account) => putAccount(client, account),
  });
}

function runAction(action: AccountAction): Promise<Account> {
  const { kind, id } = action;
  const model = kind === 'clear-cooldowns' ? action.model : undefined;
  return callApi<Account>('POST', pathOf(PREFIX, id, kind), {
    ...(model === undefined ? {} : { body: { model } }),
  });
}

/** Runs one action on many accounts, a few at a time; says which were refused and why. */
export function useBulkAction() {
  return useChange(
    ({ kind, ids }: { readonly kind: BulkKind; readonly ids: readonly string[] }) =>
      runEach(ids, (id) => runBulk(kind, id)),
    ACCOUNTS_KEY,
  );
}

export type BulkKind = 'enable' | 'disable' | 'refresh' | 'remove';

export interface BulkResult {
  readonly done: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

const AT_ONCE = 4;

async function runEach(
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
): Promise<BulkResult> {
  const failures: { id: string; error: unknown }[] = [];
  const waiting = [...ids];
  const worker = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        await work(id);
      } catch (error) {
        failures.push({ id, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, worker));
  return { done: ids.length - failures.length, failures };
}

function runBulk(kind: BulkKind, id: string): Promise<unknown> {
  return kind === 'remove'
    ? callApi('DELETE', pathOf(PREFIX, id))
    : callApi('POST', pathOf(PREFIX, id, kind));
}

export function useAddAccount() {
  return useChange(
    (body: NewAccount) => callApi<Account>('POST', PREFIX, { body }),
    refreshAccounts,
  );
}

export interface AccountEdit {
  readonly account: Account;
  readonly change: AccountChange;
}

export function useChangeAccount() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ account, change }: AccountEdit) =>
      callApi<Account>('PATCH', pathOf(PREFIX, account.id), {
        body: change,
        revision: account.revision,
      }),
    onSuccess: (account) => putAccount(client, account),
    onError: (error) => {
      const read = refreshAccounts(client);
      // Whoever is told that it was read again finds it read; all else is told at once.
      return isStale(error) ? read : undefined;
    },
  });
}

export function useRemoveAccount() {
  return useChange(
    ({ id, revoke }: { readonly id: string; readonly revoke: boolean }) =>
      callApi<Revocation | undefined>(
        'DELETE',
        withQuery(pathOf(PREFIX, id), revoke ? { revoke: 'true' } : {}),
      ),
    refreshAccounts,
  );
}

export function useTestAccount() {
  return useChange(
    ({ id, generate }: { readonly id: string; readonly generate: boolean }) =>
      callApi<AccountTest>('POST', pathOf(PREFIX, id, 'test'), { body: { generate } }),
    refreshAccounts,
  );
}

export function useOrderAccounts() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (order: readonly string[]) =>
      callApi<OrderedAccounts>('POST', `${PREFIX}/order`, { body: { order } }),
    onSuccess: async ({ accounts }) => {
      // What is read just now may be older.
      await client.cancelQueries({ queryKey: ACCOUNTS_KEY });
      client.setQueryData<AccountList>(ACCOUNTS_KEY, { accounts });
    },
  });
}

export function useImportAccounts() {
  return useChange(
    (body: AccountImport) => callApi<ImportedAccounts>('POST', `${PREFIX}/import`, { body }),
    refreshAccounts,
  );
}

interface ExportOrder {
  readonly passphrase: string;
  /** Of the console, where it has one. */
  readonly password?: string;
  readonly ids?: readonly string[];
}

export function useExportAccounts() {
  return useMutation({
    mutationFn: (body: ExportOrder) =>
      callApi<ExportedAccounts>('POST', `${PREFIX}/export`, { body }),
  });
}

export function refreshAccounts(client: QueryClient): Promise<void> {
  void client.invalidateQueries({ queryKey: ['overview'] });
  void client.invalidateQueries({ queryKey: ['upstreams'] });
  return client.invalidateQueries({ queryKey: ACCOUNTS_KEY });
}

function putAccount(client: QueryClient, account: Account): void {
  client.setQueryData<AccountList>(ACCOUNTS_KEY, (known) =>
    known === undefined
      ? known
      : { accounts: known.accounts.map((one) => (one.id === account.id ? account : one)) },
  );
  void client.invalidateQueries({ queryKey: ['overview'] });
}
