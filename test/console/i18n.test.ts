// Every text of the console exists in its languages, with the same places to fill, and is used.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInstance } from 'i18next';
import { expect, test } from 'vitest';
import { me } from '../../console/src/i18n/en/me.ts';
import { rest } from '../../console/src/i18n/en/rest.ts';
import { en } from '../../console/src/i18n/en.ts';
import { createFormatter } from '../../console/src/i18n/text-values.ts';
import { zh } from '../../console/src/i18n/zh.ts';
import { LANGUAGES, loadPart, WHOLE } from './languages.ts';

const SOURCE = resolve(import.meta.dirname, '../../console/src');

const english = flatten(en);
const TEXTS = new Map(
  await Promise.all(
    LANGUAGES.map(async (language) => {
      const [first, others] = await Promise.all([
        loadPart(language, 'first'),
        loadPart(language, 'rest'),
      ]);
      return [language, flatten({ ...first, ...others })] as const;
    }),
  ),
);
/** No language but English has a form for one alone. */
const wanted = [...english.keys()].filter((key) => !key.endsWith('_one'));
const code = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('i18n/'))
  .map((name) => readFileSync(join(SOURCE, name), 'utf8'))
  .join('\n');

test.each(LANGUAGES)(
  '%s has no text that English has not, and says which it misses',
  (language) => {
    const texts = TEXTS.get(language) ?? new Map();
    expect([...texts.keys()].filter((key) => !wanted.includes(key))).toEqual([]);
    const missing = wanted.filter((key) => !texts.has(key));
    if (WHOLE.has(language)) expect(missing).toEqual([]);
    if (missing.length > 0) {
      console.warn(
        `*** ${language}: ${missing.length} texts are shown in English ***\n${missing.join('\n')}`,
      );
    }
  },
);

test.each([...WHOLE.keys()])(
  "%s has every text of the page of a key's holder",
  async (language) => {
    expect(Object.keys(await loadPart(language, 'me')).sort()).toEqual(Object.keys(me).sort());
  },
);

test('a text with a singular has a plural', () => {
  const alone = [...english.keys()].filter(
    (key) => key.endsWith('_one') && !english.has(key.replace(/_one$/, '_other')),
  );
  expect(alone).toEqual([]);
});

test.each(LANGUAGES)('%s fills the same places as English', (language) => {
  const different = [...(TEXTS.get(language) ?? [])].filter(([key, text]) => {
    const original = english.get(key) ?? '';
    return placesOf(text).join() !== placesOf(original).join();
  });
  expect(different).toEqual([]);
});

test.each(LANGUAGES)(
  'no text of %s is empty, and none was left in English sentences',
  (language) => {
    const letter = WHOLE.get(language) ?? /\p{L}/u;
    const untranslated = [...(TEXTS.get(language) ?? [])].filter(
      ([key, text]) =>
        text.trim() === '' ||
        (/[a-z]+ [a-z]+ [a-z]+/.test(text) && (!letter.test(text) || text === english.get(key))),
    );
    expect(untranslated).toEqual([]);
  },
);

/** Services that have keys, and the menus of other apps: their names are what a person looks for. */
const NAMED = [
  'clients.hints.address',
  'environment.about.GEMINI_API_KEY',
  'settings.upstream.profileNames.anthropic',
  'settings.upstream.profileNames.gemini-api',
  'settings.upstream.profileNames.openai',
];

test.each(['en', ...WHOLE.keys()])(
  'with neutral names no text of %s calls a protocol by a vendor',
  async (language) => {
    const texts = TEXTS.get(language) ?? english;
    const neutral = flatten(await loadPart(language, 'neutral'));
    expect([...neutral.keys()].filter((key) => !texts.has(key))).toEqual([]);
    const named = [...new Map([...texts, ...neutral])].filter(([, text]) =>
      /OpenAI|Anthropic|Gemini|Google/.test(text),
    );
    expect(named.map(([key]) => key).sort()).toEqual(NAMED);
  },
);

