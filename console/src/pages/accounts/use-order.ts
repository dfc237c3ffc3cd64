// Moves accounts up and down: the list follows at once, the gateway after a short rest of the keys.

import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account, AccountList } from '../../../../src/admin/contract.ts';
import { accountsQuery, useOrderAccounts } from '../../api/queries/accounts.ts';
import { useToasts } from '../../components/use-toasts.tsx';

const REST_MS = 700;

export interface AccountOrder {
  /** Puts an account on a place, counted from 0 over all accounts. */
  move(account: Account, place: number): void;
  /** The last move in words, for those who do not see it. */
  readonly spoken: string;
}

export function useOrder(accounts: readonly Account[]): AccountOrder {
  const { t } = useTranslation();
  const toasts = useToasts();
  const client = useQueryClient();
  const { mutate } = useOrderAccounts();
  const [spoken, setSpoken] = useState('');
  const pending = useRef<{ timer: number; readonly before: readonly string[] }>(undefined);

  const send = useCallback((): void => {
    const before = pending.current?.before ?? [];
    pending.current = undefined;
    const now = client.getQueryData(accountsQuery.queryKey)?.accounts ?? [];
    const order = storedIds(now);
    const onError = toasts.failed;
    const undo = (): void => mutate(before, { onError });
    mutate(order, {
      onError,
      onSuccess: () => toasts.doneWithUndo(t('accounts.orderSaved'), undo),
    });
  }, [client, mutate, t, toasts]);

  // What was moved is kept, also when the page is left at once.
  const sendNow = useRef(send);
  sendNow.current = send;
  useEffect(
    () => () => {
      if (pending.current === undefined) return;
      window.clearTimeout(pending.current.timer);
      sendNow.current();
    },
    [],
  );

  const move = (account: Account, place: number): void => {
    const stored = accounts.filter(({ origin }) => origin === 'stored').length;
    const target = Math.min(stored - 1, Math.max(0, place));
    const others = accounts.filter(({ id }) => id !== account.id);
    if (account.origin !== 'stored' || accounts.indexOf(account) === target) return;
    const moved = others.toSpliced(target, 0, account);
    void client.cancelQueries({ queryKey: accountsQuery.queryKey });
    client.setQueryData<AccountList>(accountsQuery.queryKey, { accounts: moved });
    setSpoken(
      t('accounts.moved', { name: account.label, place: target + 1, total: accounts.length }),
    );
    if (pending.current === undefined) {
      pending.current = { timer: 0, before: storedIds(accounts) };
    }
    window.clearTimeout(pending.current.timer);
    pending.current.timer = window.setTimeout(send, REST_MS);
  };
  return { move, spoken };
}

function storedIds(accounts: readonly Account[]): string[] {
  return accounts.filter(({ origin }) => origin === 'stored').map(({ id }) => id);
}
