import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { closeStalled } from './connections.ts';

test('clients that stand still are looked at in the same moments, whenever they began to, and cut within two minutes', async () => {
  const clock = createFakeClock();
  const begun = clock.monotonic();
  const looks = new Set<number>();
  const cuts: number[] = [];
  const watched = {
    monotonic: () => clock.monotonic(),
    startTimer: (delayMs: number, callback: () => void) =>
      clock.startTimer(delayMs, () => {
        looks.add(clock.monotonic() - begun);
        callback();
      }),
  };
  for (let index = 0; index < 10; index += 1) {
    const destroy = (): void => void cuts.push(clock.monotonic() - begun - index * 97);
    // What of a response is looked at, of a system that does not tell what waits.
    closeStalled({ socket: {}, destroy, off: () => {} } as never, watched);
    await clock.advance(97);
  }
  await clock.advance(120_000);
  expect([...looks]).toEqual([2_000, 120_000]);
  expect(cuts).toHaveLength(10);
  for (const afterMs of cuts) expect(Math.abs(afterMs - 119_500)).toBeLessThanOrEqual(500);
});
