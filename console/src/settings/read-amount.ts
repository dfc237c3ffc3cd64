// Reads an amount as people write it: grouped, with an exponent, or with the unit of its field.

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

const AMOUNT = /^([+-]?(?:\d{1,3}(?:[, ]\d{3})+|\d+)?(?:\.\d*)?(?:e[+-]?\d+)?) *(\D*)$/;
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
