// Every sentence that the gateway makes for the console is said in both languages.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type SentenceTexts, sayIn } from '../../console/src/i18n/sentences.ts';
import { clauses } from '../../console/src/i18n/zh/clauses.ts';
import { faults } from '../../console/src/i18n/zh/faults.ts';
import { receipt } from '../../console/src/i18n/zh/receipt.ts';
import { replies } from '../../console/src/i18n/zh/replies.ts';
import { sentences } from '../../console/src/i18n/zh/sentences.ts';

const SOURCE = resolve(import.meta.dirname, '../../src');
const TOLD = /\btold`((?:\\.|[^`\\])*)`/gs;
const VALUE = /\$\{[^}]*\}/g;

const said = new Set(
  readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).flatMap(sentencesIn),
);
const say = sayIn(sentences);

test('every sentence has its Chinese, and no other has', () => {
  expect(said.size).toBeGreaterThan(500);
  const lists = [receipt, replies, clauses, faults].flatMap((texts) => Object.keys(texts));
  expect(lists.sort()).toEqual([...said].sort());
});

test('each is found again with its values, and puts every one of them in', () => {
  for (const sentence of said) {
    let count = 0;
    const made = sentence.replaceAll('{}', () => `value-${++count}`);
    const expected = sentences[sentence]?.replace(/\{(\d)\}/g, 'value-$1');
    expect(say(made)).toBe(expected);
    for (let place = 1; place <= count; place++) expect(expected).toContain(`value-${place}`);
    expect(expected).not.toContain(`value-${count + 1}`);
    // Some only put their values in another order, or none.
    if (/\p{L}/u.test(sentence)) expect(expected).toMatch(/\p{Script=Han}/u);
  }
});

test('a sentence that is not known stays as it is', () => {
  expect(say('Something that no code says.')).toBe('Something that no code says.');
  const texts: SentenceTexts = { '{} of {}': '{2} / {1}', 'x{}x': '[{1}]' };
  expect(sayIn(texts)('of')).toBe('of');
  expect(sayIn(texts)('1 of 2')).toBe('2 / 1');
  expect(sayIn(texts)('x')).toBe('x');
  expect(sayIn(texts)('xx')).toBe('[]');
});

test('sentences are found behind a place, in a row, in a list, and as values of others', () => {
  const texts: SentenceTexts = {
    'must be one line': '必须是一行',
    'must be one of {}': '必须是以下之一：{1}',
    'was {} meant; or not': '是否指 {1}',
    'The file cannot be used: {}.': '文件无法使用：{1}。',
    'It is over.': '已结束。',
  };
  const sayThese = sayIn(texts);
  expect(sayThese('proxy.host: must be one line.')).toBe('proxy.host: 必须是一行。');
  expect(sayThese('upstreams["a b: c"].id: must be one of x')).toBe(
    'upstreams["a b: c"].id: 必须是以下之一：x',
  );
  expect(sayThese('It is over. It is over.')).toBe('已结束。已结束。');
  expect(sayThese('The file cannot be used: a: was b meant; or not; c: must be one line.')).toBe(
    '文件无法使用：a: 是否指 b; c: 必须是一行。',
  );
  expect(sayThese('proxy.host: something new.')).toBe('proxy.host: something new.');
});

test('a value that turns the direction of texts turns nothing but itself', () => {
  expect(sayIn({ '{} is here': '{1}在此' })('\u202Eturned is here')).toBe(
    '\u2068\u202Eturned\u2069在此',
  );
});

function sentencesIn(name: string): string[] {
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
/** Joins of sentences that were made with it, perhaps behind the name of a field. */
const JOINED = /^(?:\w+: )?(?:\$\{[^}]*\}[ :.;]*)+$/;

test('no error of the admin API is worded without the tag', () => {
  const untagged = SPOKEN.flatMap((folder) =>
    readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('.test'))
      .flatMap((name) => [...readFileSync(join(SOURCE, folder, name), 'utf8').matchAll(WORDED)])
      .flatMap(([, , words = '']) => (JOINED.test(words) ? [] : [words])),
  );
  expect(untagged).toEqual([]);
});
