// The system's clock set to the middle of a day, for tests that must not meet midnight by chance.

import { type Clock, createSystemClock } from '../../src/lib/clock.ts';

/** In the middle of a month, of a day and of the sandbox's windows of five hours and of one. */
const MIDDAY = Date.UTC(2026, 5, 16, 12, 30);

/** It is half past twelve when the test starts it, whenever that is: no day or quota window ends meanwhile. */
export function createMiddayClock(): Clock {
  const system = createSystemClock();
  const startedAt = system.monotonic();
  return { ...system, now: () => MIDDAY + Math.round(system.monotonic() - startedAt) };
}
