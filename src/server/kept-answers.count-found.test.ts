import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { KeptAnswers } from '../stored-responses/response-store.ts';
import { createBodyBudget } from './gates/body.ts';
import { countFound } from './kept-answers.ts';

const MEGABYTE = 1_048_576;

function start(size: number) {
  const limits = { limit: 256 * MEGABYTE, heapLimit: 228 * MEGABYTE };
  const bodies = createBodyBudget(createFakeClock(), limits);
  const holder = { clientKeyId: 'a', clientAddress: '192.0.2.1', heldBytes: 0, edge: { bodies } };
  const find = async (id: string) => ({ id, input: [], response: {}, size });
  const kept: KeptAnswers = { find, findLatest: find, findByItem: find };
  return { bodies, holder, found: countFound(kept, holder) };
}

test('what a request goes on from takes the room of its body, and is refused where none is left', async () => {
  const { bodies, holder, found } = start(5 * MEGABYTE);
  for (let turn = 0; turn < 7; turn += 1) await found.find(`r${turn}`);
  expect(holder.heldBytes).toBe(35 * 3.5 * MEGABYTE);
  await expect(found.find('more')).rejects.toMatchObject({ kind: 'too-large' });
  bodies.release(holder);
  expect(holder.heldBytes).toBe(0);
});

test('small answers to go on from are counted together', async () => {
  const { holder, found } = start(50_000);
  await found.find('r1');
  expect(holder.heldBytes).toBe(0);
  await found.findByItem('msg_1');
  expect(holder.heldBytes).toBe(100_000 * 3.5);
});

test('others get their turn between the large answers that a request goes on from', async () => {
  const turnsOf = async (size: number): Promise<number> => {
    const { found } = start(size);
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    for (let turn = 0; turn < 10; turn += 1) await found.find(`r${turn}`);
    clearImmediate(next);
    return turns;
  };
  expect(await turnsOf(1000)).toBe(0);
  expect(await turnsOf(MEGABYTE)).toBeGreaterThanOrEqual(10);
});
