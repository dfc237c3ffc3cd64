// A range of time moves on with the time, unless somebody reads further down or holds the list.

import { useEffect, useState } from 'react';
import { lastStep, type Range } from './filters.ts';

const TICK_MS = 1000;

interface Held {
  readonly range: Range | undefined;
  readonly step: number;
}

/** When the range began anew last. */
export function useRangeStep(range: Range | undefined, isMoving: boolean): number {
  const [held, setHeld] = useState(() => stepNow(range));
  useEffect(() => {
    const tick = (): void =>
      setHeld((known) => {
        const next = stepNow(range);
        const stays = known.step === next.step || !isMoving;
        return known.range === range && stays ? known : next;
      });
    tick();
    const timer = window.setInterval(tick, TICK_MS);
    return () => window.clearInterval(timer);
  }, [range, isMoving]);
  return held.range === range ? held.step : stepNow(range).step;
}

function stepNow(range: Range | undefined): Held {
  return { range, step: lastStep({ range }, Date.now()) };
}
