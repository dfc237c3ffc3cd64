// The languages of the console: each folder beside this file that has texts is one.

/// <reference types="vite/types/importMeta.d.ts" />

import type { SentenceTexts } from './sentences.ts';

const FIRST = import.meta.glob<{ readonly first: object }>('./*/first.ts');
const REST = import.meta.glob<{ readonly rest: object }>('./*/rest.ts');
const NEUTRAL = import.meta.glob<{ readonly neutral: object }>('./*/neutral.ts');
const SENTENCES = import.meta.glob<{ readonly sentences: SentenceTexts }>('./*/sentences.ts');
const FAULTS = import.meta.glob<{ readonly faults: SentenceTexts }>('./*/faults.ts');

/** What a text is taken from where a language has none. */
export const FALLBACK = 'en';

export interface Language {
  readonly code: string;
  /** As those who speak it call it. */
  readonly name: string;
}

export const LANGUAGES: readonly Language[] = Object.keys(FIRST)
  .map((path) => path.split('/')[1] ?? FALLBACK)
  .sort((a, b) => (a === FALLBACK ? -1 : b === FALLBACK ? 1 : a < b ? -1 : 1))
  .map((code) => ({ code, name: nameOf(code) }));

export function isLanguage(value: string | null | undefined): value is string {
  return LANGUAGES.some(({ code }) => code === value);
}

/** The texts of the shell and the overview. */
export async function loadFirst(language: string): Promise<object> {
  return (await FIRST[`./${language}/first.ts`]?.())?.first ?? {};
}

/** Those of all other pages. */
export async function loadOthers(language: string): Promise<object> {
  return (await REST[`./${language}/rest.ts`]?.())?.rest ?? {};
}

/** What replaces some of them where names of vendors are not wanted. */
export async function loadNeutral(language: string): Promise<object> {
  return (await NEUTRAL[`./${language}/neutral.ts`]?.())?.neutral ?? {};
}

/** What the gateway says, by its code; nothing where the language has none of it. */
export async function loadSentenceTexts(language: string): Promise<SentenceTexts> {
  return (await SENTENCES[`./${language}/sentences.ts`]?.())?.sentences ?? {};
}

/** What clients are told of requests that fail. */
export async function loadFaultTexts(language: string): Promise<SentenceTexts> {
  return (await FAULTS[`./${language}/faults.ts`]?.())?.faults ?? {};
}

function nameOf(code: string): string {
  const name = new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}
