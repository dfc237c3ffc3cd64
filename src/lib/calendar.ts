// Hours, days, weeks and months as the calendar of a time zone has them.

export const CALENDAR_STEPS = ['hour', 'day', 'week', 'month'] as const;
export type CalendarStep = (typeof CALENDAR_STEPS)[number];

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Time zones differ from UTC by whole quarters of an hour. */
export const QUARTER_MS = 900_000;
/** 1 January 1970 was a Thursday; weeks begin on Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

export interface Calendar {
  /** The beginning of the hour, day, week or month that holds a moment; milliseconds since the epoch. */
  startOf(at: number, step: CalendarStep): number;
  /** The beginning of the next one. @param start the beginning of one */
  endOf(start: number, step: CalendarStep): number;
}

/** @param timeZone IANA name, such as `Europe/Zurich`. @returns undefined for one that this system does not know */
export function createCalendar(timeZone: string): Calendar | undefined {
  const zone = createZone(timeZone);
  if (zone === undefined) return undefined;
  // Zones of long ago differ from UTC by odd minutes.
  const startOfLocal = (local: number): number =>
    Math.round(zone.toUtc(local) / QUARTER_MS) * QUARTER_MS;
  return {
    startOf(at, step) {
      const local = zone.toLocal(at);
      switch (step) {
        case 'hour':
          // Hours are as long as each other, also when clocks change.
          return Math.floor((at - (local % HOUR_MS)) / QUARTER_MS + 1e-9) * QUARTER_MS;
        case 'day':
          return startOfLocal(local - (local % DAY_MS));
        case 'week':
          return startOfLocal(startOfWeek(local));
        case 'month':
          return startOfLocal(startOfMonth(local, 0));
        default:
          return step satisfies never;
      }
    },
    endOf(start, step) {
      if (step === 'hour') return start + HOUR_MS;
      // Noon of a day is on that day whatever the clocks do in the night.
      const noon = zone.toLocal(start) + DAY_MS / 2;
      if (step === 'month') return startOfLocal(startOfMonth(noon, 1));
      const later = noon + (step === 'day' ? 1 : 7) * DAY_MS;
      return startOfLocal(later - (later % DAY_MS));
    },
  };
}

function createZone(timeZone: string) {
  const format = createZoneFormat('en-US', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
  });
  if (format === undefined) return undefined;
  const toLocal = (at: number): number => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (name: 'year' | 'month' | 'day' | 'hour' | 'minute'): number =>
      parts.get(name) ?? 0;
    return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
  };
  const offsetAt = (at: number): number => toLocal(at) - Math.floor(at / 60_000) * 60_000;
  return {
    /** What clocks show, as if it were UTC, in milliseconds. */
    toLocal,
    /** The first moment at which clocks show so much, or more where they leave it out. */
    toUtc(local: number): number {
      const before = local - offsetAt(local - DAY_MS);
      const after = local - offsetAt(local + DAY_MS);
      // Clocks that change at midnight show it twice, or not at all.
      const [first, second] = before < after ? [before, after] : [after, before];
      return first === second || toLocal(first) >= local ? first : second;
    },
  };
}

/** Undefined for a time zone that this system does not know. */
export function createZoneFormat(
  locale: string,
  format: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat(locale, format);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function startOfWeek(local: number): number {
  const week = 7 * DAY_MS;
  return Math.floor((local - FIRST_MONDAY_MS) / week) * week + FIRST_MONDAY_MS;
}

/** @param later by so many months */
function startOfMonth(local: number, later: number): number {
  const day = new Date(local);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + later, 1);
}
