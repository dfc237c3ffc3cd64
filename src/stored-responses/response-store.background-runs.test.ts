import { expect, test } from 'vitest';
import { BackgroundRuns } from './response-store.ts';

interface Job {
  readonly signal: AbortSignal;
  finish(): void;
}

function setUp(limits: ConstructorParameters<typeof BackgroundRuns>[0] = {}) {
  const runs = new BackgroundRuns(limits);
  const jobs = new Map<string, Job>();
  const ask = (id: string, { key = 'k', size = 1 } = {}) =>
    runs.start({
      clientKeyId: key,
      size,
      begin: () => id,
      work: (signal) =>
        new Promise((resolve) => {
          jobs.set(id, { signal, finish: resolve });
          if (signal.aborted) resolve();
          else signal.addEventListener('abort', () => resolve());
        }),
    });
  const start = (id: string, parts?: { key?: string; size?: number }) => {
    const started = ask(id, parts);
    if (started.kind === 'refused') throw new Error(started.reason);
    return started;
  };
  return { runs, jobs, ask, start };
}

test('as many as are allowed work at once, the others in their turn', async () => {
  const { runs, jobs, start } = setUp({ atOnce: 1 });
  const first = start('a');
  start('b');
  start('c');
  const mine = runs.of('k');
  expect(['a', 'b', 'c'].map((id) => mine.stateOf(id))).toEqual([
    'in_progress',
    'queued',
    'queued',
  ]);
  jobs.get('a')?.finish();
  await first.ended;
  expect(['a', 'b', 'c'].map((id) => mine.stateOf(id))).toEqual([
    undefined,
    'in_progress',
    'queued',
  ]);
});

test('one that is ended has ended when the caller goes on, at work or waiting', async () => {
  const { runs, jobs, start } = setUp({ atOnce: 1 });
  start('a');
  start('b');
  const mine = runs.of('k');
  expect(await mine.cancel('b', 'no longer')).toBe(true);
  expect(jobs.get('b')?.signal.reason).toBe('no longer');
  expect(mine.stateOf('b')).toBeUndefined();
  expect(mine.stateOf('a')).toBe('in_progress');
  expect(await mine.cancel('a', 'no longer')).toBe(true);
  expect(await mine.cancel('a', 'again')).toBe(false);
});

test('another key sees and ends nothing', async () => {
  const { runs, jobs, start } = setUp();
  start('a');
  expect(runs.of('other').stateOf('a')).toBeUndefined();
  expect(await runs.of('other').cancel('a', 'mine now')).toBe(false);
  expect(jobs.get('a')?.signal.aborted).toBe(false);
});

test('number and size are bounded for a key and in all', () => {
  const { ask, start } = setUp({ perKey: 2, inAll: 3, size: 10, sizeInAll: 25 });
  expect(ask('x', { size: 11 })).toEqual({ kind: 'refused', reason: 'too-large' });
  start('a', { size: 10 });
  start('b', { size: 10 });
  expect(ask('c')).toEqual({ kind: 'refused', reason: 'too-many' });
  expect(ask('d', { key: 'other', size: 6 })).toEqual({ kind: 'refused', reason: 'too-many' });
  start('e', { key: 'other' });
  expect(ask('f', { key: 'third' })).toEqual({ kind: 'refused', reason: 'too-many' });
});

test('when everything stops all are ended, and none begins any more', async () => {
  const { runs, jobs, ask, start } = setUp({ atOnce: 1 });
  start('a');
  start('b');
  await runs.close('stopping');
  expect(['a', 'b'].map((id) => jobs.get(id)?.signal.reason)).toEqual(['stopping', 'stopping']);
  expect(ask('c')).toEqual({ kind: 'refused', reason: 'closing' });
});
