// The key of a client that is set up: made here in one click, or one that somebody has.

import { Button } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useCreateKey } from '../../api/queries/keys.ts';
import { useMay } from '../../api/queries/session.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useLeaveGuard } from '../../components/use-leave-guard.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import type { SetUpState } from './use-set-up.ts';

export interface ClientKeyProps {
  readonly state: SetUpState;
  /** Of the client: the key is named after it. */
  readonly name: string;
}

export function ClientKey({ state, name }: ClientKeyProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { mutateAsync, isPending } = useCreateKey();
  const { made, need, keyNames } = state;
  const mayCreate = useMay('operator');
  // The key is shown here alone, and once.
  useLeaveGuard(() => made !== undefined, {
    title: t('clients.leaveTitle'),
    body: <p className="dialog-text">{t('clients.leaveHint')}</p>,
    confirm: t('clients.leave'),
  });
  const create = (): void =>
    void mutateAsync({ name: freeName(name, keyNames) }).then(
      ({ key, secret }) => state.setMade({ id: key.id, name: key.name, secret }),
      toasts.failed,
    );
  return (
    <div className="client-key">
      <SecretInput
        label={t('clients.key')}
        description={t('clients.keyHint')}
        placeholder="sk-…"
        autoComplete="off"
        spellCheck={false}
        value={state.typedKey}
        onChange={({ currentTarget }) => state.typeKey(currentTarget.value)}
      />
      {made === undefined
        ? need !== 'never' &&
          mayCreate && (
            <Button
              variant={need === 'always' ? 'filled' : 'default'}
              leftSection={<IconKey size={16} />}
              loading={isPending}
              onClick={create}
            >
              {t('clients.createKey')}
            </Button>
          )
        : state.typedKey === made.secret && (
            <CopyButton isFirst text={made.secret} label={t('clients.copyKey')} />
          )}
    </div>
  );
}

/** The name itself, or with the first number that is free. */
function freeName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name;
  let number = 2;
  while (taken.includes(`${name} ${number}`)) number += 1;
  return `${name} ${number}`;
}
