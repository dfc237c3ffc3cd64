// Adds an account by its key.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAddAccount, useTestAccount } from '../../api/queries/accounts.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import { type AddFormProps, UpstreamSelect, useUpstream } from './upstream-select.tsx';
import { useReadyUpstreams } from './use-ready-upstreams.ts';

export function KeyForm({ upstreams, isLoading, onDone }: AddFormProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const say = useSentences();
  const settle = useSettle();
  const add = useAddAccount();
  const test = useTestAccount();
  const ready = useReadyUpstreams({ upstreams, isLoading });
  const chosen = useUpstream(ready.offered, ({ profile }) => profile !== 'sandbox');
  const [key, setKey] = useState('');
  const [label, setLabel] = useState('');
  /** A key that was mistyped is told before a request meets it; the dialog is gone by then. */
  const tryNew = async (id: string, name: string): Promise<void> => {
    try {
      const { isUsable, steps } = await test.mutateAsync(id);
      const reason = say(steps.find(({ isGood }) => !isGood)?.message ?? '');
      if (!isUsable) toasts.warn(t('addAccount.addedBad', { name, reason }));
    } catch (error) {
      toasts.failed(error);
    }
  };
  const addTo = async (upstream: string) => {
    await ready.ensure(upstream);
    const named = label.trim() === '' ? {} : { label: label.trim() };
    return add.mutateAsync({ upstream, kind: 'api-key', key: key.trim(), ...named });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    settle(addTo(chosen.id), ({ id, label: name }, isOpen) => {
      toasts.done(t('addAccount.added', { name }));
      if (isOpen) onDone();
      void tryNew(id, name);
    });
  };
  const error = ready.error ?? add.error;
  return (
    <form className="form-stack" onSubmit={submit}>
      <UpstreamSelect
        upstreams={ready.offered}
        isLoading={isLoading}
        chosen={chosen}
        isNew={ready.isNew}
      />
      <SecretInput
        label={t('addAccount.key')}
        description={t('addAccount.keyHint')}
        autoComplete="off"
        required
        data-autofocus
        withAsterisk={false}
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <TextInput
        label={`${t('addAccount.name')} (${t('common.optional')})`}
        description={t('addAccount.nameKeyHint')}
        value={label}
        onChange={(event) => setLabel(event.currentTarget.value)}
      />
      {error !== null && <ErrorNote error={error} />}
      <div className="dialog-actions">
        <Button
          type="submit"
          loading={ready.isChanging || add.isPending}
          disabled={key.trim() === '' || chosen.id === ''}
        >
          {t('addAccount.addKey')}
        </Button>
      </div>
    </form>
  );
}
