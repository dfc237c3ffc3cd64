// No credential gets into anything the monitor keeps, shows or logs.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '../../src/cli/log.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { LogFiles } from '../../src/monitor/log-files.ts';
import { startApp } from '../support/app.ts';
import { createTestDatabase } from '../support/database.ts';
import { CLIENT_KEY, CONSOLE_PASSWORD, startMonitored } from '../support/monitored-gateway.ts';

const SERVER_SECRETS = [
  'canary-upstream-key-0123456789',
  'canary-refresh-token-0123456789',
  'canary-provider-key-0123456789',
  'canary-admin-password',
  CONSOLE_PASSWORD,
  CLIENT_KEY,
];

/** Credentials that come from outside in all the ways they do; each holds the word `canary`. */
const FORMS: readonly string[] = [
  ...SERVER_SECRETS,
  ...SERVER_SECRETS.map((secret) => Buffer.from(secret).toString('base64')),
  ...SERVER_SECRETS.map((secret) => Buffer.from(secret).toString('hex')),
  ...SERVER_SECRETS.map((secret) => secret.slice(0, 12)),
  'sk-canary0123456789abcdefghij',
  'Bearer canary0123456789abcdef',
  'https://user:canarypassword@proxy.example/',
  'https://host.example/x?key=canary0123456789&alt=sse',
  'https://host.example/x?access_token=canary0123456789',
  'isthmus_session=canary0123456789',
  '-----BEGIN PRIVATE KEY-----\ncanary0123456789\n-----END PRIVATE KEY-----',
];

/** What may be found of a canary: itself, or the beginning of another spelling of it. */
const TRACES: readonly string[] = [
  'canary',
  ...SERVER_SECRETS.map((secret) => Buffer.from(secret).toString('base64').slice(0, 12)),
  ...SERVER_SECRETS.map((secret) => Buffer.from(secret).toString('hex').slice(0, 12)),
];

test('no credential gets into the store, the feed, the metrics or the admin answers', async () => {
  expect(FORMS.length).toBeGreaterThanOrEqual(30);
  const database = await createTestDatabase();
  const gateway = await startMonitored({
    store: database.stores.requests,
    settings: { keepsBodies: true },
    secrets: SERVER_SECRETS,
  });
  const reader = gateway.monitor.feed.read('none-0');
  const chat = '/v1/chat/completions';
  for (const form of FORMS) {
    const header = form.replaceAll('\n', ' ');
    const body = {
      model: `alpha-3-flash ${form}`,
      messages: [{ role: 'user', content: `Say ${form}` }],
      user: form,
      metadata: { api_key: 'canary in a field', note: form },
    };
    const headers = { 'user-agent': header, 'x-session-id': header.slice(0, 200) };
    await (await gateway.ask(chat, body, headers)).text();
  }
  const named = { messages: [{ role: 'user', content: `Say ${FORMS.join(' and ')}` }] };
  await (await gateway.ask(chat, { ...named, model: 'alpha-3-flash', stream: true })).text();
  await (
    await gateway.ask(`/v1beta/models/${CLIENT_KEY}:generateContent?key=${CLIENT_KEY}`, {
      contents: [{ parts: [{ text: CLIENT_KEY }] }],
    })
  ).text();
  await expect
    .poll(async () => (await gateway.admin('/api/requests')).body.total)
    .toBe(FORMS.length + 2);
  const list = await gateway.admin('/api/requests?limit=200');
  const ids = [...list.text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id ?? '');
  const shown = [list.text, (await gateway.admin('/metrics')).text];
  shown.push((await gateway.admin('/api/overview')).text, gateway.warnings.join('\n'));
  shown.push((await gateway.admin('/api/usage?by=model')).text);
  for (const id of ids) shown.push(JSON.stringify(await gateway.monitor.find(id)));
  for (let count = 0; count < FORMS.length; count += 1) {
    const event = await reader.next();
    shown.push(JSON.stringify(event));
  }
  await gateway.close();
  await database.closeStores();
  shown.push(readFileSync(database.path, 'latin1'));
  await database.close();
  expect(shown.join('').split('[redacted]').length).toBeGreaterThan(FORMS.length);
  for (const trace of TRACES) {
    expect(shown.filter((text) => text.includes(trace)).map((text) => around(text, trace))).toEqual(
      [],
    );
  }
});

test('no credential gets into the access log from the path of what was refused', async () => {
  const app = await startApp({ environment: { API_KEY: CLIENT_KEY, AUTH_MODE: 'strict' } });
  const shown = ['canary-of-another-0123', CLIENT_KEY, 'sk-canary0123456789abcdefghij'];
  for (const key of shown) {
    const [wrong = ''] = shown;
    for (const path of [`/v1/models/${key}`, `/v1/responses/${'x'.repeat(240)}${key}`]) {
      await fetch(`${app.url}${path}`, { headers: { 'x-api-key': wrong } });
    }
  }
  const headers = { authorization: `Bearer ${CLIENT_KEY}` };
  const text = await (await fetch(`${app.url}/api/access-log`, { headers })).text();
  await app.close();
  expect(text.split('[redacted]')).toHaveLength(4);
  expect(text.match(/"unauthenticated"/g)).toHaveLength(6);
  for (const trace of TRACES) expect(text).not.toContain(trace);
});

test('no credential gets into the log files, and no character that fools readers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-logs-'));
  const files = new LogFiles({ folder, clock: createSystemClock(), onFault: () => {} });
  const output: string[] = [];
  const log = createLog({
    files,
    clock: createSystemClock(),
    isTerminal: true,
    output: { write: (text) => void output.push(text) },
  });
  const shapes = FORMS.slice(-7);
  for (const form of shapes) log.warn({ detail: form, err: new Error(`failed: ${form}`) }, form);
  log.info({ name: 'a\u202eb\u009b31m\u2028' }, 'line\r\nbreak \u001b[31mred');
  await files.flush();
  const [name = ''] = readdirSync(folder);
  const text = readFileSync(join(folder, name), 'utf8');
  const lines = text.trimEnd().split('\n');
  expect(lines).toHaveLength(shapes.length + 1);
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  for (const written of [text, output.join('')]) {
    expect(written).not.toContain('canary');
    expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2028]/u);
  }
  expect(output.at(-1)).toMatch(/INFO {2}line {2}break {2}\[31mred name=/);
  const page = await files.read({ limit: 2, search: 'BREAK' });
  expect(page.lines).toMatchObject([
    { level: 'info', fields: { name: 'a\u202eb\u009b31m\u2028' } },
  ]);
  await files.close();
  rmSync(folder, { recursive: true });
});

function around(text: string, trace: string): string {
  const at = text.indexOf(trace);
  return text.slice(Math.max(0, at - 80), at + 80);
}
