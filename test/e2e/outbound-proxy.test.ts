// Calls of the gateway through a proxy of its own, to an upstream whose certificate is of a private authority.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestAuthority } from '../support/certificates.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';

const PASSWORD = 'canary-proxy-password';
const opened: (() => unknown)[] = [];
let folder: string;
let proxy: Awaited<ReturnType<typeof startConnectProxy>>;
/** The paths that the upstream was asked for. */
let served: string[];

const ANSWER = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'house-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const MODELS = { object: 'list', data: [{ id: 'house-model', object: 'model' }] };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-outbound-'));
  const authority = createTestAuthority();
  writeFileSync(join(folder, 'authority.pem'), authority.cert);
  served = [];
  const upstream = createServer(
    authority.issue({ names: ['models.example'] }),
    (request, response) => {
      served.push(request.url ?? '');
      request.resume();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.url === '/v1/models' ? MODELS : ANSWER));
    },
  );
  await new Promise<void>((resolve) => {
    upstream.listen(0, '127.0.0.1', resolve);
  });
  proxy = await startConnectProxy({
    routes: { 'models.example:443': (upstream.address() as AddressInfo).port },
    credential: `ann:${PASSWORD}`,
  });
  opened.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => upstream.close(),
    () => upstream.closeAllConnections(),
    () => proxy.close(),
  );
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const UPSTREAM = {
  UPSTREAM_PROFILE: 'openai-compatible',
  UPSTREAM_BASE_URL: 'https://models.example/v1',
  UPSTREAM_API_KEYS: 'sk-upstream-one,sk-upstream-two',
};
const trusted = (): Record<string, string> => ({
  NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
});
const proxyUrl = (): string => `http://ann:${PASSWORD}@127.0.0.1:${proxy.port}`;

async function start(environment: Readonly<Record<string, string>>): Promise<RunningGateway> {
  const gateway = await startGateway({ ...UPSTREAM, ISTHMUS_DATA_DIR: folder, ...environment });
  opened.push(() => gateway.stop());
  return gateway;
}

async function ask({ url }: RunningGateway): Promise<{ status: number; text: string; id: string }> {
  const body = { model: 'house-model', messages: [{ role: 'user', content: 'Hi' }] };
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const id = answer.headers.get('x-request-id') ?? '';
  return { status: answer.status, text: await answer.text(), id };
}

const read = async ({ url }: RunningGateway, path: string): Promise<string> =>
  (await fetch(`${url}${path}`)).text();

test('HTTPS_PROXY serves every call, with its password shown nowhere', async () => {
  const gateway = await start({ ...trusted(), HTTPS_PROXY: proxyUrl() });
  expect(await ask(gateway)).toMatchObject({
    status: 200,
    text: expect.stringContaining('Hello.'),
  });
  expect(served).toContain('/v1/models');
  expect(new Set(proxy.asked)).toEqual(new Set(['models.example:443']));
  const shown = await Promise.all(
    ['/api/upstreams', '/api/environment', '/api/config', '/api/overview'].map((path) =>
      read(gateway, path),
    ),
  );
  expect(shown.join('') + gateway.output()).not.toContain(PASSWORD);
  expect(JSON.parse(shown[0] ?? '').upstreams[0].proxy).toEqual({
    address: `http://127.0.0.1:${proxy.port}`,
    source: 'HTTPS_PROXY',
  });
});

test('the setting wins over the variables, counts at once, and its credential is sealed', async () => {
  const gateway = await start({ ...trusted(), https_proxy: 'http://127.0.0.1:9' });
  expect((await ask(gateway)).status).toBe(502);
  const changed = await fetch(`${gateway.url}/api/config/network`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      outbound_proxy: `http://127.0.0.1:${proxy.port}`,
      outbound_proxy_credential: `ann:${PASSWORD}`,
    }),
  });
  expect(await changed.json()).toMatchObject({
    values: { outbound_proxy_credential: { isSet: true } },
  });
  expect(await ask(gateway)).toMatchObject({ status: 200 });
  const file = readFileSync(join(folder, 'gui_config.json'), 'utf8');
  expect(file).toContain('"outbound_proxy_credential": "sealed:v1:');
  expect(file).not.toContain(PASSWORD);
});

test('hosts of NO_PROXY, and this machine, are called without it', async () => {
  const gateway = await start({
    ...trusted(),
    HTTPS_PROXY: proxyUrl(),
    NO_PROXY: 'internal.test, .example',
  });
  expect((await ask(gateway)).status).toBe(502);
  expect(proxy.asked).toEqual([]);
});

test('a proxy that refuses is what the error names, and no account is marked for it', async () => {
  const gateway = await start({ ...trusted(), HTTPS_PROXY: proxyUrl() });
  expect((await ask(gateway)).status).toBe(200);
  proxy.refuse(403);
  let record = '';
  for (let index = 0; index < 6; index += 1) {
    const refused = await ask(gateway);
    expect(refused.status).toBe(502);
    expect(refused.text).toContain('through the proxy of the gateway');
    record = await read(gateway, `/api/requests/${refused.id}`);
  }
  expect(record).toContain('gateway-proxy');
  expect(record).toContain('The proxy that HTTPS_PROXY names failed or refused');
  expect(record + gateway.output()).not.toContain(PASSWORD);
  const accounts = JSON.parse(await read(gateway, '/api/accounts')).accounts;
  expect(accounts).toHaveLength(2);
  for (const account of accounts) {
    expect(account).toMatchObject({ status: { kind: 'active' } });
    expect(JSON.stringify(account)).not.toContain('proxy of the gateway');
  }
  proxy.refuse(undefined);
  expect((await ask(gateway)).status).toBe(200);
});

test('a certificate of an unknown authority is refused with the way out', async () => {
  const gateway = await start({ HTTPS_PROXY: proxyUrl() });
  expect((await ask(gateway)).text).toContain('NODE_EXTRA_CA_CERTS');
  expect(served).toEqual([]);
});

test('an address that is no proxy keeps the gateway from starting', async () => {
  const bad = `ftp://ann:${PASSWORD}@proxy.example`;
  const error: unknown = await start({ HTTPS_PROXY: bad }).catch((reason: unknown) => reason);
  expect(String(error)).toMatch(/HTTPS_PROXY must be an address that starts with http:\/\//);
  expect(String(error)).not.toContain(PASSWORD);
});
