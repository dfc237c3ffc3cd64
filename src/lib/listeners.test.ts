import { expect, test } from 'vitest';
import { createListeners } from './listeners.ts';

test('a change that a listener makes is told after the one it listens to', () => {
  const heard: string[] = [];
  const listeners = createListeners<string>(() => undefined);
  listeners.add((change) => {
    if (change === 'first') listeners.tell('second');
  });
  listeners.add((change) => void heard.push(change));
  listeners.tell('first');
  expect(heard).toEqual(['first', 'second']);
});

test('a listener that fails keeps no other from being told, and one that ended is told nothing', () => {
  const heard: string[] = [];
  const faults: unknown[] = [];
  const listeners = createListeners<string>((error) => void faults.push(error));
  listeners.add(() => {
    throw new Error('broken');
  });
  const end = listeners.add((change) => void heard.push(change));
  listeners.tell('first');
  end();
  listeners.tell('second');
  expect(heard).toEqual(['first']);
  expect(faults).toHaveLength(2);
});
