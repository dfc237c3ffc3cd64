import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CALENDAR_STEPS, createCalendar } from './calendar.ts';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/Santiago',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Africa/Cairo',
];

test('periods follow each other without gap and hold their moment, in all zones and when clocks change', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CALENDAR_STEPS),
      fc.constantFrom(...ZONES),
      fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2035, 0, 1) }),
      (step, timeZone, at) => {
        const calendar = createCalendar(timeZone);
        const spanAt = (moment: number) => {
          const from = calendar?.startOf(moment, step) ?? Number.NaN;
          return { from, until: calendar?.endOf(from, step) ?? Number.NaN };
        };
        const span = spanAt(at);
        expect(span.from <= at && at < span.until).toBe(true);
        expect(spanAt(span.until).from).toBe(span.until);
        expect(spanAt(span.until - 1)).toEqual(span);
        const day = new Intl.DateTimeFormat('en-GB', {
          ...{ timeZone, weekday: 'short', day: 'numeric' },
        }).format(span.from);
        if (step === 'week') expect(day).toMatch(/Mon/);
        if (step === 'month') expect(day).toMatch(/\b1\b/);
      },
    ),
    { numRuns: 300 },
  );
});
