// Every sentence a receipt can hold is said in both languages.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type SentenceTexts, sayIn } from '../../console/src/i18n/sentences.ts';
import { receipt } from '../../console/src/i18n/zh/receipt.ts';

const SOURCE = resolve(import.meta.dirname, '../../src');
const TOLD = /\btold`((?:\\.|[^`\\])*)`/gs;
const VALUE = /\$\{[^}]*\}/g;

const said = new Set(
  readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).flatMap(sentencesIn),
);
const say = sayIn(receipt);

test('every sentence of a receipt has its Chinese, and no other has', () => {
  expect(said.size).toBeGreaterThan(150);
  expect(Object.keys(receipt).sort()).toEqual([...said].sort());
});

test('each is found again with its values, and puts every one of them in', () => {
  for (const sentence of said) {
    let count = 0;
    const made = sentence.replaceAll('{}', () => `value-${++count}`);
    const expected = receipt[sentence]?.replace(/\{(\d)\}/g, 'value-$1');
    expect(say(made)).toBe(expected);
    for (let place = 1; place <= count; place++) expect(expected).toContain(`value-${place}`);
    expect(expected).not.toContain(`value-${count + 1}`);
    expect(expected).toMatch(/\p{Script=Han}/u);
  }
});

test('a sentence that is not known stays as it is', () => {
  expect(say('Something that no code says.')).toBe('Something that no code says.');
  const texts: SentenceTexts = { '{} of {}': '{2} / {1}', 'x{}x': '[{1}]' };
  expect(sayIn(texts)('of')).toBe('of');
  expect(sayIn(texts)('1 of 2 of 3')).toBe('2 of 3 / 1');
  expect(sayIn(texts)('x')).toBe('x');
  expect(sayIn(texts)('xx')).toBe('[]');
});

test('a value that turns the direction of texts turns nothing but itself', () => {
  expect(sayIn({ '{} is here': '{1}在此' })('\u202Eturned is here')).toBe(
    '\u2068\u202Eturned\u2069在此',
  );
});

function sentencesIn(name: string): string[] {
  if (!name.endsWith('.ts') || name.includes('.test')) return [];
  const code = readFileSync(join(SOURCE, name), 'utf8');
  return [...code.matchAll(TOLD)].map(([, text = '']) => text.replace(VALUE, '{}'));
}
