// Writes the numbers that stand in texts as the language does: 1,200 and not 1200.

import type { FormatterModule } from 'i18next';

/** Needs `alwaysFormat`. Texts that are put into a text stay as they are. */
export function createFormatter(): FormatterModule {
  const formats = new Map<string, Intl.NumberFormat>();
  const formatOf = (language: string): Intl.NumberFormat => {
    const known = formats.get(language) ?? new Intl.NumberFormat(language);
    formats.set(language, known);
    return known;
  };
  return {
    type: 'formatter',
    init: () => undefined,
    add: () => undefined,
    addCached: () => undefined,
    format: (value: unknown, _format, language = 'en') =>
      typeof value === 'number' ? formatOf(language).format(value) : String(value ?? ''),
  };
}
