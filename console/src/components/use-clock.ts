// Times to the second and the millisecond, for lists in which things happen close together.

import { useTranslation } from 'react-i18next';
import type { Time } from '../../../src/admin/contract.ts';
import { regionOf } from '../i18n/region.ts';
import { readTime } from './use-format.ts';

export interface Clock {
  /** 14:05:09 today, with the day in front before today. */
  time(at: Time): string;
  /** 14:05:09.123, with the day in front before today. */
  exact(at: Time): string;
}

/** One for all rows, as of the other formats. */
let made: readonly [language: string, Clock] | undefined;

export function useClock(): Clock {
  const { language } = useTranslation().i18n;
  if (made?.[0] !== language) made = [language, createClock(regionOf(language))];
  return made[1];
}

function createClock(region: string): Clock {
  const parts = {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  } as const;
  const time = new Intl.DateTimeFormat(region, parts);
  const exact = new Intl.DateTimeFormat(region, { ...parts, fractionalSecondDigits: 3 });
  const day = new Intl.DateTimeFormat(region, { month: 'short', day: 'numeric' });
  const write = (format: Intl.DateTimeFormat, at: Time): string => {
    const date = new Date(readTime(at));
    const isToday = date.toDateString() === new Date().toDateString();
    return isToday ? format.format(date) : `${day.format(date)} ${format.format(date)}`;
  };
  return { time: (at) => write(time, at), exact: (at) => write(exact, at) };
}
