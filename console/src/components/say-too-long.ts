// Says that a text is longer than it may be: a field that cuts what is pasted would not say what is missing.

import type { TFunction } from 'i18next';

/** Undefined for a text of at most so many characters. */
export function sayTooLong(text: string, most: number, t: TFunction): string | undefined {
  return text.length > most ? t('common.tooLong', { most, count: text.length }) : undefined;
}
