// Every sentence that the gateway makes for the console is said in every whole language.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type SentenceTexts, sayIn } from '../../console/src/i18n/sentences.ts';
import { faults } from '../../console/src/i18n/zh/faults.ts';
import { sentences } from '../../console/src/i18n/zh/sentences.ts';
import { asSentence, told } from '../../src/lib/localized-message.ts';
import { loadPart, WHOLE } from './languages.ts';

const SOURCE = resolve(import.meta.dirname, '../../src');
const TOLD = /(?<![\w-])told`((?:\\.|[^`\\])*)`/gs;
const VALUE = /\$\{[^}]*\}/g;

const codes = new Set(readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).flatMap(codesIn));
const say = sayIn(sentences);

const PARTS = ['receipt', 'replies', 'clauses', 'faults'];

test.each([...WHOLE.keys()])(
  'every code has its text in %s, and no other has',
  async (language) => {
    expect(codes.size).toBeGreaterThan(500);
    const lists = await Promise.all(PARTS.map((part) => loadPart(language, part)));
    const keys = lists.flatMap((texts) => Object.keys(texts));
    expect(keys.sort()).toEqual([...codes].sort());
    expect(Object.assign({}, ...lists)).toEqual(await loadPart(language, 'sentences'));
  },
);

test.each([...WHOLE.keys()])('the first page has all that it shows in %s', async (language) => {
  const texts = await loadPart(language, 'faults');
  expect(Object.keys(texts).sort()).toEqual(Object.keys(faults).sort());
});

test.each([...WHOLE])('each text of %s puts every param in', async (language, letter) => {
  const texts = await loadPart<SentenceTexts>(language, 'sentences');
  const sayThis = sayIn(texts);
  for (const code of codes) {
    const params = code
      .split('{}')
      .slice(1)
      .map((_, index) => `value-${index + 1}`);
    const words = sayThis({ code, params, text: 'English' });
    for (const param of params) expect(words).toContain(param);
    expect(words).not.toContain('English');
    expect(texts[code]).not.toContain(`{${params.length + 1}}`);
    // Some only put their params in another order, or none.
    if (/\p{L}/u.test(code)) expect(words).toMatch(letter);
  }
});

test('a sentence of another origin, or of another version, stays as it is', () => {
  expect(say(asSentence('Try again'))).toBe('Try again');
  expect(say({ code: 'No {} says this.', params: ['code'], text: 'No code says this.' })).toBe(
    'No code says this.',
  );
  expect(say({ code: 'constructor', params: [], text: 'constructor' })).toBe('constructor');
});

test('params are said in the same language, whatever their English looks like', () => {
  const sayThese = sayIn({
    '{}: {}': '{1}：{2}',
    '{}; {}': '{1}；{2}',
    'must be one of {}': '必须是以下之一：{1}',
    '{} of {}': '{2} 中的 {1}',
  });
  const must = told`must be one of ${'a; b: must be one of c'}`;
  expect(sayThese(told`${told`${'proxy.host'}: ${must}`}; ${asSentence('elsewhere')}`)).toBe(
    'proxy.host：必须是以下之一：a; b: must be one of c；elsewhere',
  );
  expect(sayThese(told`${1} of ${2}`)).toBe('2 中的 1');
});

test('a value that turns the direction of texts turns nothing but itself', () => {
  expect(sayIn({ '{} is here': '{1}在此' })(told`${'\u202Eturned'} is here`)).toBe(
    '\u2068\u202Eturned\u2069在此',
  );
});

function codesIn(name: string): string[] {
  if (!name.endsWith('.ts') || name.includes('.test')) return [];
  const code = readFileSync(join(SOURCE, name), 'utf8');
  return [...code.matchAll(TOLD)].map(([, text = '']) => readSpelt(text.replace(VALUE, '{}')));
}

/** Characters beyond Latin-1 are spelt by their code (decision 009). */
function readSpelt(text: string): string {
  return text.replace(/\\u([\da-f]{4})/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Folders whose errors the admin API answers with: what it says there is made with the tag. */
const SPOKEN = ['accounts', 'admin', 'config', 'dispatch', 'access', 'oauth', 'routing', 'sealing'];
const WORDED =
  /(?:new GatewayError\(\{[^}]*?message:|(?:invalidRequest|refuse)\(\s*[^,()]+,|refuseUnknown\()\s*(['"`])((?:(?!\1).)*)\1/g;

test('no error of the admin API is worded without the tag', () => {
  const untagged = SPOKEN.flatMap((folder) =>
    readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('.test'))
      .flatMap((name) => [...readFileSync(join(SOURCE, folder, name), 'utf8').matchAll(WORDED)])
      .map(([, , words = '']) => words),
  );
  expect(untagged).toEqual([]);
});
