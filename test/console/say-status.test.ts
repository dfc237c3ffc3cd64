// What the overview says first, over figures of the last hour.

import { createInstance } from 'i18next';
import { expect, test } from 'vitest';
import { overview } from '../../console/src/i18n/en/overview.ts';
import { createFormatter } from '../../console/src/i18n/text-values.ts';
import { sayHeadline, sayHint } from '../../console/src/pages/overview/say-status.ts';

const texts = createInstance();
await texts.use(createFormatter()).init({
  lng: 'en',
  resources: { en: { translation: { overview } } },
  interpolation: { escapeValue: false, alwaysFormat: true },
});

/** Of ten requests a minute these many failed, so many minutes ago. */
function say(errors: number, minutesAgo: number): readonly [string, string] {
  const series = Array.from({ length: 60 }, (_, index) => ({
    at: index * 60_000,
    requests: 10,
    errors: index === 59 - minutesAgo ? errors : 0,
    faults: 0,
    tokens: 0,
  }));
  const said = { status: 'ok' as const, attention: [], series, isSandbox: false };
  return [sayHeadline(said, texts.t), sayHint(said, texts.t)];
}

test('all is well where nothing failed', () => {
  expect(say(0, 0)).toEqual([
    'All systems operational',
    'Accounts have quota and requests succeed.',
  ]);
});

test('all is not called well over failures of the last minutes', () => {
  const hint = '1 of 50 requests failed in the last five minutes.';
  expect(say(1, 0)).toEqual(['Requests are served', hint]);
  expect(say(1, 4)).toEqual(['Requests are served', hint]);
});

test('failures that are over are told in a quiet line', () => {
  expect(say(4, 5)).toEqual([
    'All systems operational',
    '4 of 600 requests failed in the last hour, none in the last five minutes.',
  ]);
});

test('a note beside the things that need attention is none of them', () => {
  const entry = { wayOut: '', link: '/', message: '', about: {} };
  const attention = [
    { ...entry, kind: 'many-errors' as const, severity: 'warning' as const },
    { ...entry, kind: 'sandbox' as const, severity: 'info' as const },
  ];
  const said = { status: 'attention' as const, attention, series: [], isSandbox: true };
  expect(sayHeadline(said, texts.t)).toBe('1 item needs attention');
});

test('nothing is called failing before anybody has asked', () => {
  const entry = { wayOut: '', link: '/', message: '', about: {}, severity: 'error' as const };
  const headline = (errors: number) =>
    sayHeadline(
      {
        status: 'trouble',
        attention: [{ ...entry, kind: 'no-accounts' }],
        series: [{ at: 0, requests: errors, errors, faults: errors, tokens: 0 }],
        isSandbox: false,
      },
      texts.t,
    );
  expect(headline(0)).toBe('Requests cannot be served');
  expect(headline(1)).toBe('Requests are failing');
});

test('items below are told as many as there are, and nothing is called served past a spent budget', () => {
  const entry = { wayOut: '', link: '/', message: '', about: {}, severity: 'warning' as const };
  const hint = (...kinds: readonly ('quota-low' | 'budget-spent' | 'sandbox')[]) => {
    const attention = kinds.map((kind) => ({
      ...{ ...entry, kind },
      ...(kind === 'sandbox' ? { severity: 'info' as const } : {}),
    }));
    const said = { status: 'attention' as const, attention, series: [], isSandbox: false };
    return sayHint(said, texts.t);
  };
  expect(hint('quota-low', 'sandbox')).toBe(
    'Requests are served. Check the item below when you have time.',
  );
  expect(hint('quota-low', 'quota-low')).toBe(
    'Requests are served. Check the items below when you have time.',
  );
  expect(hint('budget-spent')).toBe('Start with the first item below.');
});
