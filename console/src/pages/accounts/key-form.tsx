// Adds an account by its key.

import { Button, Checkbox, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { isKeyRefused, isRefusal } from '../../api/client.ts';
import { useAddAccount } from '../../api/queries/accounts.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { AddedAccount } from './added-account.tsx';
import { type AddFormProps, UpstreamSelect, useUpstream } from './upstream-select.tsx';
import { useReadyUpstreams } from './use-ready-upstreams.ts';

/** How keys begin that no other provider gives out, by the profile of their upstream. */
const KEY_STARTS = { anthropic: 'sk-ant-', openai: 'sk-proj-', 'gemini-api': 'AIza' } as const;

function providerOf(key: string): string | undefined {
  return Object.entries(KEY_STARTS).find(([, start]) => key.startsWith(start))?.[0];
}

export function KeyForm({ upstreams, isLoading, onDone }: AddFormProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const add = useAddAccount();
  const ready = useReadyUpstreams({ upstreams, isLoading });
  const [key, setKey] = useState('');
  const provider = providerOf(key.trim());
  const chosen = useUpstream(ready.offered, ({ profile }) =>
    provider === undefined ? profile !== 'sandbox' : profile === provider,
  );
  const [label, setLabel] = useState('');
  const [generate, setGenerate] = useState(false);
  const [added, setAdded] = useState<Account>();
  const isSending = ready.isChanging || add.isPending;
  useUnsaved((key !== '' || label !== '') && !isSending && added === undefined);
  /** A key is tried before it is stored; one that is refused only when that is said again. */
  const addTo = async (upstream: string, addAnyway: boolean) => {
    const undo = await ready.ensure(upstream);
    const named = label.trim() === '' ? {} : { label: label.trim() };
    const body = { upstream, kind: 'api-key', key: key.trim(), generate, addAnyway } as const;
    try {
      return await add.mutateAsync({ ...body, ...named });
    } catch (error) {
      if (isRefusal(error)) await undo();
      throw error;
    }
  };
  const send = (addAnyway: boolean): void =>
    settle(addTo(chosen.id, addAnyway), (account, isOpen) => {
      if (isOpen) setAdded(account);
      else toasts.done(t('addAccount.added', { name: account.label }));
    });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send(false);
  };
  const error = ready.error ?? add.error;
  if (added !== undefined) {
    const again = (): void => {
      setKey('');
      setLabel('');
      setAdded(undefined);
    };
    return <AddedAccount account={added} onMore={again} onDone={onDone} />;
  }
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
      <Checkbox
        label={t('addAccount.generate')}
        description={t('addAccount.generateHint')}
        checked={generate}
        onChange={(event) => setGenerate(event.currentTarget.checked)}
      />
      {error !== null && <ErrorNote error={error} />}
      <div className="dialog-actions">
        {isKeyRefused(add.error) && (
          <Button variant="default" loading={isSending} onClick={() => send(true)}>
            {t('addAccount.addAnyway')}
          </Button>
        )}
        <Button type="submit" loading={isSending} disabled={key.trim() === '' || chosen.id === ''}>
          {t('addAccount.addKey')}
        </Button>
      </div>
    </form>
  );
}
