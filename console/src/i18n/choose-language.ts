// Chooses language and names, loads the texts when a page needs them, and changes them while the console is open.

import { createInstance, type i18n } from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { en } from './en.ts';
import {
  FALLBACK,
  isLanguage,
  LANGUAGES,
  loadFirst,
  loadNeutral,
  loadOthers,
} from './languages.ts';
import { speak } from './load-sentences.ts';
import { createFormatter } from './text-values.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

/** What is not among the first texts is looked for in the rest; before that in the neutral ones, while those are chosen. */
const FIRST = 'translation';
const NEUTRAL = 'neutral';
const REST = 'rest';

const LOADS = { [FIRST]: loadFirst, [NEUTRAL]: loadNeutral, [REST]: loadOthers };
type Part = keyof typeof LOADS;

/** Whether protocols are called by names of vendors; what that means is in the file of their names. */
export type Names = 'vendor' | 'neutral';

const LANGUAGE_STORED_AS = 'isthmus-language';
const NAMES_STORED_AS = 'isthmus-names';

/** Starts with the language chosen before, else the browser's first one that there is. */
export async function startTexts(): Promise<i18n> {
  const stored = readStored(LANGUAGE_STORED_AS);
  const language = isLanguage(stored) ? stored : (readBrowser() ?? FALLBACK);
  const instance = createInstance();
  await instance
    .use(createFormatter())
    .use(initReactI18next)
    .init({
      lng: language,
      resources: { [language]: { [FIRST]: await loadFirst(language) } },
      fallbackNS: [NEUTRAL, REST],
      fallbackLng: FALLBACK,
      // A text that a language misses is English: its texts are loaded once one is missed.
      saveMissing: true,
      missingKeyHandler: () => void loadFallback(instance),
      react: { bindI18nStore: 'added removed' },
      // React shows every text as text.
      interpolation: { escapeValue: false, alwaysFormat: true },
      returnNull: false,
    });
  if (readStored(NAMES_STORED_AS) === 'neutral') await add(instance, language, NEUTRAL);
  markDocument(language);
  return instance;
}

/** Before any page but the overview is shown; at once where they are there. */
export async function loadRest(instance: i18n): Promise<void> {
  await add(instance, instance.language, REST);
}

export async function changeLanguage(instance: i18n, language: string): Promise<void> {
  await Promise.all([add(instance, language, FIRST), add(instance, language, REST)]);
  if (namesOf(instance) === 'neutral') await add(instance, language, NEUTRAL);
  await instance.changeLanguage(language);
  markDocument(language);
  store(LANGUAGE_STORED_AS, language);
}

export function namesOf(instance: i18n): Names {
  return instance.hasResourceBundle(instance.language, NEUTRAL) ? 'neutral' : 'vendor';
}

export async function changeNames(instance: i18n, names: Names): Promise<void> {
  if (names === 'neutral') await add(instance, instance.language, NEUTRAL);
  else for (const { code } of LANGUAGES) instance.removeResourceBundle(code, NEUTRAL);
  store(NAMES_STORED_AS, names);
}

async function loadFallback(instance: i18n): Promise<void> {
  await Promise.all([add(instance, FALLBACK, FIRST), add(instance, FALLBACK, REST)]);
}

async function add(instance: i18n, language: string, part: Part): Promise<void> {
  if (instance.hasResourceBundle(language, part)) return;
  instance.addResourceBundle(language, part, await LOADS[part](language));
}

function markDocument(language: string): void {
  speak(language);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : language;
}

function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser that stores nothing keeps the choice until the page is left.
  }
}

function readBrowser(): string | undefined {
  return navigator.languages.map((tag) => tag.split('-')[0] ?? '').find(isLanguage);
}
