// Lets nobody further who has to sign in, and asks again when a session ends, without losing the page.

import { Loader, Modal } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConsoleSession } from '../../../src/admin/contract.ts';
import { sessionQuery } from '../api/queries/session.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { SignInForm } from '../pages/sign-in/form.tsx';
import { ElsewherePage, SignInPage } from '../pages/sign-in/page.tsx';

/** Above dialogs, drawers and their lists, below the notices. */
const ABOVE_DIALOGS = 350;

export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(sessionQuery);
  const [wasIn, setWasIn] = useState(false);
  const isOut = data !== undefined && isSignedOut(data);
  useEffect(() => {
    if (data !== undefined && !isSignedOut(data)) setWasIn(true);
  }, [data]);
  // Registered before any dialog of a page: Escape would close that below, with what was typed in it.
  useWindowEvent(
    'keydown',
    (event) => {
      if (isOut && wasIn && event.key === 'Escape') event.stopImmediatePropagation();
    },
    { capture: true },
  );

  if (data === undefined) {
    return (
      <main className="gate">
        {error === null ? (
          <Loader aria-label={t('common.loading')} />
        ) : (
          <ErrorNote
            error={error}
            title={t('common.failedToLoad')}
            onRetry={() => void refetch()}
          />
        )}
      </main>
    );
  }
  if (!data.signedIn && !data.needsPassword) return <ElsewherePage />;
  if (isOut && !wasIn) return <SignInPage />;
  return (
    <>
      {children}
      <Modal
        opened={isOut}
        onClose={() => undefined}
        zIndex={ABOVE_DIALOGS}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title={t('signIn.title')}
        centered
      >
        <p className="dialog-text">{t('shell.sessionOver')}</p>
        <SignInForm />
      </Modal>
    </>
  );
}

function isSignedOut({ signedIn, needsPassword }: ConsoleSession): boolean {
  return needsPassword && !signedIn;
}
