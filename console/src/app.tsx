// Puts together what every page has around it.

import { Loader, MantineProvider } from '@mantine/core';
import { useNotifications } from '@mantine/notifications';
import { type QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import type { i18n } from 'i18next';
import { type ReactNode, useEffect, useState } from 'react';
import { I18nextProvider, useTranslation } from 'react-i18next';
import type { ConsoleSession } from '../../src/admin/contract.ts';
import { onPasswordQuestion, type PasswordQuestion } from './api/ask-password.ts';
import { sessionQuery } from './api/queries/session.ts';
import { ErrorNote } from './components/error-note.tsx';
import { later } from './components/later.tsx';
import { NowProvider } from './components/now.tsx';
import { ConfirmProvider } from './components/use-confirm.tsx';
import { useEscapeFirst } from './components/use-escape-first.ts';
import type { createConsoleRouter } from './routes.tsx';
import { loadPage } from './shell/load-page.ts';
import { themeIn } from './theme.ts';

export interface AppProps {
  readonly texts: i18n;
  readonly client: QueryClient;
  readonly router: ReturnType<typeof createConsoleRouter>;
  /** Somebody came by the link of an invitation, who is not signed in. */
  readonly isJoining: boolean;
}

const Join = later(() => loadPage(async () => (await import('./pages/join/page.tsx')).JoinPage));

/** Neither variables nor classes are written into the page: the stylesheet has them. */
export function App({ texts, client, router, isJoining }: AppProps) {
  return (
    <I18nextProvider i18n={texts}>
      <MantineProvider
        theme={themeIn(texts)}
        defaultColorScheme="auto"
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <QueryClientProvider client={client}>
          <NowProvider>
            <PasswordPrompt />
            <ConfirmProvider>
              {isJoining ? (
                <Join />
              ) : (
                <SessionGate>
                  <RouterProvider router={router} />
                </SessionGate>
              )}
            </ConfirmProvider>
          </NowProvider>
          <Toasts />
        </QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>
  );
}

const ToastPlace = later(async () => (await import('./shell/toast-place.tsx')).ToastPlace);

function Toasts() {
  const { notifications } = useNotifications();
  const isAny = notifications.length > 0;
  const [wasAny, setWasAny] = useState(isAny);
  useEffect(() => {
    if (isAny) setWasAny(true);
  }, [isAny]);
  return wasAny ? <ToastPlace /> : null;
}

const PasswordDialog = later(
  async () => (await import('./shell/password-dialog.tsx')).PasswordDialog,
);

function PasswordPrompt() {
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
  useEscapeFirst(question && giveUp);
  if (asked === 0) return null;
  return <PasswordDialog question={question} turn={ended} onGiveUp={giveUp} onEnd={end} />;
}

const SignInPage = later(async () => (await import('./pages/sign-in/page.tsx')).SignInPage);
const ElsewherePage = later(async () => (await import('./pages/sign-in/page.tsx')).ElsewherePage);
const SessionOver = later(async () => (await import('./shell/session-over.tsx')).SessionOver);

function SessionGate({ children }: { readonly children: ReactNode }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(sessionQuery);
  const [wasIn, setWasIn] = useState(false);
  const isOut = data !== undefined && isSignedOut(data);
  useEffect(() => {
    if (data !== undefined && !isSignedOut(data)) setWasIn(true);
  }, [data]);
  useEscapeFirst(isOut && wasIn ? () => undefined : undefined);

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
