// Alerts over the whole gateway: a webhook of the settings, a test, what is told when no account is left, and its log.

import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { serveOnLoopback } from '../support/loopback.ts';

let app: TestApp | undefined;
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await app?.close();
  app = undefined;
  for (const close of closing.splice(0)) await close();
});

async function startWebhook() {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => (body += data));
    request.on('end', () => {
      bodies.push(body);
      response.end();
    });
  });
  const { url, close } = await serveOnLoopback(server);
  closing.push(close);
  return { url: `${url}/canary-token`, bodies };
}

async function api(method: string, path: string, body?: object) {
  const response = await fetch(`${app?.url}${path}`, {
    method,
    headers: { authorization: 'Bearer the-password', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: text === '' ? undefined : JSON.parse(text) };
}

test('a webhook is tried, told what holds, and its address never shown again', async () => {
  const hook = await startWebhook();
  app = await startApp({ environment: { WEB_PASSWORD: 'the-password' } });
  const channels = { ops: { webhook: hook.url, format: 'slack' } };
  const saved = await api('PATCH', '/api/config/alerts', { channels, hold_seconds: 0 });
  expect([saved.status, saved.json.values.channels.ops.webhook]).toEqual([200, { isSet: true }]);
  const tried = await api('POST', '/api/alerts/test', { channel: 'ops' });
  expect(tried.json).toMatchObject({ outcome: 'delivered', status: 200, kinds: ['test'] });
  expect(hook.bodies).toEqual([expect.stringContaining('This is a test of the alerts')]);
  expect((await api('POST', '/api/alerts/test', { channel: 'other' })).status).toBe(404);

  const { accounts } = (await api('GET', '/api/accounts')).json;
  for (const { id } of accounts) await api('POST', `/api/accounts/${id}/disable`, {});
  // Whoever looks has it looked at.
  await api('GET', '/api/alerts');
  await expect.poll(() => hook.bodies.length).toBe(2);
  expect(hook.bodies[1]).toContain('No account is available');
  const shown = await api('GET', '/api/alerts');
  expect(shown.json).toMatchObject({
    channels: [{ name: 'ops', host: new URL(hook.url).host, format: 'slack' }],
    firing: [{ kind: 'no-usable-account', severity: 'error' }],
  });
  await expect.poll(async () => (await api('GET', '/api/alerts')).json.deliveries.length).toBe(2);
  expect(shown.text + saved.text + tried.text).not.toContain('canary-token');

  for (const { id } of accounts) await api('POST', `/api/accounts/${id}/enable`);
  await api('GET', '/api/alerts');
  await expect.poll(() => hook.bodies.length).toBe(3);
  expect(hook.bodies[2]).toContain('Resolved: No account is available');
});

test.each([
  'http://169.254.169.254/latest/meta-data',
  'https://user:secret@hooks.example/x',
  'ftp://hooks.example/x',
])('the address %s is refused', async (webhook) => {
  app = await startApp({ environment: { WEB_PASSWORD: 'the-password' } });
  const { status } = await api('PATCH', '/api/config/alerts', { channels: { x: { webhook } } });
  expect(status).toBe(400);
});
