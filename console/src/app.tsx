// Puts together what every page has around it.

import { MantineProvider } from '@mantine/core';
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import type { i18n } from 'i18next';
import { I18nextProvider } from 'react-i18next';
import { later } from './components/later.tsx';
import { NowProvider } from './components/now.tsx';
import { ConfirmProvider } from './components/use-confirm.tsx';
import type { createConsoleRouter } from './routes.tsx';
import { loadPage } from './shell/load-page.ts';
import { PasswordPrompt } from './shell/password-prompt.tsx';
import { SessionGate } from './shell/session-gate.tsx';
import { Toasts } from './shell/toasts.tsx';
import { THEME } from './theme.ts';

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
        theme={THEME}
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
