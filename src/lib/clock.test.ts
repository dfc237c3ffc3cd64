import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { runScript } from '../../test/support/run-program.ts';
import { SilenceTimer } from './clock.ts';

function start() {
  const clock = createFakeClock();
  const silences: string[] = [];
  const startedAt = clock.monotonic();
  const starts: number[] = [];
  const startTimer = (delayMs: number, callback: () => void) => {
    starts.push(delayMs);
    return clock.startTimer(delayMs, callback);
  };
  const timer = new SilenceTimer({ monotonic: clock.monotonic, startTimer }, (limitMs) => {
    silences.push(`${limitMs} at ${clock.monotonic() - startedAt}`);
  });
  return { clock, silences, starts, timer };
}

test('silence is told once, exactly when its time is over', async () => {
  const { clock, silences, timer } = start();
  timer.touch(100);
  await clock.advance(99);
  expect(silences).toEqual([]);
  await clock.advance(1_000);
  expect(silences).toEqual(['100 at 100']);
  expect(clock.pendingTimers).toBe(0);
});

test('each touch puts silence off without starting a timer', async () => {
  const { clock, silences, starts, timer } = start();
  for (let count = 0; count < 10; count += 1) {
    timer.touch(100);
    const known = starts.length;
    for (let more = 0; more < 10; more += 1) timer.touch(100);
    expect(starts).toHaveLength(known);
    await clock.advance(60);
    expect(clock.pendingTimers).toBe(1);
  }
  expect(silences).toEqual([]);
  await clock.advance(40);
  expect(silences).toEqual(['100 at 640']);
});

test('a limit shorter or longer than the one before holds from its touch on', async () => {
  const { clock, silences, timer } = start();
  timer.touch(1_000);
  await clock.advance(10);
  timer.touch(50);
  await clock.advance(50);
  expect(silences).toEqual(['50 at 60']);
  timer.touch(50);
  await clock.advance(20);
  timer.touch(500);
  await clock.advance(499);
  expect(silences).toHaveLength(1);
  await clock.advance(1);
  expect(silences[1]).toBe('500 at 580');
});

test('a cancelled timer is silent until it is touched again', async () => {
  const { clock, silences, timer } = start();
  timer.touch(100);
  timer.cancel();
  timer.cancel();
  await clock.advance(1_000);
  expect(silences).toEqual([]);
  timer.touch(100);
  await clock.advance(100);
  expect(silences).toEqual(['100 at 1100']);
});

test('a process in which nothing but a sleep is waited for stays until that is over', async () => {
  const script = `
    import { createSystemClock } from './src/lib/clock.ts';
    await createSystemClock().sleep(20, new AbortController().signal);
    console.log('awake');`;
  expect(await runScript(script)).toBe('awake\n');
});
