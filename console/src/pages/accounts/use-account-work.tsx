// What a person does to one account, each with its notice and, where there is one, the way back.

import { Checkbox } from '@mantine/core';
import { useCallback, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import {
  type AccountAction,
  useAccountAction,
  useRemoveAccount,
} from '../../api/queries/accounts.ts';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useToasts } from '../../components/use-toasts.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';

export interface AccountWork {
  enable(account: Account): void;
  disable(account: Account): void;
  refresh(account: Account): void;
  /** All cooldowns of the account, or those of one model. */
  clearCooldowns(account: Account, model?: string): void;
  remove(account: Account): void;
  /** The account something is being done to. */
  readonly busyId: string | undefined;
}

/** The same as long as nothing is done: rows that have it are not made anew with their list. */
export function useAccountWork(): AccountWork {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { mutateAsync, isPending, variables } = useAccountAction();
  const remove = useRemove();
  const busyId = isPending ? variables.id : undefined;
  return useMemo(() => {
    // Not the callbacks of `mutate`: those of an action still under way are dropped by the next.
    const run = (given: AccountAction, onDone: () => void): void =>
      void mutateAsync(given).then(onDone, toasts.failed);
    const enable = (account: Account): void => {
      const { id, label: name } = account;
      run({ kind: 'enable', id }, () => toasts.done(t('accounts.enabled', { name })));
    };
    return {
      enable,
      remove,
      disable(account) {
        const { id, label: name } = account;
        run({ kind: 'disable', id }, () =>
          toasts.doneWithUndo(t('accounts.disabledNow', { name }), () => enable(account)),
        );
      },
      refresh({ id, label: name }) {
        run({ kind: 'refresh', id }, () => toasts.done(t('accounts.refreshed', { name })));
      },
      clearCooldowns({ id, label: name }, model) {
        run({ kind: 'clear-cooldowns', id, model }, () =>
          toasts.done(t('accounts.cleared', { name: model ?? name })),
        );
      },
      busyId,
    };
  }, [t, toasts, mutateAsync, remove, busyId]);
}

function useRemove(): (account: Account) => void {
  const { t } = useTranslation();
  const toasts = useToasts();
  const confirm = useConfirm();
  const say = useSentences();
  const { mutateAsync } = useRemoveAccount();
  const isRevoking = useRef(false);
  return useCallback(
    ({ id, label: name, kind }) => {
      isRevoking.current = false;
      confirm({
        title: t('accounts.removeTitle', { name }),
        body: (
          <div className="form-stack">
            <span>{t('accounts.removeHint')}</span>
            {kind === 'oauth' && (
              <Checkbox
                label={t('accounts.revoke')}
                description={t('accounts.revokeHint')}
                onChange={(event) => {
                  isRevoking.current = event.currentTarget.checked;
                }}
              />
            )}
          </div>
        ),
        confirm: t('common.remove'),
        onConfirm: () =>
          void mutateAsync({ id, revoke: isRevoking.current }).then((told) => {
            const { revocation, reason } = told ?? {};
            if (revocation === 'failed') {
              const why = reason === undefined ? '' : say(reason);
              toasts.warn(t('accounts.revokeFailed', { reason: why }));
            } else toasts.done(t('accounts.removed', { name }));
          }, toasts.failed),
      });
    },
    [t, toasts, confirm, say, mutateAsync],
  );
}
