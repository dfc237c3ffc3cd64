// Adds many accounts at once and says what became of each.

import { Button, Radio } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AccountImport, ImportedAccounts } from '../../../../src/admin/contract.ts';
import { useImportAccounts } from '../../api/queries/accounts.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import { TextOrFile } from './text-or-file.tsx';
import { type AddFormProps, UpstreamSelect, useUpstream } from './upstream-select.tsx';

const FORMATS = ['refresh-tokens', 'service-accounts', 'export'] as const;
type Format = (typeof FORMATS)[number];

export function ImportForm({ upstreams, isLoading, onDone }: AddFormProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const load = useImportAccounts();
  const [format, setFormat] = useState<Format>('refresh-tokens');
  const chosen = useUpstream(upstreams, ({ canSignIn, profile }) =>
    format === 'service-accounts' ? profile === 'vertex' : canSignIn,
  );
  const [text, setText] = useState('');
  useUnsaved(text !== '' && !load.isPending);
  const [passphrase, setPassphrase] = useState('');
  const isExport = format === 'export';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body: AccountImport = isExport
      ? { format, text, passphrase }
      : { format, text, upstream: chosen.id };
    settle(load.mutateAsync(body), ({ added, updated, failed }, isOpen) => {
      if (isOpen) return;
      const told = t('addAccount.imported', { added, updated, failed });
      if (failed > 0) toasts.warn(told);
      else toasts.done(told);
    });
  };
  if (load.data !== undefined) {
    const again = (): void => {
      load.reset();
      setText('');
    };
    return <Results imported={load.data} onAgain={again} onDone={onDone} />;
  }
  return (
    <form className="form-stack" onSubmit={submit}>
      <Radio.Group
        label={t('addAccount.format')}
        value={format}
        onChange={(value) => setFormat(FORMATS.find((one) => one === value) ?? format)}
      >
        <div className="radio-stack">
          {FORMATS.map((one) => (
            <Radio key={one} value={one} label={t(`addAccount.formats.${one}`)} />
          ))}
        </div>
      </Radio.Group>
      {!isExport && <UpstreamSelect upstreams={upstreams} isLoading={isLoading} chosen={chosen} />}
      <TextOrFile
        label={t('addAccount.text')}
        hint={t(`addAccount.formatHints.${format}`)}
        value={text}
        onChange={setText}
        accept=".json,.txt,.csv,application/json,text/plain"
      />
      {isExport && (
        <SecretInput
          label={t('addAccount.passphrase')}
          autoComplete="off"
          value={passphrase}
          onChange={(event) => setPassphrase(event.currentTarget.value)}
        />
      )}
      {load.error !== null && <ErrorNote error={load.error} />}
      <div className="dialog-actions">
        <Button
          type="submit"
          loading={load.isPending}
          disabled={text.trim() === '' || (isExport ? passphrase === '' : chosen.id === '')}
        >
          {t('addAccount.runImport')}
        </Button>
      </div>
    </form>
  );
}

interface ResultsProps {
  readonly imported: ImportedAccounts;
  readonly onAgain: () => void;
  readonly onDone: () => void;
}

const TONES = { added: 'ok', updated: 'ok', failed: 'bad' } as const;

function Results({ imported, onAgain, onDone }: ResultsProps) {
  const { t } = useTranslation();
  const say = useSentences();
  const { added, updated, failed, results } = imported;
  return (
    <div className="form-stack">
      <p className="dialog-text" role="status">
        <strong>{t('addAccount.imported', { added, updated, failed })}</strong>
      </p>
      <div className="import-results">
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">{t('addAccount.line')}</th>
              <th scope="col">{t('addAccount.name')}</th>
              <th scope="col">{t('addAccount.outcome')}</th>
            </tr>
          </thead>
          <tbody>
            {results.map(({ index, label, outcome, reason }) => (
              <tr key={index}>
                <td>{index}</td>
                <td className="wrap-anywhere">{label ?? '–'}</td>
                <td>
                  <StatusMark tone={TONES[outcome]}>
                    {t(`addAccount.outcomes.${outcome}`)}
                  </StatusMark>
                  {reason !== null && (
                    <div className="dimmed small wrap-anywhere">{say(reason)}</div>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="dialog-actions">
        <Button variant="default" onClick={onAgain}>
          {t('addAccount.importMore')}
        </Button>
        <Button onClick={onDone}>{t('common.close')}</Button>
      </div>
    </div>
  );
}
