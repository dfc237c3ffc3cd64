import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { createLiveConfig, type LiveConfig } from './live.ts';

let folder = '';
let warnings: string[] = [];
beforeEach(() => {
  folder = makeTestFolder('lost');
  warnings = [];
});

const path = () => join(folder, 'gui_config.json');
const write = (content: object) => writeFileSync(path(), JSON.stringify(content));

async function withConfig<Result>(use: (config: LiveConfig) => Promise<Result> | Result) {
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) };
  const config = await createLiveConfig({
    path: path(),
    environment: {},
    clock: createFakeClock(),
    log,
  });
  try {
    return await use(config);
  } finally {
    await config.close();
  }
}

function lose(): void {
  for (const name of ['gui_config.json', 'gui_config.json.bak']) rmSync(join(folder, name));
}

test('D5: a start without config and copy keeps strict authentication and says so', async () => {
  write({ api_key: 'sk-my-own-key', proxy: { auth_mode: 'strict' } });
  expect(await withConfig((config) => config.current().authMode)).toBe('strict');
  lose();
  await withConfig(async (config) => {
    expect(config.current().authMode).toBe('strict');
    expect(warnings).toEqual([expect.stringContaining('Authentication stays strict')]);
    // A change of something else does not lose it again.
    await config.update({ proxy: { thinking: { mode: 'adaptive' } } });
    expect(config.raw()).toMatchObject({ proxy: { auth_mode: 'strict' } });
  });
});

test('D5: what was made weaker on purpose is not remembered', async () => {
  write({ proxy: { auth_mode: 'strict' } });
  await withConfig((config) => config.update({ proxy: { auth_mode: 'auto' } }));
  lose();
  expect(await withConfig((config) => config.current().authMode)).toBe('auto');
  expect(readdirSync(folder)).toEqual([]);
});
