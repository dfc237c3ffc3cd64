// Two gateways that cannot tell each other anything, as Valkey is away: what one changes holds at the other all the same.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDefaultAccounts, createSandbox } from '@isthmus/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account, CreatedKey } from '../../src/admin/contract.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { joinValkeyCluster } from '../../src/cluster/valkey.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { callAdmin } from '../support/admin-api.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import { startValkey, VALKEY, type ValkeyServer } from '../support/valkey.ts';

const PASSWORD = 'a-console-password';
const CONSOLE = { 'x-isthmus-console': '1' };
const clock = createSystemClock();

type Gateway = Omit<TestApp, 'sandbox'>;

describe.skipIf(VALKEY === undefined)('two gateways without their Valkey', () => {
  const sandbox = createSandbox({ accounts: createDefaultAccounts(), clock });
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-unheard-'));
  const members: Cluster[] = [];
  let upstream: string;
  let store: ValkeyServer;
  let one: Gateway;
  let other: Gateway;

  beforeAll(async () => {
    ({ url: upstream } = await sandbox.start());
    store = await startValkey();
    [one, other] = [await start('one'), await start('other')];
  });
  afterAll(async () => {
    for (const gateway of [one, other]) await gateway?.close();
    for (const member of members) await member.close();
    await store?.close();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(replica: string): Promise<Gateway> {
    const log = { warn: () => undefined, info: () => undefined };
    const cluster = await joinValkeyCluster({ url: store.url, replica, clock, log });
    members.push(cluster);
    const environment = {
      ...{ ISTHMUS_DATA_DIR: folder, WEB_PASSWORD: PASSWORD, AUTH_MODE: 'strict' },
      ...{ UPSTREAM_PROFILE: 'sandbox', UPSTREAM_BASE_URL: upstream },
    };
    return startGateway({ environment, folder, cluster, clock });
  }

  const statusWith = async ({ url }: Gateway, secret: string): Promise<number> =>
    (await fetch(`${url}/v1/models`, { headers: { 'x-api-key': secret } })).status;

  const statusOf = async (gateway: Gateway, id: string): Promise<string> =>
    (await api<Account>(gateway, 'GET', `/api/accounts/${id}`)).status.kind;

  const signedInAt = async ({ url }: Gateway, cookie: string): Promise<number> =>
    (await fetch(`${url}/api/keys`, { headers: { cookie } })).status;

  test('a key that is revoked, an account that is disabled and a sign-in that ended are so at both', async () => {
    const kept = await api<CreatedKey>(one, 'POST', '/api/keys', { name: 'Ada' });
    const { id } = await api<Account>(one, 'POST', '/api/accounts', {
      ...{ upstream: 'sandbox', kind: 'api-key', label: 'ann' },
      ...{ key: 'a-key-of-ann', addAnyway: true },
    });
    const signedIn = await fetch(`${one.url}/api/session`, {
      method: 'POST',
      headers: { ...CONSOLE, 'content-type': 'application/json' },
      body: JSON.stringify({ password: PASSWORD }),
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    await expect.poll(() => statusWith(other, kept.secret)).toBe(200);
    await expect.poll(() => signedInAt(other, cookie)).toBe(200);
    await expect.poll(() => statusOf(other, id)).toBe('active');

    await store.kill();
    for (const member of members) await expect.poll(() => member.state().isConnected).toBe(false);
    await fetch(`${one.url}/api/keys/${kept.key.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${PASSWORD}` },
    });
    await api(one, 'POST', `/api/accounts/${id}/disable`);
    await fetch(`${one.url}/api/session`, { method: 'DELETE', headers: { ...CONSOLE, cookie } });
    await expect.poll(() => statusWith(other, kept.secret)).toBe(401);
    await expect.poll(() => statusOf(other, id)).toBe('disabled');
    await expect.poll(() => signedInAt(other, cookie)).toBe(401);
    await store.restart();
  });
});

const api = <Answer = unknown>(
  { url }: Gateway,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> => callAdmin({ url, password: PASSWORD }, [method, path], body);
