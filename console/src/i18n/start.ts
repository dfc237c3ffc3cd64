// Chooses the language, loads its texts when a page needs them, and changes it while the console is open.

import { createInstance, type i18n } from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { en } from './en.ts';
import { createFormatter } from './formatter.ts';
import { FALLBACK, isLanguage, loadFirst, loadOthers } from './languages.ts';
import { speak } from './load-sentences.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

/** What is not among the first texts is looked for in the rest. */
const FIRST = 'translation';
const REST = 'rest';
type Part = typeof FIRST | typeof REST;

const STORED_AS = 'isthmus-language';

/** Starts with the language chosen before, else the browser's first one that there is. */
export async function startTexts(): Promise<i18n> {
  const language = readStored() ?? readBrowser() ?? FALLBACK;
  const instance = createInstance();
  await instance
    .use(createFormatter())
    .use(initReactI18next)
    .init({
      lng: language,
      resources: { [language]: { [FIRST]: await loadFirst(language) } },
      fallbackNS: REST,
      fallbackLng: FALLBACK,
      // A text that a language misses is English: its texts are loaded once one is missed.
      saveMissing: true,
      missingKeyHandler: () => void loadFallback(instance),
      react: { bindI18nStore: 'added' },
      // React shows every text as text.
      interpolation: { escapeValue: false, alwaysFormat: true },
      returnNull: false,
    });
  markDocument(language);
  return instance;
}

/** Before any page but the overview is shown; at once where they are there. */
export async function loadRest(instance: i18n): Promise<void> {
  await add(instance, instance.language, REST);
}

export async function changeLanguage(instance: i18n, language: string): Promise<void> {
  await Promise.all([add(instance, language, FIRST), add(instance, language, REST)]);
  await instance.changeLanguage(language);
  markDocument(language);
  try {
    localStorage.setItem(STORED_AS, language);
  } catch {
    // A browser that stores nothing keeps the choice until the page is left.
  }
}

async function loadFallback(instance: i18n): Promise<void> {
  await Promise.all([add(instance, FALLBACK, FIRST), add(instance, FALLBACK, REST)]);
}

async function add(instance: i18n, language: string, part: Part): Promise<void> {
  if (instance.hasResourceBundle(language, part)) return;
  const load = part === FIRST ? loadFirst : loadOthers;
  instance.addResourceBundle(language, part, await load(language));
}

function markDocument(language: string): void {
  speak(language);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : language;
}

function readStored(): string | undefined {
  try {
    const stored = localStorage.getItem(STORED_AS);
    return isLanguage(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

function readBrowser(): string | undefined {
  return navigator.languages.map((tag) => tag.split('-')[0] ?? '').find(isLanguage);
}
