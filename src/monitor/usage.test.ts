import { expect, test } from 'vitest';
import { cutSpans } from './usage.ts';

const at = (text: string): number => Date.parse(text);

function startsOf(
  from: string,
  to: string,
  cut: { step: 'hour' | 'day' | 'week'; timeZone: string },
): string[] {
  const spans = cutSpans({ from: at(from), to: at(to), ...cut });
  for (const [index, { to: end }] of spans.entries()) {
    expect(spans[index + 1]?.from ?? end).toBe(end);
  }
  return spans.map(({ from: start }) => new Date(start).toISOString().slice(5, 16));
}

test('days begin at midnight of the time zone, also half an hour or three quarters off', () => {
  const from = '2026-03-01T12:00:00Z';
  const to = '2026-03-03T01:00:00Z';
  expect(startsOf(from, to, { step: 'day', timeZone: 'UTC' })).toEqual([
    '03-01T00:00',
    '03-02T00:00',
    '03-03T00:00',
  ]);
  expect(startsOf(from, to, { step: 'day', timeZone: 'Asia/Kolkata' })).toEqual([
    '02-28T18:30',
    '03-01T18:30',
    '03-02T18:30',
  ]);
  expect(startsOf(from, to, { step: 'day', timeZone: 'Asia/Kathmandu' })[0]).toBe('02-28T18:15');
  expect(startsOf(from, to, { step: 'hour', timeZone: 'Asia/Kolkata' })[0]).toBe('03-01T11:30');
});

test('days are 23 or 25 hours long when clocks change, and weeks keep their Monday', () => {
  const zurich = { timeZone: 'Europe/Zurich' } as const;
  expect(
    startsOf('2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z', { step: 'day', ...zurich }),
  ).toEqual(['03-27T23:00', '03-28T23:00', '03-29T22:00']);
  expect(
    startsOf('2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z', { step: 'day', ...zurich }),
  ).toEqual(['10-23T22:00', '10-24T22:00', '10-25T23:00']);
  expect(
    startsOf('2026-03-25T12:00:00Z', '2026-04-06T12:00:00Z', { step: 'week', ...zurich }),
  ).toEqual(['03-22T23:00', '03-29T22:00', '04-05T22:00']);
  expect(
    startsOf('2026-03-29T00:30:00Z', '2026-03-29T02:30:00Z', { step: 'hour', ...zurich }),
  ).toEqual(['03-29T00:00', '03-29T01:00', '03-29T02:00']);
});

test('a day begins where its clocks do, when the hour behind midnight is left out or comes twice', () => {
  const days = (from: string, to: string, timeZone: string) =>
    startsOf(from, to, { step: 'day', timeZone });
  expect(days('2024-09-07T12:00:00Z', '2024-09-09T12:00:00Z', 'America/Santiago')).toEqual([
    ...['09-07T04:00', '09-08T04:00', '09-09T03:00'],
  ]);
  expect(days('2024-04-06T12:00:00Z', '2024-04-08T12:00:00Z', 'America/Santiago')).toEqual([
    ...['04-06T03:00', '04-07T04:00', '04-08T04:00'],
  ]);
  expect(days('2024-11-02T12:00:00Z', '2024-11-04T12:00:00Z', 'America/Havana')).toEqual([
    ...['11-02T04:00', '11-03T04:00', '11-04T05:00'],
  ]);
  expect(days('2024-04-25T12:00:00Z', '2024-04-27T12:00:00Z', 'Africa/Cairo')).toEqual([
    ...['04-24T22:00', '04-25T22:00', '04-26T21:00'],
  ]);
});

test('unknown zones, times turned round and too many pieces are refused by name', () => {
  const from = at('2026-01-01');
  const to = at('2026-12-31');
  const base = { from, to, step: 'day', timeZone: 'UTC' } as const;
  expect(() => cutSpans({ ...base, timeZone: 'Mars/Base' })).toThrow(/timeZone/);
  expect(() => cutSpans({ ...base, to: from })).toThrow(/^to:/);
  expect(() => cutSpans({ ...base, step: 'hour' })).toThrow(/^step:/);
  expect(cutSpans(base)).toHaveLength(364);
});
