// Shows the secret of a new key: once, with the ways to use it.

import { Button, Modal, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CreatedKey as Created } from '../../../../src/admin/contract.ts';
import { CopyButton, CopyIcon } from '../../components/copy-button.tsx';
import { useConfirm } from '../../components/use-confirm.tsx';
import { SNIPPETS, type SnippetKind, writeSnippet } from './write-snippet.ts';
import '../../components/form.css';
import './page.css';

export interface CreatedKeyProps {
  readonly created: Created;
  readonly address: string;
  readonly onClose: () => void;
}

export function CreatedKey({ created, address, onClose }: CreatedKeyProps) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<SnippetKind>('curl');
  const { key, secret } = created;
  const confirm = useConfirm();
  const ask = (): void =>
    confirm({
      title: t('keys.notCopiedTitle'),
      body: <p className="dialog-text">{t('keys.notCopiedHint')}</p>,
      confirm: t('keys.closeAnyway'),
      onConfirm: onClose,
    });
  const [model] = key.allowedModels;
  const snippet = writeSnippet(kind, { address, secret, model });
  return (
    <Modal
      opened
      onClose={ask}
      size="lg"
      title={t('keys.createdTitle', { name: key.name })}
      closeOnClickOutside={false}
      // The secret is shown once: a slip of the finger must not take it away.
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <div className="form-stack">
        <p className="form-note">{t('keys.createdHint')}</p>
        <div className="secret-box">
          <code>{secret}</code>
          <CopyButton isFirst text={secret} label={t('keys.copySecret')} />
        </div>
        <div>
          <div className="snippet-head">
            <SegmentedControl
              size="xs"
              aria-label={t('keys.useIt')}
              value={kind}
              onChange={setKind}
              data={SNIPPETS.map(({ kind: value, label }) => ({ value, label }))}
            />
            <CopyIcon text={snippet} label={t('keys.copySnippet')} />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <pre className="snippet" tabIndex={0}>
            {snippet}
          </pre>
        </div>
        <div className="form-actions">
          <Button onClick={onClose}>{t('keys.done')}</Button>
        </div>
      </div>
    </Modal>
  );
}
