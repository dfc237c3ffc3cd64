// What hours, days, weeks and months are called, in the language of the console and the chosen time zone.

import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { regionOf } from '../../i18n/region.ts';
import type { UsageView } from './usage-view.ts';

export interface StepNames {
  /** Short, for below a column. */
  tick(at: number): string;
  title(at: number): string;
}

export function useStepNames({ step, period, zone }: UsageView): StepNames {
  const { i18n } = useTranslation();
  const { language } = i18n;
  return useMemo(() => {
    const region = regionOf(language);
    const timeZone = zone;
    const day = { month: 'short', day: 'numeric' } as const;
    const hour = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    const isHour = step === 'hour';
    const tick = new Intl.DateTimeFormat(region, {
      timeZone,
      ...(isHour && period === 'day' ? hour : day),
    });
    const title = new Intl.DateTimeFormat(region, {
      timeZone,
      weekday: 'short',
      ...day,
      ...(isHour ? hour : {}),
    });
    const month = new Intl.DateTimeFormat(region, { timeZone, year: 'numeric', month: 'long' });
    const weekEnd = (at: number): number => at + 6.5 * 86_400_000;
    return {
      tick: (at) => tick.format(at),
      title: (at) =>
        step === 'month'
          ? month.format(at)
          : step === 'week'
            ? `${tick.format(at)} – ${tick.format(weekEnd(at))}`
            : title.format(at),
    };
  }, [language, step, period, zone]);
}
