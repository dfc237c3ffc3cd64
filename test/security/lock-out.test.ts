// No change of the settings shuts out whoever makes it.

import { afterEach, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { readSentence } from '../../src/lib/localized-message.ts';
import { type StartOptions, startApp, type TestApp } from '../support/app.ts';

const PASSWORD = 'the-password-of-this-test';
const VISITOR = '203.0.113.9';

let app: TestApp;
afterEach(() => app.close());

interface Sent {
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

async function api(method: string, path: string, { body, headers }: Sent = {}) {
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${PASSWORD}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const read = answer.status === 204 ? {} : parseJson(await answer.text());
  const error = isJsonObject(read) && isJsonObject(read.error) ? read.error : {};
  return {
    status: answer.status,
    field: error.field,
    message: readSentence(error.message ?? null)?.text,
  };
}

function change(section: string, body: JsonObject, headers?: Sent['headers']) {
  return api('PATCH', `/api/config/${section}`, { body, ...(headers && { headers }) });
}

async function start(proxy: JsonObject = {}, environment: StartOptions['environment'] = {}) {
  app = await startApp({ file: { admin_password: PASSWORD, proxy }, environment });
}

describe('trusted proxies', () => {
  const through = { 'x-forwarded-for': VISITOR };

  test('whoever is let in by the address that a proxy names keeps that proxy trusted', async () => {
    await start({ trusted_proxies: ['127.0.0.1'] });
    await api('POST', '/api/address-rules', { body: { list: 'allow', range: VISITOR } });
    const strict = { enabled: true, default: 'deny' };
    expect((await change('ip_filter', strict, through)).status).toBe(200);
    for (const trusted_proxies of [[], null, ['10.0.0.0/8']]) {
      const { status, field, message } = await change('network', { trusted_proxies }, through);
      expect([status, field]).toEqual([400, 'trusted_proxies']);
      expect(message).toContain(`see your address as 127.0.0.1, and no longer as ${VISITOR}`);
      expect(message).toContain('Add an allow rule for it first');
    }
    expect(app.config.current().trustedProxies).toEqual(['127.0.0.1']);
    const wider = { trusted_proxies: ['127.0.0.0/8'] };
    expect((await change('network', wider, through)).status).toBe(200);
    const rule = { list: 'allow', range: '127.0.0.1' };
    await api('POST', '/api/address-rules', { body: rule, headers: through });
    expect((await change('network', { trusted_proxies: [] }, through)).status).toBe(200);
  });

  test('whoever would become a denied address by a proxy is told first', async () => {
    await start({ ip_filter: { enabled: true } });
    await api('POST', '/api/address-rules', { body: { list: 'deny', range: VISITOR } });
    const trusted = { trusted_proxies: ['127.0.0.1'] };
    const refused = await change('network', trusted, through);
    expect([refused.status, refused.field]).toEqual([400, 'trusted_proxies']);
    expect(refused.message).toContain(`the deny rule ${VISITOR} covers it`);
    // Nobody is locked out who comes through no proxy.
    expect((await change('network', trusted)).status).toBe(200);
  });

  test('what a variable of the environment wins over locks nobody out', async () => {
    await start({ ip_filter: { enabled: true } }, { TRUSTED_PROXIES: '10.0.0.0/8' });
    await api('POST', '/api/address-rules', { body: { list: 'deny', range: VISITOR } });
    const trusted = { trusted_proxies: ['127.0.0.1'] };
    expect((await change('network', trusted, through)).status).toBe(200);
    expect(app.config.current().trustedProxies).toEqual(['10.0.0.0/8']);
  });
});

describe('the names of the gateway', () => {
  const page = { origin: 'https://gateway.example' };

  test('a page keeps the name that it is reached under', async () => {
    await start({ allowed_hosts: ['gateway.example', 'old.example'] });
    const { status, field, message } = await change('network', { allowed_hosts: null }, page);
    expect([status, field]).toEqual([400, 'allowed_hosts']);
    expect(message).toContain('lock out the page you use');
    const without = { allowed_hosts: ['gateway.example'] };
    expect((await change('network', without, page)).status).toBe(200);
    expect((await change('network', { allowed_hosts: [] })).status).toBe(200);
  });

  test('a page of a machine without a password keeps its name too', async () => {
    await start({ allowed_hosts: ['gateway.lan'] });
    await app.config.update({ admin_password: null });
    const named = { origin: `http://gateway.lan:${app.port}` };
    const { status, field } = await change('network', { allowed_hosts: [] }, named);
    expect([status, field]).toEqual([400, 'allowed_hosts']);
    expect((await change('network', { allowed_hosts: [] })).status).toBe(200);
  });
});

test('who comes from elsewhere does not take the last password away, and may do so with a key in its place', async () => {
  await start();
  const elsewhere = { 'x-forwarded-for': VISITOR };
  const { status, field, message } = await change('auth', { admin_password: null }, elsewhere);
  expect([status, field]).toEqual([400, 'admin_password']);
  expect(message).toContain('Set another password instead');
  const key = { admin_password: null, api_key: PASSWORD };
  expect((await change('auth', key, elsewhere)).status).toBe(200);
  expect((await change('auth', { api_key: null }, elsewhere)).field).toBe('admin_password');
  expect((await change('auth', { api_key: null })).status).toBe(200);
});

describe('the address to listen on', () => {
  test('whoever reaches the gateway at one address does not move it to another', async () => {
    await start();
    for (const host of ['192.0.2.1', '::1', '127.0.0.2']) {
      const { status, field, message } = await change('network', { host });
      expect([status, field]).toEqual([400, 'host']);
      expect(message).toContain(`would listen at ${host} only`);
      expect(message).toContain('Use 0.0.0.0 for all of them');
    }
    for (const host of ['0.0.0.0', '::', 'localhost', '127.0.0.1', null]) {
      expect((await change('network', { host })).status).toBe(200);
    }
  });

  test('an address that was set by hand keeps nobody from changing something else', async () => {
    await start();
    await app.config.update({ proxy: { host: '192.0.2.1' } });
    expect((await change('network', { cors_origins: [] })).status).toBe(200);
    expect((await change('network', { host: '192.0.2.2' })).status).toBe(200);
    expect((await change('network', { host: null })).status).toBe(200);
  });

  test('what a variable of the environment wins over moves nothing', async () => {
    await start({}, { HOST: '127.0.0.1' });
    expect((await change('network', { host: '192.0.2.1' })).status).toBe(200);
  });
});

test('what decides on model requests alone is no lock-out', async () => {
  await start({ cors_origins: ['https://app.example'] });
  const elsewhere = { 'x-forwarded-for': VISITOR };
  for (const auth_mode of ['strict', 'off', 'auto']) {
    expect((await change('auth', { auth_mode }, elsewhere)).status).toBe(200);
  }
  expect((await change('network', { cors_origins: [] }, elsewhere)).status).toBe(200);
});

test('whoever means it changes the config file itself', async () => {
  await start({ trusted_proxies: ['127.0.0.1'], ip_filter: { enabled: true } });
  await api('POST', '/api/address-rules', { body: { list: 'deny', range: VISITOR } });
  // The gateway puts the hash of the password into the file, perhaps at the moment of the edit.
  await expect.poll(() => app.config.raw().admin_password).not.toBe(PASSWORD);
  await app.editConfig({ proxy: { ip_filter: { enabled: true, default: 'deny' } } });
  expect((await api('GET', '/api/keys')).status).toBe(403);
});
