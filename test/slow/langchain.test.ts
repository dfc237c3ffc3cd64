// LangChain adds and drops other fields than the official SDKs: in every protocol, over every wire of the sandbox.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { runProgram } from '../support/run-program.ts';

const PACKAGES = [
  ...['@langchain/core@1.4.0', '@langchain/openai@1.6.0', '@langchain/anthropic@1.5.11'],
  ...['@langchain/google-genai@2.3.2', '@langchain/langgraph@1.7.3', 'zod@4'],
];
const KEY = 'sk-client-test-0123456789';
const DRIVER = 'langchain-driver.mjs';
const FOLDER = join(process.env.CLIENTS_DIR ?? join(tmpdir(), 'isthmus-clients'), 'langchain');

const isInstalled = install();
if (!isInstalled) console.warn('SKIPPED: the packages of LangChain could not be installed.');

describe.runIf(isInstalled)('LangChain', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ API_KEY: KEY });
    copyFileSync(join(import.meta.dirname, DRIVER), join(FOLDER, DRIVER));
  });
  afterAll(() => gateway.stop());

  test.each(['alpha-3-pro', 'sandbox-messages/claude-sonnet-4-6', 'sandbox-chat/gpt-5'])(
    'answers, streams, tool loops and structured output of %s reach it in each protocol',
    { timeout: 300_000 },
    async (model) => {
      const words = [join(FOLDER, DRIVER), gateway.url, KEY, model];
      const output = await runProgram(process.execPath, words);
      expect(JSON.parse(output)).toEqual({ failures: [], reads: 8 });
    },
  );
});

/** False where the registry does not give them. */
function install(): boolean {
  const mark = join(FOLDER, 'made-from.txt');
  const wanted = PACKAGES.join(' ');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return true;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}\n');
  const words = ['install', '--no-fund', '--no-audit', '--ignore-scripts', ...PACKAGES];
  if (spawnSync('npm', words, { cwd: FOLDER, stdio: 'ignore' }).status !== 0) return false;
  writeFileSync(mark, wanted);
  return true;
}
