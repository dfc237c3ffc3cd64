// Exports accounts with their credentials into a file sealed with a passphrase.

import { Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useExportAccounts } from '../../api/queries/accounts.ts';
import { sessionQuery } from '../../api/queries/session.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { readFieldError } from '../../components/read-field-error.ts';
import { saveFile } from '../../components/save-file.ts';
import { SecretInput } from '../../components/secret-input.tsx';
import { useToasts } from '../../components/use-toasts.tsx';
import { useCloseGuard, useUnsaved } from '../../components/use-unsaved.tsx';

export interface ExportDialogProps {
  /** Undefined: the dialog is closed. */
  readonly chosen: readonly string[] | 'all' | undefined;
  readonly onClose: () => void;
}

export function ExportDialog({ chosen, onClose }: ExportDialogProps) {
  const { t } = useTranslation();
  const { close, guard } = useCloseGuard(onClose);
  return (
    <Modal opened={chosen !== undefined} onClose={close} title={t('addAccount.exportTitle')}>
      {chosen !== undefined && guard(<ExportForm chosen={chosen} onClose={onClose} />)}
    </Modal>
  );
}

const MIN_LENGTH = 12;

interface ExportFormProps {
  readonly chosen: readonly string[] | 'all';
  readonly onClose: () => void;
}

function ExportForm({ chosen, onClose }: ExportFormProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const seal = useExportAccounts();
  const [passphrase, setPassphrase] = useState('');
  const [again, setAgain] = useState('');
  const [password, setPassword] = useState('');
  useUnsaved(passphrase !== '' && !seal.isPending);
  const needsPassword = useQuery(sessionQuery).data?.needsPassword === true;
  const isWrong = readFieldError(seal.error, 'password') !== undefined;
  const isShort = passphrase.length < MIN_LENGTH;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    seal.mutate(
      {
        passphrase,
        ...(needsPassword ? { password } : {}),
        ...(chosen === 'all' ? {} : { ids: chosen }),
      },
      {
        onSuccess({ sealed, count }) {
          const day = new Date().toISOString().slice(0, 10);
          saveFile(`isthmus-accounts-${day}.sealed`, sealed);
          toasts.done(t('addAccount.exported', { count }));
          onClose();
        },
      },
    );
  };
  return (
    <form className="form-stack" onSubmit={submit}>
      <p className="dialog-text">
        {chosen === 'all'
          ? t('addAccount.exportAllHint')
          : t('addAccount.exportHint', { count: chosen.length })}
      </p>
      <SecretInput
        label={t('addAccount.passphrase')}
        description={t('addAccount.passphraseHint')}
        autoComplete="new-password"
        data-autofocus
        value={passphrase}
        onChange={(event) => setPassphrase(event.currentTarget.value)}
        error={passphrase !== '' && isShort ? t('addAccount.passphraseShort') : undefined}
      />
      <SecretInput
        label={t('addAccount.passphraseAgain')}
        autoComplete="new-password"
        value={again}
        onChange={(event) => setAgain(event.currentTarget.value)}
        error={again !== '' && again !== passphrase ? t('addAccount.passphraseDiffers') : undefined}
      />
      {needsPassword && (
        <SecretInput
          label={t('addAccount.password')}
          description={t('addAccount.passwordHint')}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={isWrong ? t('signIn.wrong') : undefined}
        />
      )}
      {seal.error !== null && !isWrong && <ErrorNote error={seal.error} />}
      <div className="dialog-actions">
        <Button variant="default" onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button
          type="submit"
          loading={seal.isPending}
          disabled={isShort || again !== passphrase || (needsPassword && password === '')}
        >
          {t('addAccount.runExport')}
        </Button>
      </div>
    </form>
  );
}
