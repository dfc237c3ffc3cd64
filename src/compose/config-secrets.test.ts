import { expect, test } from 'vitest';
import { createTestVault } from '../../test/support/database.ts';
import { UnwritableFileError } from '../config/values.ts';
import { createConfigSecrets } from './config-secrets.ts';

const RAW = { proxy: { extprov: { api_key: 'a plain key' } } };

test('a file that cannot be written keeps its credential: that is told, and the start goes on', async () => {
  const warnings: unknown[] = [];
  const fault = new UnwritableFileError('/etc/gui_config.json', new Error('EBUSY'));
  const secrets = createConfigSecrets({
    config: {
      raw: () => RAW,
      reload: () => Promise.resolve(),
      preview: () => Promise.reject(fault),
      update: () => Promise.reject(fault),
      subscribe: () => () => undefined,
    },
    vault: createTestVault(),
    log: { info: () => undefined, warn: (...entry) => warnings.push(entry) },
  });
  await secrets.keepSealed();
  expect(warnings).toEqual([
    [{ error: fault }, 'A credential in the config file could not be sealed.'],
  ]);
});
