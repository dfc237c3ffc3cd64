// What the page of the usage shows, as its address has it.

import {
  USAGE_GROUPS,
  USAGE_STEPS,
  type UsageGroup,
  type UsageStep,
} from '../../api/queries/usage.ts';
import { ownTimeZone } from '../../components/own-time-zone.ts';

export const PERIODS = ['day', 'week', 'month', 'quarter'] as const;
export type Period = (typeof PERIODS)[number];

export interface UsageView {
  readonly period: Period;
  readonly step: UsageStep;
  readonly by: UsageGroup;
  readonly zone: string;
}

const HOUR_MS = 3_600_000;
const PERIOD_HOURS: Readonly<Record<Period, number>> = {
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
  quarter: ['week', 'day'],
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
  };
}

/** From the finest to the coarsest. */
export function stepsOf(period: Period): readonly UsageStep[] {
  return USAGE_STEPS.filter((step) => PERIOD_STEPS[period].includes(step));
}

/** To the hour, so that it is the same for a while. @param now milliseconds since the epoch */
export function startOfPeriod(period: Period, now: number): number {
  const hours = PERIOD_HOURS[period] - 1;
  return Math.floor(now / HOUR_MS) * HOUR_MS - hours * HOUR_MS;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** What narrows the list of requests to those of a group; nothing where they reached none. */
export function searchOfGroup(by: UsageGroup, group: string): Readonly<Record<string, string>> {
  return by === 'none' || group === '' ? {} : { [by]: group };
}
