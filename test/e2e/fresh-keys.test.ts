// Two gateways of one store that have told each other nothing yet: a key that one of them made a moment ago.

import { expect, onTestFinished, test } from 'vitest';
import { createKeySecret } from '../../src/access/api-key.ts';
import type { CreatedKey } from '../../src/admin/contract.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import { callAdmin } from '../support/admin-api.ts';
import { startGateway } from '../support/app.ts';
import { createMiddayClock } from '../support/midday-clock.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const password = 'a-console-password';

test('works at the other at once, the first of all keys and a later one, and a wrong one does not', async () => {
  const folder = makeTestFolder('fresh-keys');
  const midday = createMiddayClock();
  let passedMs = 0;
  const clock = { ...midday, monotonic: () => midday.monotonic() + passedMs };
  // Each has a hub of its own: no notice arrives.
  const start = async (replica: string) => {
    const onFault = (error: unknown): void => expect.fail(String(error));
    const cluster = createMemoryCluster({ replica, clock, onFault });
    const environment = { ISTHMUS_DATA_DIR: folder, WEB_PASSWORD: password, AUTH_MODE: 'strict' };
    const gateway = await startGateway({ environment, folder, cluster, clock });
    onTestFinished(() => gateway.close());
    return gateway;
  };
  const [{ url }, other] = [await start('one'), await start('other')];
  const make = async (name: string): Promise<string> =>
    (await callAdmin<CreatedKey>({ url, password }, ['POST', '/api/keys'], { name })).secret;
  const statusWith = async (secret: string): Promise<number> => {
    passedMs += 1_000;
    const headers = { 'x-api-key': secret };
    return (await fetch(`${other.url}/v1/models`, { headers })).status;
  };
  expect(await statusWith(await make('Ada'))).toBe(200);
  expect(await statusWith(await make('Bea'))).toBe(200);
  expect(await statusWith(createKeySecret())).toBe(401);
});
