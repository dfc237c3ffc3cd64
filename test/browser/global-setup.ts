// Once for all browser tests: takes a build of the console of their own and starts one browser.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
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

/** Every name below `attacker.example` leads to this machine, as a rebound one would. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--host-resolver-rules=MAP *.attacker.example 127.0.0.1',
  // Not every browser keeps public pages from asking this machine: the gateway has to.
  '--disable-features=LocalNetworkAccessChecks',
];
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
    chromium.launchServer({ executablePath, args: ARGUMENTS }),
    buildConsole(distPath),
  ]);
  project.provide('browser', { endpoint: server.wsEndpoint(), distPath });
  return async () => {
    await server.close();
    rmSync(distPath, { recursive: true, force: true });
  };
}

/**
 * The build of `dist/`, made anew where it is stale, and copied: nothing changes it while the tests run. In a
 * process of its own, as the test runner's environment would make it a development build.
 */
async function buildConsole(distPath: string): Promise<void> {
  const { VITEST: _vitest, ...environment } = process.env;
  const child = spawn(process.execPath, [join(ROOT, 'scripts/build.mjs'), 'console'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...environment, NODE_ENV: 'production' },
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('The console could not be built; the messages above say why.');
  cpSync(join(ROOT, 'dist'), distPath, { recursive: true });
}
