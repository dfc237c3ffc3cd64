// Gateways on PostgreSQL, where it is installed: what they share, and what goes on without it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { POSTGRES_BIN, startPostgres, type TestServer } from '../support/postgres.ts';

const KEY = 'sk-a-gateway-key-of-the-tests';
const PASSWORD = 'a-console-password';

describe.skipIf(POSTGRES_BIN === undefined)('on PostgreSQL', () => {
  let server: TestServer;
  const gateways: RunningGateway[] = [];
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.stop();
  });
  afterAll(() => server.close());
  const start = async (url: string, more: Readonly<Record<string, string>> = {}) => {
    const gateway = await startGateway({
      ...{ DATABASE_URL: url, ISTHMUS_SECRET_KEY: 'the-secret-key-of-all-replicas' },
      ...{ API_KEY: KEY, WEB_PASSWORD: PASSWORD, AUTH_MODE: 'strict', ...more },
    });
    gateways.push(gateway);
    return callsOf(gateway.url);
  };

  test('a gateway goes on without its database, says so, and saves what waited when it is back', async () => {
    const { ask, admin } = await start(await server.createDatabase());
    await admin('POST', '/api/keys', { name: 'Ann' });
    const kept = await ask({ store: true });
    expect(kept.status).toBe(200);
    await expect.poll(async () => (await recordsOf(admin)).length).toBe(1);

    await server.kill();
    const refused = await admin('POST', '/api/keys', { name: 'Bob' });
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { code: 'storage-unavailable' } },
    });
    const unchanged = await admin('PATCH', '/api/config/mapping', { made: 'gemini-2.5-flash' });
    expect(unchanged).toMatchObject({
      status: 503,
      body: { error: { code: 'storage-unavailable' } },
    });
    for (const what of ['requests', 'usage'])
      expect((await admin('GET', `/api/export/${what}`)).status).toBe(503);
    const texts = await Promise.all(Array.from({ length: 20 }, () => ask({})));
    expect(texts.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await ask({ previous_response_id: kept.body.id })).status).toBe(200);
    const lost = await ask({ previous_response_id: 'resp_of_another_replica' });
    expect(lost.status).toBe(503);
    expect(JSON.stringify(lost.body)).toContain('Stored responses cannot be read now');
    const { body: overview } = await admin('GET', '/api/overview');
    expect(overview.attention).toContainEqual(expect.objectContaining({ kind: 'database-lost' }));
    expect((await admin('GET', '/metrics')).text).toContain('isthmus_database_up 0');

    await server.start();
    await expect
      .poll(async () => (await admin('GET', '/metrics')).text)
      .toContain('isthmus_database_up 1');
    await expect.poll(async () => (await recordsOf(admin)).length).toBe(23);
    const again = await admin('POST', '/api/keys', { name: 'Bob' });
    expect(again.status).toBe(201);
    const { body: healed } = await admin('GET', '/api/overview');
    expect(JSON.stringify(healed.attention)).not.toContain('database-lost');
  });

  test('a change of the settings is in force on every gateway; a file of before is taken over', async () => {
    const url = await server.createDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-taken-over-'));
    writeFileSync(
      join(folder, 'gui_config.json'),
      JSON.stringify({ proxy: { custom_mapping: { old: 'gemini-2.5-pro' } } }),
    );
    const first = await start(url, { ISTHMUS_DATA_DIR: folder });
    const second = await start(url);
    const mappingOf = async ({ admin }: typeof first): Promise<unknown> =>
      (await admin('GET', '/api/config/mapping')).body;
    expect(JSON.stringify(await mappingOf(second))).toContain('"old"');
    const patch = { made: 'gemini-2.5-flash' };
    expect((await first.admin('PATCH', '/api/config/mapping', patch)).status).toBe(200);
    await expect.poll(async () => JSON.stringify(await mappingOf(second))).toContain('"made"');
    rmSync(folder, { recursive: true, force: true });
  });

  test('a data folder that was not moved is told of, until the database has accounts or keys', async () => {
    const url = await server.createDatabase();
    const secretKey = 'the-secret-key-of-all-replicas';
    const folder = mkdtempSync(join(tmpdir(), 'isthmus-not-moved-'));
    const before = await startGateway({ ISTHMUS_DATA_DIR: folder, ISTHMUS_SECRET_KEY: secretKey });
    await before.stop();
    const settings = { DATABASE_URL: url, ISTHMUS_SECRET_KEY: secretKey, WEB_PASSWORD: PASSWORD };
    const startOnBoth = async () => {
      const gateway = await startGateway({ ...settings, ISTHMUS_DATA_DIR: folder });
      gateways.push(gateway);
      return gateway;
    };
    const told = 'isthmus migrate-store --from sqlite --to postgres';
    const first = await startOnBoth();
    await expect.poll(() => first.output()).toContain(told);
    await callsOf(first.url).admin('POST', '/api/keys', { name: 'Ann' });
    await first.stop();
    const second = await startOnBoth();
    await expect.poll(() => second.output()).toContain('The gateway listens.');
    expect(second.output()).not.toContain(told);
    rmSync(folder, { recursive: true, force: true });
  });

  test('without a secret key the start says what is missing', async () => {
    const url = await server.createDatabase();
    await expect(startGateway({ DATABASE_URL: url })).rejects.toThrow(
      /DATABASE_URL is set, so ISTHMUS_SECRET_KEY must be set too/,
    );
  });
});

function callsOf(url: string) {
  const call = async (method: string, path: string, key: string, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  };
  return {
    admin: (method: string, path: string, body?: object) => call(method, path, PASSWORD, body),
    ask: (more: object) =>
      call('POST', '/v1/responses', KEY, { model: 'gemini-2.5-flash', input: 'Hello', ...more }),
  };
}

async function recordsOf(admin: ReturnType<typeof callsOf>['admin']): Promise<readonly unknown[]> {
  const { body } = await admin('GET', '/api/requests?limit=100');
  return body.rows ?? body.requests ?? [];
}
