import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createRedactor, HIDDEN, SecretIndex } from './redact.ts';

const SECRETS = [
  'ya29.a0AfH6SM-_x/y+z=A1b2C3d4E5f6',
  'AIzaSyD-1234567890abcdefghijklmnopqrs',
  'long/key?ü+>~~~secret',
  's3cr3t!',
];

const hide = (text: string, secret: string): string => createRedactor([secret]).text(text);

const FORMS: readonly (readonly [name: string, write: (bytes: Buffer) => string])[] = [
  ['plain', (bytes) => bytes.toString()],
  ['base64', (bytes) => bytes.toString('base64')],
  ['base64 without padding', (bytes) => bytes.toString('base64').replace(/=+$/, '')],
  ['base64url', (bytes) => bytes.toString('base64url')],
  ['base64 in an address', (bytes) => encodeURIComponent(bytes.toString('base64'))],
  [
    'base64 in JSON that escapes slashes',
    (bytes) => bytes.toString('base64').replaceAll('/', '\\/'),
  ],
  ['hex', (bytes) => bytes.toString('hex')],
  ['hex in capitals', (bytes) => bytes.toString('hex').toUpperCase()],
  ['an address', (bytes) => encodeURIComponent(bytes.toString())],
  ['JSON', (bytes) => JSON.stringify(bytes.toString())],
];

test.each(FORMS)(
  'D1: a secret is hidden as %s, whatever stands before and behind it',
  (_name, write) => {
    for (const secret of SECRETS) {
      for (let before = 0; before < 24; before += 1) {
        const prefix =
          before === 7 ? 'Bearer ' : randomBytes(before).toString('hex').slice(0, before);
        const text = write(Buffer.from(`${prefix}${secret}|tail`));
        const clean = hide(`upstream said "${text}" today`, secret);
        const index = new SecretIndex();
        index.set('others', ['another-secret-of-others', 'yet-another-one-here']);
        index.set('own', [secret]);
        const ofIndex = index.hide(`upstream said "${text}" today`, HIDDEN);
        const tail = write(Buffer.from(secret)).replaceAll('"', '');
        for (const one of [clean, ofIndex]) {
          expect(one, text).toContain(HIDDEN);
          expect(one).not.toContain(tail.slice(4, 12));
        }
      }
    }
  },
);

test('a text without it stays as it is', () => {
  const text = `a harmless ${randomBytes(300).toString('base64')} text`;
  expect(hide(text, SECRETS[0] ?? '')).toBe(text);
});

test('D2: an index forgets what its owner has no more, and knows what others still have', () => {
  const index = new SecretIndex();
  index.set('a', ['one-secret-number']);
  index.set('b', ['one-secret-number', 'short-1']);
  index.set('a', ['two-secret-number']);
  const hidden = (text: string) => index.hide(text, '-');
  expect(hidden('x one-secret-number y')).toBe('x - y');
  expect(hidden('x short-1 y')).toBe('x - y');
  index.delete('b');
  expect(hidden('x one-secret-number short-1 y')).toBe('x one-secret-number short-1 y');
  expect(hidden('two-secret-number')).toBe('-');
  const text = randomBytes(50_000).toString('base64');
  expect(hidden(text)).toBe(text);
});
