// The dialog that asks for the password once more.

import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PasswordQuestion } from '../api/ask-password.ts';
import { useOpenedLater } from '../components/later.tsx';
import { PasswordForm } from '../components/password-form.tsx';

/** Above the dialogs and drawers that a change is made in, below the one for a session that is over. */
const ABOVE_DIALOGS = 340;

export interface PasswordDialogProps {
  /** Undefined while nothing is asked. */
  readonly question: PasswordQuestion | undefined;
  /** Another one for each question: each begins with an empty field. */
  readonly turn: number;
  readonly onGiveUp: () => void;
  readonly onEnd: (question: PasswordQuestion) => void;
}

export function PasswordDialog({ question, turn, onGiveUp, onEnd }: PasswordDialogProps) {
  const { t } = useTranslation();
  const isOpened = useOpenedLater(question !== undefined);
  return (
    <Modal
      opened={isOpened}
      onClose={onGiveUp}
      zIndex={ABOVE_DIALOGS}
      closeOnEscape={false}
      title={t('signIn.againTitle')}
      centered
    >
      <p className="dialog-text">{t('signIn.againHint')}</p>
      {question !== undefined && (
        <Prompt key={turn} question={question} onEnd={() => onEnd(question)} />
      )}
    </Modal>
  );
}

interface PromptProps {
  readonly question: PasswordQuestion;
  readonly onEnd: () => void;
}

function Prompt({ question, onEnd }: PromptProps) {
  const { t } = useTranslation();
  const [refusal, setRefusal] = useState<Error | null>(null);
  const [isPending, setPending] = useState(false);
  const tryPassword = async (password: string): Promise<void> => {
    setPending(true);
    const refused = await question.answer(password);
    setPending(false);
    if (refused === undefined) onEnd();
    else setRefusal(refused);
  };
  return (
    <PasswordForm
      error={refusal}
      isPending={isPending}
      action={t('signIn.again')}
      onPassword={(password) => void tryPassword(password)}
    />
  );
}
