import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryAccessStores } from '../../test/support/memory-access-stores.ts';
import { asSentence } from '../lib/localized-message.ts';
import { type AccessEntry, createAccessLog } from './access-log.ts';

const OPTIONS = {
  redactorFor: () => ({ text: (text: string) => text }),
  log: { info: () => undefined, warn: () => undefined },
};

function entryOf(path: string): Omit<AccessEntry, 'at'> {
  return {
    ...{ verdict: 'rejected', address: '192.0.2.1', method: 'GET', path },
    ...{ keyId: undefined, reason: asSentence('no') },
  };
}

test('entries are listed at once, and flushed on close', async () => {
  const { accessLog: store } = createMemoryAccessStores();
  const log = createAccessLog({ ...OPTIONS, store, clock: createFakeClock() });
  log.add(entryOf('/a'));
  expect(await log.list({ limit: 9 })).toMatchObject([{ path: '/a' }]);
  log.add(entryOf('/b'));
  await log.close();
  expect(await store.list({ limit: 9 })).toMatchObject([{ path: '/b' }, { path: '/a' }]);
});

test('the oldest of more than a thousand waiting entries are dropped and counted', async () => {
  const { accessLog: store } = createMemoryAccessStores();
  const log = createAccessLog({ ...OPTIONS, store, clock: createFakeClock() });
  for (let index = 0; index < 1003; index += 1) log.add(entryOf(`/${index}`));
  expect(log.dropped).toBe(3);
  await log.close();
  expect((await store.list({ limit: 2000 })).at(-1)).toMatchObject({ path: '/3' });
});
