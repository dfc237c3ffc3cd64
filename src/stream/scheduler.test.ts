import { expect, test } from 'vitest';
import { turn } from './scheduler.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('the stages of a turn follow each other, each in the order in which its work came', async () => {
  const done: string[] = [];
  turn.answers.add(() => {
    done.push('answer 1');
    turn.toClients.add(() => done.push('written'));
  });
  turn.requests.add(() => done.push('request 1'));
  turn.answers.add(() => done.push('answer 2'));
  turn.requests.add(() => done.push('request 2'));
  expect(done).toEqual([]);
  await nextTurn();
  expect(done.filter((step) => step.startsWith('request'))).toEqual(['request 1', 'request 2']);
  expect(done.filter((step) => !step.startsWith('request'))).toEqual([
    'answer 1',
    'answer 2',
    'written',
  ]);
});

test('what a request leads to behind promises is sent in the same turn', async () => {
  const done: string[] = [];
  for (const name of ['a', 'b']) {
    turn.requests.add(async () => {
      await undefined;
      done.push(`request ${name}`);
      await undefined;
      turn.toUpstreams.add(() => done.push(`sent ${name}`));
    });
  }
  await nextTurn();
  expect(done).toEqual(['request a', 'request b', 'sent a', 'sent b']);
});

test('a crowd is served over several turns, so that sockets are read in between', async () => {
  let done = 0;
  for (let count = 0; count < 200; count += 1) turn.requests.add(() => (done += 1));
  await nextTurn();
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(200);
  while (done < 200) await nextTurn();
});

test('work that fails keeps nobody else from theirs, and is not passed over in silence', async () => {
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
  let isNextDone = false;
  try {
    turn.toClients.add(() => {
      throw new Error('broken');
    });
    turn.toClients.add(() => {
      isNextDone = true;
    });
    await expect(uncaught).resolves.toMatchObject({ message: 'broken' });
  } finally {
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
  expect(isNextDone).toBe(true);
});
