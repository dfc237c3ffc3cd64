import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { loadMemoryAccess } from '../../test/support/memory-access-stores.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import type { AccessControl } from '../access/access.ts';
import { createMemoryCluster, Hub } from '../cluster/memory.ts';
import { createLiveConfig, type LiveConfig } from '../config/live.ts';
import { DEFAULT_EDGE_SETTINGS } from '../server/settings.ts';
import { recordEdits } from './config-secrets.ts';

let folder: string;
let path: string;
let config: LiveConfig;
let audit: AccessControl['audit'];
let end: () => Promise<void>;

const clock = createFakeClock();
const log = { info: () => undefined, warn: () => undefined };
const write = (proxy: object): Promise<void> => writeFile(path, JSON.stringify({ proxy }));
const load = (): Promise<LiveConfig> =>
  createLiveConfig({ path, environment: {}, clock, log, watch: () => undefined });

beforeEach(async () => {
  folder = makeTestFolder('edits');
  path = join(folder, 'gui_config.json');
  await write({ port: 9000, api_key: 'sk-before-canary' });
  config = await load();
  const access = await loadMemoryAccess({ settings: () => DEFAULT_EDGE_SETTINGS, clock });
  audit = access.audit;
  end = recordEdits({ config, audit, path });
});
afterEach(async () => {
  await config.close();
});

test('an edit of the config file is recorded, with the names of secrets and without their values', async () => {
  await write({ port: 9001, api_key: 'sk-after-canary' });
  await config.reload();
  await end();
  const [entry, ...others] = await audit.list({ limit: 9 });
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    ...{ actor: 'file', action: 'file', subject: 'gui_config.json', address: undefined },
    ...{ fields: 'proxy.port, proxy.api_key' },
    ...{ before: '{"network":{"port":9000}}', after: '{"network":{"port":9001}}' },
  });
  expect(JSON.stringify(entry)).not.toContain('canary');
});

test('what the gateway writes itself is no edit, nor is a file that cannot be used', async () => {
  await config.update({ proxy: { port: 9002 } });
  await config.reload();
  await writeFile(path, 'broken');
  await config.reload();
  await end();
  expect(await audit.list({ limit: 9 })).toEqual([]);
});

test('an edit that was made while no gateway ran is recorded by the next', async () => {
  await end();
  await config.close();
  await write({ port: 9001 });
  config = await load();
  await recordEdits({ config, audit, path })();
  expect(await audit.list({ limit: 9 })).toMatchObject([
    { before: '{"network":{"port":9000}}', after: '{"network":{"port":9001}}' },
  ]);
  config = await load();
  await recordEdits({ config, audit, path })();
  expect(await audit.list({ limit: 9 })).toHaveLength(1);
});

test('of several processes with the file one records an edit, and none what another wrote', async () => {
  await end();
  const hub = new Hub(clock);
  const open = async (replica: string) => {
    const { bank } = createMemoryCluster({ replica, clock, hub, onFault: () => undefined });
    const own = await load();
    return { own, finish: recordEdits({ config: own, audit, path, bank }) };
  };
  const [first, second] = [await open('a'), await open('b')];
  await first.own.update({ proxy: { port: 9001 } });
  await second.own.reload();
  await write({ port: 9002 });
  await Promise.all([second.own.reload(), first.own.reload()]);
  await write({ port: 9003 });
  await second.own.update({ proxy: { port: 9004 } });
  await first.own.reload();
  for (const { own, finish } of [first, second]) {
    await finish();
    await own.close();
  }
  const entries = await audit.list({ limit: 9 });
  expect(entries.map(({ after }) => after)).toEqual([
    '{"network":{"port":9003}}',
    '{"network":{"port":9002}}',
  ]);
});
