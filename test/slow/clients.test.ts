// Real clients against the running gateway: the scripts of a client kit, on the sandbox and on a strict upstream.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { type StrictUpstream, startStrictUpstream } from '../support/strict-upstream.ts';

/** Folder with the kit's run scripts; without it the suite says so and runs nothing. */
const KIT = resolve(
  process.env.CLIENT_KIT ?? join(import.meta.dirname, '../../../shared/clients/run'),
);
const CACHE = process.env.CLIENTS_DIR ?? join(tmpdir(), 'isthmus-clients');
const KEY = 'sk-client-test-0123456789';
const MINUTES = 60_000;

interface Run {
  readonly script: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const RUNS: readonly Run[] = [
  { script: 'sdk-openai.sh', environment: { STATEFUL: '1' } },
  { script: 'sdk-anthropic.sh' },
  { script: 'sdk-genai.sh' },
  { script: 'sdk-vercel.sh' },
  { script: 'codex.sh' },
  // Names that the client knows: it then brings its tools inside the input.
  { script: 'codex.sh', environment: { MODEL: 'gpt-5.5' } },
  { script: 'codex.sh', environment: { MODEL: 'gpt-5.6' } },
  { script: 'codex-builtin.sh' },
  { script: 'claude-code.sh' },
  { script: 'claude-code.sh', environment: { AUTH: 'key', MODEL: '' } },
  { script: 'gemini-cli.sh' },
  { script: 'gemini-cli.sh', environment: { MODEL: '' } },
];

const isKitThere = existsSync(join(KIT, 'sdk.sh'));
if (!isKitThere)
  console.warn(`SKIPPED: no client kit at ${KIT}; set CLIENT_KIT to its run folder.`);

describe.runIf(isKitThere)('against the sandbox', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ API_KEY: KEY });
  });
  afterAll(() => gateway.stop());
  runAll(() => gateway.url);
});

describe.runIf(isKitThere)('against the strict upstream, with the gemini-api profile', () => {
  let upstream: StrictUpstream;
  let gateway: RunningGateway;
  beforeAll(async () => {
    upstream = await startStrictUpstream(join(KIT, 'fake-upstream.mjs'));
    gateway = await startGateway({
      API_KEY: KEY,
      UPSTREAM_PROFILE: 'gemini-api',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: upstream.key,
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
  });
  runAll(() => gateway.url);
});

function runAll(gatewayUrl: () => string): void {
  for (const run of RUNS) {
    const settings = Object.entries(run.environment ?? {}).map(
      ([name, value]) => `${name}=${value}`,
    );
    const name = [run.script, ...settings].join(' ');
    test(name, { timeout: 10 * MINUTES }, async () => {
      const { code, output } = await runScript(run, gatewayUrl());
      expect(output, output).toMatch(/PASS/);
      expect(code, output).toBe(0);
    });
  }
}

function runScript(run: Run, url: string): Promise<{ code: number | null; output: string }> {
  mkdirSync(CACHE, { recursive: true });
  return new Promise((done) => {
    let output = '';
    const child = spawn(join(KIT, run.script), {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        // The programs come from the npm registry, which may stand behind a proxy with its own certificate.
        NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
        CLIENTS_DIR: CACHE,
        GATEWAY_URL: url,
        GATEWAY_KEY: KEY,
        ...run.environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const collect = (data: Buffer): void => {
      output += data;
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('exit', (code) => done({ code, output }));
  });
}
