// Asks before something that cannot be taken back.

import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import type { ConfirmDialogProps } from './confirm-dialog.tsx';
import { later } from './later.tsx';
import { useEscapeFirst } from './use-escape-first.ts';

export type Question = ConfirmDialogProps['question'] & {
  readonly onConfirm: () => void;
  readonly onCancel?: () => void;
};

const ConfirmDialog = later(async () => (await import('./confirm-dialog.tsx')).ConfirmDialog);

const ConfirmContext = createContext<(question: Question) => void>(() => undefined);

export function ConfirmProvider({ children }: { readonly children: ReactNode }) {
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
  useEscapeFirst(isOpen ? cancel : undefined);
  return (
    <ConfirmContext value={ask}>
      {children}
      {question !== undefined && (
        <ConfirmDialog
          question={question}
          isOpen={isOpen}
          onCancel={cancel}
          onConfirm={() => {
            close();
            question.onConfirm();
          }}
        />
      )}
    </ConfirmContext>
  );
}

export function useConfirm(): (question: Question) => void {
  return useContext(ConfirmContext);
}
