// Once for all browser tests: builds the console into a folder of its own and starts one browser.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { findChromium } from './find-chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined where there is no browser: the tests are skipped. */
    browser: BrowserContext | undefined;
  }
}

interface BrowserContext {
  /** Where the running browser is reached. */
  readonly endpoint: string;
  /** The folder of the built console. */
  readonly distPath: string;
}

const ROOT = resolve(import.meta.dirname, '../..');

/** @returns what ends the browser and removes the build */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    console.error(
      '\n*** SKIPPED: test/browser needs a Chromium and found none. Install one, or name it in CHROMIUM_PATH. ***\n',
    );
    project.provide('browser', undefined);
    return async () => {};
  }
  const distPath = mkdtempSync(join(tmpdir(), 'isthmus-console-'));
  const [server] = await Promise.all([
    chromium.launchServer({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] }),
    buildConsole(distPath),
  ]);
  project.provide('browser', { endpoint: server.wsEndpoint(), distPath });
  return async () => {
    await server.close();
    rmSync(distPath, { recursive: true, force: true });
  };
}

/** In a process of its own, as the test runner's environment would make it a development build. */
async function buildConsole(distPath: string): Promise<void> {
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const config = join(ROOT, 'console/vite.config.ts');
  const options = ['build', '--config', config, '--outDir', distPath, '--emptyOutDir'];
  const { VITEST: _vitest, ...environment } = process.env;
  const child = spawn(process.execPath, [vite, ...options, '--logLevel', 'warn'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...environment, NODE_ENV: 'production' },
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('The console could not be built; the messages above say why.');
}
