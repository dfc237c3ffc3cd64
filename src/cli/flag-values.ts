// Readers of flag values that several commands share: numbers, times and spans of time.

import { InvalidArgumentError } from 'commander';
import { readWord } from '../config/values.ts';

export function readWholeNumber(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A span such as `12h`, `7d` or `4w`, in milliseconds. */
export function readSpan(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text.trim()) ?? [];
  const unitMs = UNITS_MS[unit];
  if (count === undefined || unitMs === undefined || Number(count) === 0) {
    throw new InvalidArgumentError('It must be a span such as 12h, 7d or 4w.');
  }
  return Number(count) * unitMs;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/** A day, which begins at midnight of this machine, or a time, of its zone where none is named; since the epoch. */
export function readTime(text: string): number {
  const given = text.trim();
  const isKnown = DAY.test(given) || TIME.test(given);
  const at = Date.parse(DAY.test(given) ? `${given}T00:00` : given.replace(' ', 'T'));
  if (isKnown && !Number.isNaN(at)) return at;
  throw new InvalidArgumentError('It must be a day or a time such as 2026-12-31T18:00.');
}

/** The reader of a flag from one whose errors begin with a verb. */
export function checked<Value>(read: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError(`It ${error instanceof Error ? error.message : 'is wrong'}.`);
    }
  };
}

export function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return checked((text) => readWord(text, words));
}

/** The time zone of this machine, for flags that name none. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
