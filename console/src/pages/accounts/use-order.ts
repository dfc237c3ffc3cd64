// Moves accounts up and down: the list follows at once, the gateway after a short rest of the keys.

import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { staleError } from '../../api/client.ts';
import { accountsQuery, useOrderAccounts } from '../../api/queries/accounts.ts';
import { useToasts } from '../../components/use-toasts.tsx';

const REST_MS = 700;

type Order = readonly string[];

export interface AccountOrder {
  /** In the order that was asked for last, until the gateway has answered. */
  readonly accounts: readonly Account[];
  /** Puts an account on a place, counted from 0 over all accounts. */
  move(account: Account, place: number): void;
  /** The last move in words, for those who do not see it. */
  readonly spoken: string;
}

export function useOrder(known: readonly Account[]): AccountOrder {
  const { t } = useTranslation();
  const toasts = useToasts();
  const client = useQueryClient();
  const { mutateAsync } = useOrderAccounts();
  const [spoken, setSpoken] = useState('');
  const [wanted, setWanted] = useState<Order>();
  const accounts = useMemo(
    () => (wanted === undefined ? known : sortBy(known, wanted)),
    [known, wanted],
  );
  const pending = useRef<{ readonly timer: number; readonly before: Order; readonly order: Order }>(
    undefined,
  );

  const put = useCallback(
    (order: Order, onDone: () => void): void => {
      const done = (): void => setWanted((now) => (now === order ? undefined : now));
      setWanted(order);
      void mutateAsync(order).then(onDone, toasts.failed).finally(done);
    },
    [mutateAsync, toasts],
  );

  const send = useCallback((): void => {
    if (pending.current === undefined) return;
    const { before, order, timer } = pending.current;
    pending.current = undefined;
    window.clearTimeout(timer);
    const undo = async (): Promise<void> => {
      const { accounts: found } = await client.fetchQuery({ ...accountsQuery, staleTime: 0 });
      if (!isStill(order, storedIds(found))) throw staleError();
      put(before, () => toasts.done(t('common.undone')));
    };
    put(order, () =>
      toasts.doneWithUndo(t('accounts.orderSaved'), () => void undo().catch(toasts.failed)),
    );
  }, [client, put, t, toasts]);

  // What was moved is kept, also when the page is left at once.
  const sendNow = useRef(send);
  sendNow.current = send;
  useEffect(() => () => sendNow.current(), []);

  const move = useCallback(
    (account: Account, place: number): void => {
      const stored = accounts.filter(({ origin }) => origin === 'stored').length;
      const target = Math.min(stored - 1, Math.max(0, place));
      const others = accounts.filter(({ id }) => id !== account.id);
      if (account.origin !== 'stored' || accounts.indexOf(account) === target) return;
      const order = storedIds(others.toSpliced(target, 0, account));
      setWanted(order);
      setSpoken(
        t('accounts.moved', { name: account.label, place: target + 1, total: accounts.length }),
      );
      window.clearTimeout(pending.current?.timer);
      pending.current = {
        order,
        before: pending.current?.before ?? storedIds(accounts),
        timer: window.setTimeout(() => sendNow.current(), REST_MS),
      };
    },
    [accounts, t],
  );
  return { accounts, move, spoken };
}

/** Accounts that the order does not name follow as they stand. */
function sortBy(accounts: readonly Account[], order: Order): readonly Account[] {
  const places = new Map(order.map((id, index) => [id, index]));
  const placeOf = ({ id }: Account): number => places.get(id) ?? places.size;
  return accounts.toSorted((left, right) => placeOf(left) - placeOf(right));
}

/** Accounts that came or went meanwhile are no other order. */
function isStill(order: Order, now: Order): boolean {
  const left = order.filter((id) => now.includes(id));
  const standing = now.filter((id) => order.includes(id));
  return left.join() === standing.join();
}

function storedIds(accounts: readonly Account[]): string[] {
  return accounts.filter(({ origin }) => origin === 'stored').map(({ id }) => id);
}
