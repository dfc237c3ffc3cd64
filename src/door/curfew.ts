// Hours of the day at which a key is refused, by the clock on somebody's wall.

import { told } from '../lib/told.ts';

export interface Curfew {
  /** `23:00`. */
  readonly from: string;
  /** `06:00`; when it is before `from`, the curfew lasts over midnight. */
  readonly to: string;
  /** IANA name such as `Europe/Berlin`. */
  readonly timeZone: string;
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** What is wrong with a curfew, starting with its field; undefined when nothing is. */
export function curfewProblem({ from, to, timeZone }: Curfew): string | undefined {
  if (!TIME.test(from)) return told`curfew.from: must be a time such as 23:00`;
  if (!TIME.test(to)) return told`curfew.to: must be a time such as 06:00`;
  if (from === to) return told`curfew.to: must be another time than curfew.from`;
  if (createWallClock(timeZone) === undefined) {
    return told`curfew.timeZone: must be the name of a time zone such as Europe/Berlin or UTC`;
  }
  return undefined;
}

export interface CurfewCheck {
  /** Whether the wall time at `now` lies in the curfew; its last minute is the one before `to`. */
  isOn(now: number): boolean;
}

/** A time zone that this system does not know keeps the key out: nobody can say when it is night there. */
export function createCurfewCheck({ from, to, timeZone }: Curfew): CurfewCheck {
  const wallClock = createWallClock(timeZone);
  return {
    isOn(now) {
      if (wallClock === undefined) return true;
      const time = wallClock.format(now);
      return from < to ? from <= time && time < to : from <= time || time < to;
    },
  };
}

function createWallClock(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
