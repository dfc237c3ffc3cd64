// What a time and a stretch of it are called, as fine as its steps are.

import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { regionOf } from '../../i18n/region.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export interface SpanNames {
  tick(at: number): string;
  /** @param to not included */
  span(from: number, to: number): string;
}

export function useSpanNames(stepMs: number): SpanNames {
  const { i18n } = useTranslation();
  const { language } = i18n;
  return useMemo(() => {
    const format = new Intl.DateTimeFormat(regionOf(language), {
      month: 'short',
      day: 'numeric',
      ...(stepMs < DAY_MS && { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
      ...(stepMs < MINUTE_MS && { second: '2-digit' }),
    });
    return {
      tick: (at) => format.format(at),
      span: (from, to) => format.formatRange(from, to),
    };
  }, [language, stepMs]);
}
