// Credentials of accounts that were never used, where clients write them down.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';

const MODEL = 'gemini-3-flash-preview';
const UNUSED = 'unused:Zx9-Qw8_Er7.Ty6-Ui5';
const ADDED = 'added.later:Mn3-Bv4_Cx5.Za6';
const SPELLINGS = [UNUSED, ADDED].flatMap((secret) => [
  secret,
  Buffer.from(`Bearer ${secret}`).toString('base64'),
  Buffer.from(`${secret}`).toString('hex'),
]);

let upstream: ScriptedUpstream;
let gateway: PoolApp;
beforeAll(async () => {
  upstream = await startScriptedUpstream([MODEL]);
  gateway = await startPoolApp({
    environment: {
      UPSTREAM_PROFILE: 'generic',
      ISTHMUS_UPSTREAM_VOCABULARY: 'real',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'key.one',
    },
    file: { proxy: { monitor: { bodies: true } } },
  });
  await addAccount('unused@example.org', UNUSED);
  await gateway.restart();
  await addAccount('added@example.org', ADDED);
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

function addAccount(label: string, key: string): Promise<unknown> {
  const account = { upstream: 'generic', kind: 'api-key', label, key, priority: -1 };
  return gateway.must('POST', '/api/accounts', account);
}

async function ask(model: string, text: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: text }] }),
  });
  await response.text();
  return response.status;
}

test('D2: a credential of an account that was never used is hidden in records with bodies', async () => {
  for (const spelling of SPELLINGS) expect(await ask(MODEL, `Look: ${spelling} !`)).toBe(200);
  await ask(UNUSED, 'A name that is a key.');
  // What waits is saved then.
  await gateway.restart();
  const list = await gateway.api('GET', '/api/requests');
  const ids = [...list.text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id);
  expect(ids.length).toBeGreaterThan(SPELLINGS.length);
  let seen = list.text;
  for (const id of ids) seen += (await gateway.api('GET', `/api/requests/${id}`)).text;
  seen += (await gateway.api('GET', '/api/accounts')).text;
  seen += gateway.logged.join('\n');
  expect(seen).toContain('Look: [redacted]');
  await gateway.stop();
  for (const name of readdirSync(gateway.folder)) {
    if (name.startsWith('isthmus.db')) seen += readFileSync(join(gateway.folder, name), 'latin1');
  }
  for (const secret of SPELLINGS) expect(seen).not.toContain(secret);
});
