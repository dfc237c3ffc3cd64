// Asks for the password once more, above whatever the page shows, when a change needs it.

import { useWindowEvent } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { onPasswordQuestion, type PasswordQuestion } from '../api/ask-password.ts';
import { later } from '../components/later.tsx';

const PasswordDialog = later(async () => (await import('./password-dialog.tsx')).PasswordDialog);

export function PasswordPrompt() {
  /** The first is the one that is shown. */
  const [questions, setQuestions] = useState<readonly PasswordQuestion[]>([]);
  const [question] = questions;
  const [asked, setAsked] = useState(0);
  const [ended, setEnded] = useState(0);
  useEffect(
    () =>
      onPasswordQuestion((next) => {
        setQuestions((known) => [...known, next]);
        setAsked((count) => count + 1);
      }),
    [],
  );
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
  if (asked === 0) return null;
  return <PasswordDialog question={question} turn={ended} onGiveUp={giveUp} onEnd={end} />;
}
