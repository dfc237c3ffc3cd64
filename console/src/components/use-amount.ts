// Reads amounts of one range in the language of the console, and says what is wrong with them.

import { useTranslation } from 'react-i18next';
import { type Amount, type AmountRange, findAmountProblem, readAmount } from './read-amount.ts';
import { writeLimit } from './write-bytes.ts';

export interface ReadAmount {
  /** Undefined for an amount without a unit. */
  readonly unitText: string | undefined;
  read(text: string): Amount;
  /** Undefined for what can be saved. */
  sayProblem(text: string): string | undefined;
}

export function useAmount(range: AmountRange): ReadAmount {
  const { t } = useTranslation();
  const say = useSayAmountProblem();
  const { unit } = range;
  const unitText = unit === undefined ? undefined : t(`settings.units.${unit}`);
  const words = unitText === undefined ? [] : [unitText];
  const read = (text: string): Amount => readAmount(text, { isSize: unit === 'bytes', words });
  return { unitText, read, sayProblem: (text) => say(range, read(text)) };
}

/** For forms of several amounts. */
export function useSayAmountProblem(): (range: AmountRange, amount: Amount) => string | undefined {
  const { t } = useTranslation();
  return (range, amount) => {
    const problem = findAmountProblem(range, amount);
    if (problem === undefined) return undefined;
    const write = (value: number): string =>
      writeLimit(value, range.unit, t('settings.units.bytes'));
    return t(`settings.${problem}`, { least: write(range.least), most: write(range.most) });
  };
}
