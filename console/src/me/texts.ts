// Chooses the language of the page of a key's holder: each folder of texts that has some for it is one.

/// <reference types="vite/types/importMeta.d.ts" />

import { me as en, type MeTexts } from '../i18n/en/me.ts';

const TEXTS = import.meta.glob<MeTexts>('../i18n/*/me.ts', { eager: true, import: 'me' });

/** In the first language of the browser that there is. */
export function chooseTexts(languages: readonly string[]): { language: string; texts: MeTexts } {
  for (const tag of languages) {
    const code = tag.split('-')[0] ?? '';
    const texts = TEXTS[`../i18n/${code}/me.ts`];
    if (texts !== undefined) return { language: code === 'zh' ? 'zh-CN' : tag, texts };
  }
  return { language: 'en', texts: en };
}
