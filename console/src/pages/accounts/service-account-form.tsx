// Adds an account by the key file of a service account.

import { Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AccountImport } from '../../../../src/admin/contract.ts';
import { ApiError } from '../../api/client.ts';
import { useImportAccounts } from '../../api/queries/accounts.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import { TextOrFile } from './text-or-file.tsx';
import { type AddFormProps, UpstreamSelect, useUpstream } from './upstream-select.tsx';

export function ServiceAccountForm({ upstreams, isLoading, onDone }: AddFormProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const say = useSentences();
  const settle = useSettle();
  const add = useImportAccounts();
  const chosen = useUpstream(upstreams, ({ profile }) => profile === 'vertex');
  const [text, setText] = useState('');
  useUnsaved(text !== '' && !add.isPending);
  const [refusal, setRefusal] = useState<unknown>();
  /** The name it got. @throws ApiError when it was not added */
  const addOne = async (body: AccountImport): Promise<string> => {
    const { results } = await add.mutateAsync(body);
    const failed = results.find(({ outcome }) => outcome === 'failed');
    if (failed !== undefined)
      throw refusalOf(failed.reason === null ? t('common.failed') : say(failed.reason));
    return results[0]?.label ?? '';
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setRefusal(undefined);
    if (!isJson(text)) {
      setRefusal(new Error(t('addAccount.notJson')));
      return;
    }
    const body: AccountImport = { format: 'service-accounts', upstream: chosen.id, text };
    settle(
      addOne(body),
      (name, isOpen) => {
        toasts.done(t('addAccount.added', { name }));
        if (isOpen) onDone();
      },
      setRefusal,
    );
  };
  return (
    <form className="form-stack" onSubmit={submit}>
      <UpstreamSelect upstreams={upstreams} isLoading={isLoading} chosen={chosen} />
      <TextOrFile
        label={t('addAccount.keyFile')}
        hint={t('addAccount.keyFileHint')}
        value={text}
        onChange={setText}
        accept=".json,application/json"
      />
      {refusal !== undefined && <ErrorNote error={refusal} />}
      <div className="dialog-actions">
        <Button
          type="submit"
          loading={add.isPending}
          disabled={text.trim() === '' || chosen.id === ''}
        >
          {t('addAccount.addServiceAccount')}
        </Button>
      </div>
    </form>
  );
}

function refusalOf(message: string): ApiError {
  return new ApiError({ status: 400, code: 'refused', message });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
