// A dialog with something secret that is shown this once: it asks before it goes while nobody has taken it.

import { Button, Modal } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from './copy-button.tsx';
import { useConfirm } from './use-confirm.tsx';
import './form.css';
import './once-secret.css';

export interface OnceSecretProps {
  readonly title: string;
  readonly hint: string;
  readonly secret: string;
  /** On the button that copies it. */
  readonly copy: string;
  /** What else is shown of it. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

export function OnceSecret({ title, hint, secret, copy, children, onClose }: OnceSecretProps) {
  const { t } = useTranslation();
  const confirm = useConfirm();
  const [isTaken, setTaken] = useState(false);
  const close = (): void => {
    if (isTaken) {
      onClose();
      return;
    }
    confirm({
      title: t('keys.notCopiedTitle'),
      body: <p className="dialog-text">{t('keys.notCopiedHint')}</p>,
      confirm: t('keys.closeAnyway'),
      onConfirm: onClose,
    });
  };
  useWindowEvent('beforeunload', (event) => {
    if (!isTaken) event.preventDefault();
  });
  return (
    <Modal
      opened
      onClose={close}
      size="lg"
      title={title}
      closeOnClickOutside={false}
      // A slip of the finger must not even ask.
      closeOnEscape={false}
    >
      <div className="form-stack">
        <p className="form-note">{hint}</p>
        <div className="secret-box">
          <code>{secret}</code>
          <CopyButton isFirst text={secret} label={copy} onCopied={() => setTaken(true)} />
        </div>
        {children}
        <div className="form-actions">
          <Button onClick={onClose}>{t('keys.haveCopied')}</Button>
        </div>
      </div>
    </Modal>
  );
}
