// Reads an amount as people write it: grouped, with an exponent, or with the unit of its field.

import type { en } from '../i18n/en.ts';

export type Amount =
  | { readonly kind: 'none' }
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'unreadable' };

export interface AmountOptions {
  /** Reads also `16 MB`: units of 1024, as those in which sizes are shown. */
  readonly isSize: boolean;
  /** The words that may stand behind the number and change nothing. */
  readonly words: readonly string[];
}

// No group begins with a 0: `0,250` is a quarter to who writes it.
const AMOUNT = /^([+-]?(?:[1-9]\d{0,2}(?:[, ]\d{3})+|\d+)?(?:\.\d*)?(?:e[+-]?\d+)?) *(\D*)$/;
const SIZE_UNIT = /^(?:([kmgt])i?b?|b|bytes?)$/;
const PREFIXES = ['k', 'm', 'g', 't'];

export function readAmount(text: string, { isSize, words }: AmountOptions): Amount {
  const written = text.normalize('NFKC').trim().toLowerCase();
  if (written === '') return { kind: 'none' };
  const [, digits = '', unit = ''] = AMOUNT.exec(written) ?? [];
  const scale = unit === '' || words.includes(unit) ? 1 : isSize ? readSizeUnit(unit) : undefined;
  const number = /\d/.test(digits) ? Number(digits.replaceAll(/[, ]/g, '')) : Number.NaN;
  if (scale === undefined || !Number.isFinite(number)) return { kind: 'unreadable' };
  // A part of a byte is what became of a decimal.
  return { kind: 'value', value: scale === 1 ? number : Math.round(number * scale) };
}

function readSizeUnit(unit: string): number | undefined {
  const [found, prefix] = SIZE_UNIT.exec(unit) ?? [];
  if (found === undefined) return undefined;
  return prefix === undefined ? 1 : 1024 ** (PREFIXES.indexOf(prefix) + 1);
}

const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 20 });

/** As `readAmount` takes it back. */
export function writeGrouped(value: number): string {
  return GROUPED.format(value);
}

/** What an amount may be. */
export interface AmountRange {
  readonly least: number;
  readonly most: number;
  readonly isWhole: boolean;
  /** True where nothing is no answer. */
  readonly isNeeded?: boolean;
  readonly unit?: AmountUnit;
}

type AmountUnit = keyof (typeof en)['settings']['units'];

export type AmountProblem = 'outOfRange' | 'notWhole' | 'unreadable' | 'unreadableSize';

export function findAmountProblem(range: AmountRange, amount: Amount): AmountProblem | undefined {
  const { least, most, isWhole, isNeeded = false, unit } = range;
  switch (amount.kind) {
    case 'none':
      return isNeeded ? 'unreadable' : undefined;
    case 'unreadable':
      return unit === 'bytes' ? 'unreadableSize' : 'unreadable';
    case 'value':
      if (amount.value < least || amount.value > most) return 'outOfRange';
      return isWhole && amount.value % 1 !== 0 ? 'notWhole' : undefined;
    default:
      return amount satisfies never;
  }
}

/** The value of a text that has no problem; undefined for none, and for one that has. */
export function takeAmount(text: string, range: AmountRange): number | undefined {
  const amount = readAmount(text, NO_UNIT);
  if (amount.kind !== 'value' || findAmountProblem(range, amount) !== undefined) return undefined;
  return amount.value;
}

/** Whether a text can be saved as an amount, also as none. */
export function isGoodAmount(text: string, range: AmountRange): boolean {
  return findAmountProblem(range, readAmount(text, NO_UNIT)) === undefined;
}

const NO_UNIT: AmountOptions = { isSize: false, words: [] };
