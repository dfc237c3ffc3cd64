// What the page of the usage shows, as its address has it.

import {
  NARROWING,
  USAGE_GROUPS,
  USAGE_STEPS,
  type UsageGroup,
  type UsageNarrowing,
  type UsageStep,
} from '../../api/queries/usage.ts';
import { ownTimeZone } from '../../components/own-time-zone.ts';

export const PERIODS = ['day', 'week', 'month', 'quarter', 'thisMonth'] as const;
export type Period = (typeof PERIODS)[number];

export interface UsageView {
  readonly period: Period;
  readonly step: UsageStep;
  readonly by: UsageGroup;
  readonly zone: string;
  /** Whose usage alone is shown. */
  readonly filter: UsageNarrowing;
}

const HOUR_MS = 3_600_000;
const PERIOD_HOURS: Readonly<Record<Exclude<Period, 'thisMonth'>, number>> = {
  day: 24,
  week: 7 * 24,
  month: 30 * 24,
  quarter: 90 * 24,
};

/** Steps that give neither a single column nor thousands; the first is meant where none is said. */
const PERIOD_STEPS: Readonly<Record<Period, readonly UsageStep[]>> = {
  day: ['hour'],
  week: ['day', 'hour'],
  month: ['day', 'week'],
  quarter: ['week', 'day', 'month'],
  thisMonth: ['day', 'week'],
};

export function readView(texts: Readonly<Record<string, string | undefined>>): UsageView {
  const period = PERIODS.find((one) => one === texts.period) ?? 'week';
  const [usual = 'day'] = PERIOD_STEPS[period];
  const { zone } = texts;
  return {
    period,
    step: PERIOD_STEPS[period].find((one) => one === texts.step) ?? usual,
    by: USAGE_GROUPS.find((one) => one === texts.by) ?? 'model',
    zone: zone !== undefined && isTimeZone(zone) ? zone : ownTimeZone(),
    filter: Object.fromEntries(
      NARROWING.flatMap((name) => (texts[name] === undefined ? [] : [[name, texts[name]]])),
    ),
  };
}

/** From the finest to the coarsest. */
export function stepsOf(period: Period): readonly UsageStep[] {
  return USAGE_STEPS.filter((step) => PERIOD_STEPS[period].includes(step));
}

/**
 * To the hour, so that it is the same for a while; this month begins where that of the zone does.
 * @param now milliseconds since the epoch
 */
export function startOfPeriod(period: Period, now: number, zone = ownTimeZone()): number {
  if (period === 'thisMonth') return startOfMonth(zone, now);
  const hours = PERIOD_HOURS[period] - 1;
  return Math.floor(now / HOUR_MS) * HOUR_MS - hours * HOUR_MS;
}

/** Some hour of its first day; the gateway begins where the day does. */
function startOfMonth(timeZone: string, now: number): number {
  const day = new Intl.DateTimeFormat('en', { timeZone, day: 'numeric' });
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  return hour - (Number(day.format(hour)) - 1) * 24 * HOUR_MS;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** What narrows the list of requests to those of a group, or to those that are in none. */
export function searchOfGroup(by: UsageGroup, group: string): Readonly<Record<string, string>> {
  if (by === 'none') return {};
  return group === '' ? { without: by } : { [by]: group };
}
