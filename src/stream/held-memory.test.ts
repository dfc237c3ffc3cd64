import { expect, test } from 'vitest';
import { type AnswerRoom, HeldMemory } from './held-memory.ts';

const MEGABYTE = 1_048_576;

function roomOf(most: number) {
  const taken: number[] = [];
  const room: AnswerRoom = {
    take(holder, bytes) {
      if (bytes > most) throw new Error('full');
      taken.push(bytes);
      holder.heldBytes = bytes;
    },
    release(holder) {
      taken.push(0);
      holder.heldBytes = 0;
    },
  };
  return { room, taken };
}

test('small answers are not counted, and of large ones what is new', () => {
  const { room, taken } = roomOf(10 * MEGABYTE);
  const memory = new HeldMemory(room);
  for (const bytes of [0, 500_000, MEGABYTE]) memory.count(bytes);
  expect(taken).toEqual([]);
  memory.count(2 * MEGABYTE);
  memory.count(2 * MEGABYTE + 1_000);
  memory.count(MEGABYTE);
  memory.count(3 * MEGABYTE);
  expect(taken).toEqual([2 * MEGABYTE, 3 * MEGABYTE]);
});

test('what was taken is given back once, and a full room is an error', () => {
  const { room, taken } = roomOf(2 * MEGABYTE);
  const memory = new HeldMemory(room);
  memory.count(2 * MEGABYTE);
  expect(() => memory.count(4 * MEGABYTE)).toThrow('full');
  memory.release();
  memory.release();
  expect(taken).toEqual([2 * MEGABYTE, 0]);
});

test('what comes behind what was given back is counted anew', () => {
  const { room, taken } = roomOf(10 * MEGABYTE);
  const memory = new HeldMemory(room);
  memory.count(5 * MEGABYTE);
  memory.release();
  memory.count(3 * MEGABYTE);
  expect(taken).toEqual([5 * MEGABYTE, 0, 3 * MEGABYTE]);
});

test('without a room there is enough', () => {
  const memory = new HeldMemory(undefined);
  memory.count(1e12);
  memory.release();
});
