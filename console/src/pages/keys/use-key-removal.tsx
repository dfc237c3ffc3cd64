// Removes keys once a person confirmed it: a removed key cannot be brought back, as nobody knows its secret.

import { useTranslation } from 'react-i18next';
import type { Key } from '../../../../src/admin/contract.ts';
import { useRemoveKey } from '../../api/queries/keys.ts';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useToasts } from '../../components/use-toasts.tsx';

export function useKeyRemoval(): (key: Key) => void {
  const { t } = useTranslation();
  const toasts = useToasts();
  const confirm = useConfirm();
  const { mutateAsync } = useRemoveKey();
  return ({ id, name }) =>
    confirm({
      title: t('keys.removeTitle', { name }),
      body: t('keys.removeHint'),
      confirm: t('common.remove'),
      onConfirm: () =>
        void mutateAsync(id).then(() => toasts.done(t('keys.removed', { name })), toasts.failed),
    });
}
