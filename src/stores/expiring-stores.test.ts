import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../lib/chunked-json.ts';

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

test('others get their turn between the pieces of a large answer', async () => {
  const database = await createTestDatabase();
  const { storedResponses } = database.stores;
  const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    await work();
    clearImmediate(next);
    return turns;
  };
  const save = (id: string, json: string) =>
    turnsOf(() =>
      storedResponses.save({ clientKeyId: 'key', id, json, itemIds: [], expiresAt: LATER }),
    );
  const large = 'x'.repeat(STEPWISE_FROM_BYTES);
  expect(await save('small', '{}')).toBeLessThan(2);
  expect(await save('large', large)).toBeGreaterThanOrEqual(16);
  expect(await turnsOf(() => storedResponses.find('key', 'large'))).toBeGreaterThanOrEqual(15);
  const change = () =>
    storedResponses.change('key', 'large', () => [
      { clientKeyId: 'key', id: 'large', json: `${large}y`, itemIds: [], expiresAt: LATER },
    ]);
  expect(await turnsOf(change)).toBeGreaterThanOrEqual(30);
  expect(await storedResponses.find('key', 'large')).toBe(`${large}y`);
  await database.close();
});

test('a large answer is read as it was until the new one is whole, and nothing of the old one stays', async () => {
  const database = await createTestDatabase();
  const { storedResponses } = database.stores;
  const [first, second] = ['a', 'b'].map((letter) => letter.repeat(STEPWISE_FROM_BYTES));
  const row = (json = '') => ({
    clientKeyId: 'key',
    id: 'r',
    json,
    itemIds: ['i'],
    expiresAt: LATER,
  });
  await storedResponses.save(row(first));
  const found = new Set<string | undefined>();
  let isSaved = false;
  const saving = storedResponses.save(row(second)).then(() => {
    isSaved = true;
  });
  while (!isSaved) {
    found.add(await storedResponses.find('key', 'r'));
    await nextTurn();
  }
  await saving;
  found.add(await storedResponses.findByItem('key', 'i'));
  expect([...found]).toEqual([first, second]);
  await storedResponses.save(row('{}'));
  await database.closeStores();
  const file = new DatabaseSync(database.path);
  expect(file.prepare('select count(*) as count from kept_pieces').get()).toEqual({ count: 0 });
  expect(file.prepare('select count(*) as count from kept_answers').get()).toEqual({ count: 1 });
  file.close();
  await database.close();
});

test('what is being written is no surplus, and leaves within an hour where its process ended', async () => {
  const database = await createTestDatabase({ maxKeptBytes: 1_000_000 });
  const { storedResponses } = database.stores;
  const save = (id: string, length: number, expiresAt: number) =>
    storedResponses.save({
      clientKeyId: 'key',
      ...{ id, json: 'x'.repeat(length), itemIds: [], expiresAt },
    });
  for (let count = 0; count < 8; count += 1) await save(`r${count}`, 200_000, LATER + count);
  const saving = save('large', 400_000, LATER + 9);
  await save('meanwhile', 200_000, LATER + 8);
  const file = new DatabaseSync(database.path);
  const unfinished = file.prepare('select bytes, expires_at from kept_answers where id like ?');
  expect(unfinished.all('large %')).toEqual([
    { bytes: 0, expires_at: database.clock.now() + 3_600_000 },
  ]);
  await saving;
  expect(unfinished.all('large%')).toEqual([{ bytes: expect.any(Number), expires_at: LATER + 9 }]);
  expect(await storedResponses.find('key', 'large')).toBe('x'.repeat(400_000));
  file.close();
  await database.close();
});
