import { expect, test } from 'vitest';
import { TextDigest } from './long-text.ts';

function digestInPieces(text: string, length: number): string {
  const digest = new TextDigest();
  for (let at = 0; at < text.length; at += length) digest.add(text.slice(at, at + length));
  return digest.value;
}

const words = 'Wörter 😀 und mehr. ';

test.each([
  ['short', words],
  ['long', words.repeat(3_000)],
  ['with white space for pages inside', `${words}${' \n'.repeat(20_000)}${words}`],
])('a text that is %s has one digest, however it was cut', (_, text) => {
  const digest = TextDigest.of(text).value;
  for (const length of [1, 7, 8_191, 8_192, 50_000]) {
    expect(digestInPieces(text, length)).toBe(digest);
  }
  expect(TextDigest.of(`${text}.`).value).not.toBe(digest);
});

test.each([1, 1_000, 100_000])('white space around a text does not count (%d)', (length) => {
  const around = '\n'.repeat(length);
  const text = words.repeat(1_000).trim();
  for (const size of [1, 9_000, 1_000_000]) {
    expect(digestInPieces(`${around}${text}${around}`, size)).toBe(TextDigest.of(text).value);
  }
});

test('is empty while there is nothing but white space', () => {
  const digest = TextDigest.of(' '.repeat(20_000));
  expect(digest.isEmpty).toBe(true);
  expect(digest.value).toBe(TextDigest.of('').value);
  digest.add('a');
  expect(digest.isEmpty).toBe(false);
  expect(digest.value).toBe(TextDigest.of('a').value);
});

test('may be asked in between', () => {
  const digest = TextDigest.of(words.repeat(1_000));
  expect(digest.value).toBe(digest.value);
  digest.add('more');
  expect(digest.value).toBe(TextDigest.of(`${words.repeat(1_000)}more`).value);
});