test('every key the code names exists', () => {
  const named = [...code.matchAll(/\bt\(\s*'([\w.-]+)'/g)].map(([, key = '']) => key);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((key) => !exists(key))).toEqual([]);
});

test('the shell and the overview need none of the texts that come with the other pages', () => {
  const files = reach(['main.tsx', 'pages/overview/page.tsx']);
  expect(files.size).toBeGreaterThan(50);
  const parts = Object.keys(rest).join('|');
  const named = new RegExp(`['\`](?:${parts})\\.[a-z$][^'\`\\s/]*['\`]`, 'g');
  expect([...files.values()].flatMap((text) => text.match(named) ?? [])).toEqual([]);
});

test('every text is used', () => {
  const unused = [...english.keys()].filter((key) => !isNamed(key.replace(/_(one|other)$/, '')));
  expect(unused).toEqual([]);
});

test('no control brings English words of its own', () => {
  const users = [...code.matchAll(/<PasswordInput\b/g)];
  expect(users).toHaveLength(1);
  expect(code).toMatch(/<PasswordInput[^>]+'aria-label': t\(/);
});

test('numbers in a text are written as its language does, names as they are', async () => {
  const instance = createInstance();
  await instance.use(createFormatter()).init({
    lng: 'zh',
    resources: { zh: { translation: zh }, en: { translation: en } },
    interpolation: { escapeValue: false, alwaysFormat: true },
  });
  const fill = { count: 1560, total: 12_000 };
  expect(instance.t('overview.errorsHint', fill)).toContain('12,000');
  expect(instance.t('overview.errorsHint', { ...fill, lng: 'en' })).toBe(
    '1,560 of 12,000 requests failed in the last five minutes.',
  );
  expect(instance.t('keys.saved', { name: '12000', lng: 'en' })).toContain('12000');
});

test('a name that turns the direction of texts turns nothing but itself', async () => {
  const instance = createInstance();
  await instance.use(createFormatter()).init({
    lng: 'en',
    resources: { en: { translation: en } },
    interpolation: { escapeValue: false, alwaysFormat: true },
  });
  const say = (name: string) => instance.t('routing.changed', { name, target: 'alpha-3-flash' });
  expect(say('plain')).toBe('plain now maps to alpha-3-flash');
  const rest = ' now maps to alpha-3-flash';
  expect(say('\u202Eturned')).toBe(`\u2068\u202Eturned\u2069${rest}`);
  expect(say('\u2069\u202Eturned')).toBe(`\u2068\u202Eturned\u2069${rest}`);
  expect(say('مرحبا')).toBe(`\u2068مرحبا\u2069${rest}`);
});

/** What is loaded with these files, by path. */
function reach(names: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const visit = (path: string): void => {
    if (files.has(path) || !/\.tsx?$/.test(path)) return;
    const text = readFileSync(path, 'utf8');
    files.set(path, text);
    for (const [, from = ''] of text.matchAll(
      /^(?:im|ex)port (?!type )[^;]*? from '(\.[^']+)'/gm,
    )) {
      visit(resolve(dirname(path), from));
    }
  };
  for (const name of names) visit(join(SOURCE, name));
  return files;
}

function exists(key: string): boolean {
  return english.has(key) || english.has(`${key}_other`);
}

/** As a whole, or as the beginning of a template that puts the rest in. */
function isNamed(key: string): boolean {
  if (code.includes(`'${key}'`)) return true;
  const steps = key.split('.');
  return steps.some(
    (_, index) => index > 0 && code.includes(`\`${steps.slice(0, index).join('.')}.\${`),
  );
}

function placesOf(text: string): string[] {
  return [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name).sort();
}

function flatten(texts: object, prefix = ''): Map<string, string> {
  const flat = new Map<string, string>();
  for (const [key, value] of Object.entries(texts)) {
    if (typeof value === 'string') flat.set(prefix + key, value);
    else for (const [inner, text] of flatten(value, `${prefix}${key}.`)) flat.set(inner, text);
  }
  return flat;
}
