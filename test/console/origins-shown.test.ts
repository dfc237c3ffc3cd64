// What the console is told of values it cannot change, and of accounts that rest by themselves.

import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { startApp, startGateway, type TestApp } from '../support/app.ts';

let app: Omit<TestApp, 'sandbox'>;
afterEach(() => app.close());

async function call(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const init =
    body === undefined
      ? { method }
      : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const value = parseJson((await (await fetch(`${app.url}${path}`, init)).text()) || '{}');
  return isJsonObject(value) ? value : {};
}

test('a section names what wins over the file in it, and keeps a change for later', async () => {
  app = await startApp({ environment: { ABV_MAX_BODY_SIZE: '5000', LOG_LEVEL: 'warn' } });
  const overrides = {
    port: { origin: 'environment', name: 'PORT', value: 0 },
    max_body_size: { origin: 'environment', name: 'ABV_MAX_BODY_SIZE', value: 5000 },
  };
  expect(await call('GET', '/api/config/network')).toMatchObject({ overrides });
  const changed = await call('PATCH', '/api/config/network', { max_body_size: 90_000 });
  expect(changed).toMatchObject({ values: { max_body_size: 90_000 }, overrides });
  expect(app.config.current().maxBodyBytes).toBe(5000);
  const upstreams = await call('GET', '/api/config/upstreams');
  expect(upstreams).toMatchObject({
    overrides: {
      'sandbox.profile': { origin: 'environment', name: 'UPSTREAM_PROFILE', value: 'sandbox' },
      'sandbox.base_url': { origin: 'environment', name: 'UPSTREAM_BASE_URL' },
    },
  });
  expect(await call('GET', '/api/config/mapping')).toMatchObject({ overrides: {} });
});

test('every variable is told with what is in force, and no secret with its value', async () => {
  app = await startApp();
  const { variables } = await call('GET', '/api/environment');
  const all = Array.isArray(variables) ? variables.filter(isJsonObject) : [];
  const of = (name: string) => all.find((one) => one.name === name);
  expect(of('UPSTREAM_API_KEYS')).toMatchObject({ isSecret: true, isSet: true, value: null });
  expect(of('UPSTREAM_PROFILE')).toMatchObject({ origin: 'environment', value: 'sandbox' });
  expect(of('LOG_LEVEL')).toMatchObject({ origin: 'default', value: 'info', restart: null });
  expect(of('ISTHMUS_DATA_DIR')).toMatchObject({ origin: 'environment', restart: 'path' });
  expect(JSON.stringify(all)).not.toContain('sandbox-key');
});

test('accounts of the sandbox rest beside real ones, say so, and come back', async () => {
  app = await startGateway({});
  const status = async () => {
    const { accounts } = await call('GET', '/api/accounts');
    const all = Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
    return all.find(({ origin }) => origin === 'sandbox')?.status;
  };
  expect(await status()).toMatchObject({ kind: 'active' });
  const key = { upstream: 'sandbox', kind: 'api-key', label: 'mine', key: 'mine', addAnyway: true };
  const { id } = await call('POST', '/api/accounts', key);
  expect(await status()).toMatchObject({ kind: 'disabled', reason: 'standing-by' });
  await call('DELETE', `/api/accounts/${String(id)}`);
  expect(await status()).toMatchObject({ kind: 'active' });
});
