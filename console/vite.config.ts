// How the console is built into `dist/`, and served while it is worked on.

import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { notePackages } from '../scripts/shipped-packages.mjs';
import { themeVariables } from './theme-variables.ts';

const GATEWAY = 'http://127.0.0.1:8045';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    react(),
    themeVariables(),
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
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/api': GATEWAY, '/sign-in': GATEWAY, '/oauth': GATEWAY },
  },
});
