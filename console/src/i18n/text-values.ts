// Writes the numbers that stand in texts as the language does, 1,200 and not 1200, and keeps names from turning texts.

import type { FormatterModule } from 'i18next';

/** Needs `alwaysFormat`. Texts that are put into a text stay as they are, but for what runs from right to left. */
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
      typeof value === 'number' ? formatOf(language).format(value) : isolate(String(value ?? '')),
  };
}

/** Letters that run from right to left, and what turns the direction by force. */
const TURNING =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Bidi_C}]/u;
const ISOLATES = /[\u2066-\u2069]/g;

/** A name of another direction, or one that forces it, has no effect on what stands behind it. */
export function isolate(text: string): string {
  return TURNING.test(text) ? `\u2068${text.replace(ISOLATES, '')}\u2069` : text;
}
