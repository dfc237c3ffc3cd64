import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { loadMemoryAccess } from '../../test/support/memory-access-stores.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import type { AccessControl } from '../access/access.ts';
import { createLiveConfig, type LiveConfig } from '../config/live.ts';
import { DEFAULT_EDGE_SETTINGS } from '../server/settings.ts';
import { recordEdits } from './config-file.ts';

let folder: string;
let path: string;
let config: LiveConfig;
let audit: AccessControl['audit'];
let end: () => Promise<void>;

const write = (proxy: object): Promise<void> => writeFile(path, JSON.stringify({ proxy }));

beforeEach(async () => {
  folder = makeTestFolder('edits');
  path = join(folder, 'gui_config.json');
  await write({ port: 9000, api_key: 'sk-before-canary' });
  const clock = createFakeClock();
  const log = { info: () => undefined, warn: () => undefined };
  config = await createLiveConfig({ path, environment: {}, clock, log, watch: () => undefined });
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
