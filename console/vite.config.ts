// How the console is built into `dist/`, and served while it is worked on.

import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { notePackages } from '../scripts/shipped-packages.mjs';
import { preloadFont } from './preload-font.ts';
import { themeVariables } from './theme-variables.ts';

const BASE =
  /node_modules\/(?:react|react-dom|scheduler|i18next|react-i18next|use-sync-external-store|clsx|@tanstack\/(?:router-core|react-router|history|query-core|react-query|store|react-store)|@mantine\/core\/esm\/core|@mantine\/core\/esm\/components\/(?:Transition|CloseButton|ActionIcon|Button|Loader|UnstyledButton|Alert|Skeleton|VisuallyHidden))\//;
/** What says what is wrong, on the overview and elsewhere, with all it needs: compressed in one file it is smaller. */
const TROUBLE =
  /console\/src\/(?:components\/(?:say-account-state|use-attention-facts)|pages\/overview\/say-family)\./;
const GATEWAY = 'http://127.0.0.1:8045';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    react(),
    themeVariables(),
    preloadFont(),
    notePackages({ root: resolve(import.meta.dirname, '..'), output: 'dist' }),
  ],
  build: {
    outDir: resolve(import.meta.dirname, '../dist'),
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the pages allows no inline script and no script from a data address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['index.html', 'me.html'].map((page) => resolve(import.meta.dirname, page)),
      output: {
        // What every page needs comes in one file: it is smaller compressed, and one request.
        codeSplitting: {
          groups: [
            { name: 'base', test: BASE },
            { name: 'trouble', test: TROUBLE },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': GATEWAY, '/sign-in': GATEWAY, '/oauth': GATEWAY },
  },
});
