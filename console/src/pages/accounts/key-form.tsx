// Adds an account by its key.

import { Button, Checkbox, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { isKeyRefused, isRefusal } from '../../api/client.ts';
import { upstreamsQuery, useAddAccount } from '../../api/queries/accounts.ts';
import { useChangeSection } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { AddedAccount } from './added-account.tsx';
import {
  type AddFormProps,
  type Upstream,
  UpstreamSelect,
  useUpstream,
} from './upstream-select.tsx';

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

/** They know their address, and a key is all they want. */
const READY_PROFILES = ['anthropic', 'openai', 'gemini-api'] as const;

interface ReadyUpstreams {
  /** Those there are, before those that are there as soon as an account comes to them; sandboxes last. */
  readonly offered: readonly Upstream[];
  readonly isChanging: boolean;
  readonly error: Error | null;
  isNew(id: string): boolean;
  /**
   * Writes it into the settings where they do not name it yet.
   * @returns what takes it out again
   * @throws when that is refused
   */
  ensure(id: string): Promise<() => Promise<void>>;
}

/** Of one upstream of the settings: what it is before and afterwards; null where it is not there. */
interface Change {
  readonly id: string;
  readonly from: object | null;
  readonly to: object | null;
}

function useReadyUpstreams({
  upstreams,
  isLoading,
}: Pick<AddFormProps, 'upstreams' | 'isLoading'>): ReadyUpstreams {
  const client = useQueryClient();
  const change = useChangeSection('upstreams');
  // Ends when the list is read again: until then it says what is there of the time before.
  const write = useMutation({
    mutationFn: async ({ id, from, to }: Change) => {
      await change.mutateAsync({ patch: { [id]: to }, onlyWhile: { [id]: from } });
      await client.invalidateQueries({ queryKey: upstreamsQuery.queryKey });
    },
  });
  const fresh = isLoading ? [] : listReady(upstreams);
  const isNew = (id: string): boolean => fresh.some((upstream) => upstream.id === id);
  return {
    offered: [...upstreams, ...fresh].sort(
      (one, other) => Number(one.profile === 'sandbox') - Number(other.profile === 'sandbox'),
    ),
    isChanging: write.isPending,
    error: write.error,
    isNew,
    async ensure(id) {
      const upstream = fresh.find((one) => one.id === id);
      if (upstream === undefined) return async () => {};
      const { profile } = upstream;
      await write.mutateAsync({ id, from: null, to: { profile } });
      return () => write.mutateAsync({ id, from: { profile }, to: null });
    },
  };
}

function listReady(upstreams: readonly Upstream[]): readonly Upstream[] {
  return READY_PROFILES.filter(
    (ready) => !upstreams.some(({ id, profile }) => id === ready || profile === ready),
  ).map((id) => ({
    id,
    profile: id,
    canSignIn: false,
    redirectUrl: null,
    proxy: null,
    accounts: 0,
  }));
}
