import { expect, test } from 'vitest';
import { createKeySecret } from '../access/api-key.ts';
import { refusedKey } from './upstreams.ts';

test.each([
  'any-key',
  'ANY_KEY',
  'your-api-key',
  '<YOUR_GEMINI_API_KEY>',
  'xxx',
  'test',
  'test-key',
  'changeme',
  'sk-...',
  'sk-xxxx',
  'dummy',
  'api-key',
  'placeholder',
  'my_api_key',
  '...',
  'AIza...',
  'AIzaSy…',
  'AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX',
  'sk-****',
  '$GEMINI_API_KEY',
  `\${LAST_YEARS_KEY}`,
  '%GEMINI_API_KEY%',
  '<from the vault>',
  'your-google-ai-studio-key',
  'paste-your-key-here',
  'INSERT_YOUR_API_KEY',
  'replace_with_your_key',
  'PUT YOUR KEY HERE',
  'GEMINI_API_KEY',
  'any-value',
  'anything',
  'EMPTY',
  'N/A',
  'unused',
  'not-needed',
  'no-key-required',
  'sk-isthmus',
  'sk-1234',
  '12345678',
])('B5: the placeholder %s is no key', (key) => {
  expect(refusedKey(key, { ownKeys: [], isPublic: true })?.text).toContain('is a placeholder');
});

test('B5: keys of the gateway itself are none of an upstream', () => {
  expect(
    refusedKey('my own words', { ownKeys: ['my own words'], isPublic: false })?.text,
  ).toContain('is a key or the password of this gateway');
  expect(refusedKey(createKeySecret(), { ownKeys: [], isPublic: false })?.text).toContain(
    'is a key or the password of this gateway',
  );
});

test.each(['sk-proj-Ab12…9xYz', 'sk-proj-\u200bAb12', 'sk-密钥-0123456789'])(
  '%s is no key, as no request can carry it',
  (key) => {
    expect(refusedKey(key, { ownKeys: [], isPublic: false })?.text).toContain(
      'no request can carry',
    );
  },
);

test.each([
  'AIzaSyD-0123456789abcdefghijklmnopqrstuv',
  'sk-proj-Ab12',
  'sk-0123456789abcdef0123456789abcdef',
  'sandbox-key-ada',
  'a-key-of-mine',
  'k',
  'mytestkey1',
  'AIzaSyXxXxY_0123456789abcdefghijklmnopqr',
  'your-aunt-ada',
  `${'test'.repeat(8000)}1`,
])('%s may be a key', (key) => {
  expect(refusedKey(key, { ownKeys: ['another'], isPublic: true })).toBeUndefined();
});

test('an upstream of one’s own may take any word for a key', () => {
  expect(refusedKey('any', { ownKeys: [], isPublic: false })).toBeUndefined();
});
