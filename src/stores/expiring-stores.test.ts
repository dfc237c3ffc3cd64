import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { STEPWISE_FROM_BYTES } from '../lib/chunked-json.ts';

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

test('others get their turn between the steps of a large answer', async () => {
  const database = await createTestDatabase();
  const { storedResponses } = database.stores;
  const turnsOf = async (json: string): Promise<number> => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    const row = { clientKeyId: 'key', id: `r${json.length}`, json, itemIds: [], expiresAt: LATER };
    await storedResponses.save(row);
    clearImmediate(next);
    expect(await storedResponses.find('key', row.id)).toBe(json);
    return turns;
  };
  expect(await turnsOf('{}')).toBeLessThan(2);
  expect(await turnsOf('x'.repeat(STEPWISE_FROM_BYTES))).toBeGreaterThanOrEqual(2);
  await database.close();
});
