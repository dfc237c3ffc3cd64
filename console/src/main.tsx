// Starts the console in the browser.

import './styles/mantine.css';
import 'virtual:theme-variables.css';
import './styles/fonts.css';
import './styles/base.css';
import './styles/forced-colors.css';
import './styles/print.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { App } from './app.tsx';
import { keepFocusPlace } from './components/focus-place.ts';
import { loadPartsOnFirstSign } from './components/later.tsx';
import { loadRest, startTexts } from './i18n/choose-language.ts';
import { createConsoleRouter } from './routes.tsx';

const host = document.getElementById('root');
if (host === null) throw new Error('The page has no place for the console.');

const texts = await startTexts();
const isJoining = window.location.pathname === '/join';
// Its page shows what only pages of the signed-in console do otherwise.
if (isJoining) await loadRest(texts);
loadPartsOnFirstSign(window);
keepFocusPlace();
createRoot(host).render(
  <StrictMode>
    <App
      texts={texts}
      client={createQueryClient()}
      router={createConsoleRouter(texts)}
      isJoining={isJoining}
    />
  </StrictMode>,
);
