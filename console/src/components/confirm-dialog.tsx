// The dialog that asks before something that cannot be taken back.

import { Button, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useOpenedLater } from './later.tsx';

export interface ConfirmDialogProps {
  readonly question: {
    readonly title: string;
    readonly body: ReactNode;
    /** The word on the button that does it. */
    readonly confirm: string;
  };
  readonly isOpen: boolean;
  readonly onCancel: () => void;
  readonly onConfirm: () => void;
}

export function ConfirmDialog({ question, isOpen, onCancel, onConfirm }: ConfirmDialogProps) {
  const { t } = useTranslation();
  const isOpened = useOpenedLater(isOpen);
  return (
    <Modal
      opened={isOpened}
      onClose={onCancel}
      // Above the drawer or dialog it asks about.
      zIndex={300}
      title={question.title}
    >
      {question.body}
      <div className="dialog-actions">
        <Button variant="default" onClick={onCancel} data-autofocus>
          {t('common.cancel')}
        </Button>
        <Button color="red" onClick={onConfirm}>
          {question.confirm}
        </Button>
      </div>
    </Modal>
  );
}
