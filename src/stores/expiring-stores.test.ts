import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';

const LATER = 4_000_000_000_000;

test('all answers together are bounded, the ones that would end first making room', async () => {
  const database = await createTestDatabase({ maxKeptBytes: 40_000 });
  const { storedResponses } = database.stores;
  const json = 'x'.repeat(8000);
  for (let count = 0; count < 8; count += 1) {
    const row = { clientKeyId: 'key', id: `r${count}`, json, itemIds: [`msg_${count}`] };
    await storedResponses.save({ ...row, expiresAt: LATER + count });
  }
  expect(await storedResponses.find('key', 'r0')).toBeUndefined();
  expect(await storedResponses.findByItem('key', 'msg_0')).toBeUndefined();
  expect(await storedResponses.find('key', 'r7')).toBe(json);
  await database.close();
});
