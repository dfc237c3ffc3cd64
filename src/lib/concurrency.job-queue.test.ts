import { expect, test } from 'vitest';
import { createJobQueue } from './concurrency.ts';

test('a job begins when the one before has ended, well or badly, and each has its own result', async () => {
  const queue = createJobQueue();
  const steps: string[] = [];
  const fail = Promise.withResolvers<never>();
  const first = queue(async () => {
    steps.push('first begins');
    return fail.promise;
  });
  const second = queue(async () => {
    steps.push('second begins');
    return 2;
  });
  await Promise.resolve();
  expect(steps).toEqual(['first begins']);
  fail.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  expect(await second).toBe(2);
  expect(steps).toEqual(['first begins', 'second begins']);
});
