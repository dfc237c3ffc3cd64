// Asks before something that cannot be taken back.

import { Button, Modal } from '@mantine/core';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { useTranslation } from 'react-i18next';

export interface Question {
  readonly title: string;
  readonly body: ReactNode;
  /** The word on the button that does it. */
  readonly confirm: string;
  readonly onConfirm: () => void;
  readonly onCancel?: () => void;
}

const ConfirmContext = createContext<(question: Question) => void>(() => undefined);

export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation();
  const [question, setQuestion] = useState<Question>();
  const [isOpen, setOpen] = useState(false);
  const ask = useCallback((asked: Question) => {
    setQuestion(asked);
    setOpen(true);
  }, []);
  const close = (): void => setOpen(false);
  const cancel = (): void => {
    close();
    question?.onCancel?.();
  };
  return (
    <ConfirmContext value={ask}>
      {children}
      <Modal
        opened={isOpen}
        onClose={cancel}
        // Above the drawer or dialog it asks about.
        zIndex={300}
        title={question?.title}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {question?.body}
        <div className="dialog-actions">
          <Button variant="default" onClick={cancel} data-autofocus>
            {t('common.cancel')}
          </Button>
          <Button
            color="red"
            onClick={() => {
              close();
              question?.onConfirm();
            }}
          >
            {question?.confirm}
          </Button>
        </div>
      </Modal>
    </ConfirmContext>
  );
}

export function useConfirm(): (question: Question) => void {
  return useContext(ConfirmContext);
}
