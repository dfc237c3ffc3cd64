// Asks for the password once more, above whatever the page shows, when a change needs it.

import { Modal } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { onPasswordQuestion, type PasswordQuestion } from '../api/ask-password.ts';
import { PasswordForm } from '../components/password-form.tsx';

/** Above the dialogs and drawers that a change is made in, below the one for a session that is over. */
const ABOVE_DIALOGS = 340;

export function PasswordPrompt() {
  const { t } = useTranslation();
  /** The first is the one that is shown. */
  const [questions, setQuestions] = useState<readonly PasswordQuestion[]>([]);
  const [question] = questions;
  const [ended, setEnded] = useState(0);
  useEffect(() => onPasswordQuestion((next) => setQuestions((known) => [...known, next])), []);
  const end = (over: PasswordQuestion): void => {
    setQuestions((known) => known.filter((one) => one !== over));
    setEnded((count) => count + 1);
  };
  const giveUp = (): void => {
    if (question === undefined) return;
    question.giveUp();
    end(question);
  };
  // Registered before any dialog of a page: Escape would close that below, with what was typed in it.
  useWindowEvent(
    'keydown',
    (event) => {
      if (question === undefined || event.key !== 'Escape') return;
      event.stopImmediatePropagation();
      giveUp();
    },
    { capture: true },
  );
  return (
    <Modal
      opened={question !== undefined}
      onClose={giveUp}
      zIndex={ABOVE_DIALOGS}
      closeOnEscape={false}
      title={t('signIn.againTitle')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      centered
    >
      <p className="dialog-text">{t('signIn.againHint')}</p>
      {question !== undefined && (
        <Prompt key={ended} question={question} onEnd={() => end(question)} />
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
