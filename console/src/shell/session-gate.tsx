// Lets nobody further who has to sign in, and asks again when a session ends, without losing the page.

import { Loader } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConsoleSession } from '../../../src/admin/contract.ts';
import { sessionQuery } from '../api/queries/session.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { later } from '../components/later.tsx';

const SignInPage = later(async () => (await import('../pages/sign-in/page.tsx')).SignInPage);
const ElsewherePage = later(async () => (await import('../pages/sign-in/page.tsx')).ElsewherePage);
const SessionOver = later(async () => (await import('./session-over.tsx')).SessionOver);

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
  if (!data.signedIn && !isOut) return <ElsewherePage />;
  if (isOut && !wasIn) return <SignInPage />;
  return (
    <>
      {children}
      <SessionOver isOver={isOut} />
    </>
  );
}

/** Whether signing in would help: without any password a page from elsewhere is shown nothing. */
function isSignedOut(session: ConsoleSession): boolean {
  const { signedIn, needsPassword, asksName, provider } = session;
  return !signedIn && (needsPassword || asksName || provider !== undefined);
}
