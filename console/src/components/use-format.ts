// Numbers, times and durations in the language of the console.

import { useTranslation } from 'react-i18next';
import type { Time } from '../../../src/admin/contract.ts';
import { regionOf } from '../i18n/region.ts';

export interface Format {
  /** 12,345 */
  number(value: number): string;
  /** 12K */
  compact(value: number): string;
  /** 42%, of a value from 0 to 100; 0.3% and 99.9% where the whole number would say none or all. */
  percent(value: number): string;
  /** $1.23, of billionths of a dollar; small amounts to the digit that says something. */
  money(nanos: number): string;
  /** $0.125, of dollars: a price with all its digits. */
  price(dollars: number): string;
  /** 2h 13m, 4m 20s, 1.9s, 830ms */
  duration(ms: number): string;
  /** 5 minutes ago */
  relative(at: Time, now: number): string;
  /** Date and time with the zone. */
  absolute(at: Time): string;
  /** Nov 21, 2026 */
  date(at: Time): string;
  /** 14:05 */
  clock(at: Time): string;
}

export function readTime(at: Time): number {
  return typeof at === 'number' ? at : Date.parse(at);
}

/** One for all components: what `Intl` makes costs more than the row that shows it. */
let made: readonly [language: string, justNow: string, Format] | undefined;

export function useFormat(): Format {
  const { t, i18n } = useTranslation();
  const { language } = i18n;
  const justNow = t('common.justNow');
  if (made?.[0] !== language || made[1] !== justNow) {
    made = [language, justNow, createFormat(language, regionOf(language), justNow)];
  }
  return made[2];
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365.25 * DAY;

/** Dollars, from which on cents say enough. */
const CENTS_FROM = 0.0995;

/** @param region the language as dates are written where the person is, such as `en-GB` */
export function createFormat(language: string, region: string, justNow: string): Format {
  const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const compact = new Intl.NumberFormat(language, {
    notation: 'compact',
    maximumFractionDigits: 1,
  });
  const share = { style: 'percent', maximumFractionDigits: 0 } as const;
  const percent = new Intl.NumberFormat(language, share);
  const nearlyNone = new Intl.NumberFormat(language, { ...share, maximumSignificantDigits: 1 });
  const nearlyAll = new Intl.NumberFormat(language, {
    ...share,
    maximumFractionDigits: 1,
    roundingMode: 'floor',
  });
  const currency = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
  const money = new Intl.NumberFormat(language, currency);
  const smallMoney = new Intl.NumberFormat(language, { ...currency, maximumSignificantDigits: 2 });
  const price = new Intl.NumberFormat(language, { ...currency, maximumFractionDigits: 9 });
  const relative = new Intl.RelativeTimeFormat(language, { style: 'short' });
  const absolute = new Intl.DateTimeFormat(region, {
    dateStyle: 'medium',
    timeStyle: 'long',
    hourCycle: 'h23',
  });
  const date = new Intl.DateTimeFormat(region, { dateStyle: 'medium' });
  const clock = new Intl.DateTimeFormat(region, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const units = new Map<string, Intl.NumberFormat>();
  const unit = (value: number, name: string): string => {
    const known =
      units.get(name) ??
      new Intl.NumberFormat(language, {
        style: 'unit',
        unit: name,
        unitDisplay: 'narrow',
        maximumFractionDigits: name === 'second' ? 1 : 0,
      });
    units.set(name, known);
    return known.format(value);
  };
  return {
    number: (value) => plain.format(value),
    compact: (value) => compact.format(value),
    percent(value) {
      if (value > 0 && value < 1) return nearlyNone.format(value / 100);
      return (value > 99 && value < 100 ? nearlyAll : percent).format(value / 100);
    },
    money(nanos) {
      const amount = nanos / 1e9;
      const isSmall = amount !== 0 && Math.abs(amount) < CENTS_FROM;
      return (isSmall ? smallMoney : money).format(amount);
    },
    price: (dollars) => price.format(dollars),
    duration: (ms) => writeDuration(ms, unit),
    relative(at, now) {
      const away = readTime(at) - now;
      if (Math.abs(away) < 5 * SECOND) return justNow;
      const [size, name] = unitOf(Math.abs(away));
      return relative.format(Math.trunc(away / size), name);
    },
    absolute: (at) => absolute.format(readTime(at)),
    date: (at) => date.format(readTime(at)),
    clock: (at) => clock.format(readTime(at)),
  };
}

function unitOf(ms: number): [size: number, name: Intl.RelativeTimeFormatUnit] {
  if (ms < MINUTE) return [SECOND, 'second'];
  if (ms < HOUR) return [MINUTE, 'minute'];
  if (ms < DAY) return [HOUR, 'hour'];
  // Up to two years days say more.
  if (ms < 2 * YEAR) return [DAY, 'day'];
  return [YEAR, 'year'];
}

/** The two largest units that count; below a minute one, to the tenth of a second. */
function writeDuration(ms: number, unit: (value: number, name: string) => string): string {
  if (Math.round(ms) < SECOND) return unit(Math.max(0, Math.round(ms)), 'millisecond');
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return unit(tenths / 10, 'second');
  const steps: readonly (readonly [number, string])[] = [
    [DAY, 'day'],
    [HOUR, 'hour'],
    [MINUTE, 'minute'],
    [SECOND, 'second'],
  ];
  let rest = Math.max(ms, MINUTE);
  const first = steps.findIndex(([size]) => rest >= size);
  const parts: string[] = [];
  for (const [size, name] of steps.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(unit(count, name));
  }
  return parts.join(' ');
}
