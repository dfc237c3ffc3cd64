import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import { checkSingleHeaders, readTarget } from './target.ts';

const REFUSED = [
  '',
  '*',
  'http://127.0.0.1/v1/models',
  'http:///v1/models',
  '//v1/models',
  '//evil/v1/models',
  '/v1//models',
  '/v1/../api/accounts',
  '/v1/..',
  '/./v1/models',
  '/v1/.',
  '/v1/%2e%2e/api',
  '/v1/%2E./api',
  '/v1/.%2e/api',
  '/v1/%2e/models',
  '/v1%2fmodels',
  '/v1/..%2Fapi',
  '/v1/models%2fa',
  '/v1/models/..%2f..%2fapi',
  '/v1/models/a%2f..%2f..%2f..%2fapi',
  '/v1/models/a%2F%2e%2E%2Fapi',
  '/v1/models/%2fa',
  '/v1/models/a%2f/b',
  '/v1/models/a%2f%2fb',
  '/v1/models/a%2f.',
  '/v1/models/a%5cb',
  '/v1/messages/a%2fb',
  '/openai/deployments/a%2f..%2f..%2fapi',
  '/api/models/a%2fb',
  '/v1/%5c..%5capi',
  '/v1/..\\api',
  '/v1\\models',
  '/v1/models%00',
  '/v1/models%0a',
  '/v1/models%7f',
  '/v1/mod els',
  '/v1/models\u0000',
  '/v1/models\u007f',
  '/v1/möbel',
  '/v1/models#part',
  '/v1/%',
  '/v1/%2',
  '/v1/%zz',
  '/v1/%ff%fe',
  '/v1/%c0%ae%c0%ae/api',
];

test.each(REFUSED)('refuses the target %j', (url) => {
  expect(() => readTarget(url)).toThrow(GatewayError);
});

test.each([
  ['/', { path: '/', query: '' }],
  ['/v1/models', { path: '/v1/models', query: '' }],
  ['/v1/models/', { path: '/v1/models/', query: '' }],
  ['/v1/models?key=a/../b//c', { path: '/v1/models', query: 'key=a/../b//c' }],
  ['/v1/models?', { path: '/v1/models', query: '' }],
  ['/v1/models/m%3AgenerateContent', { path: '/v1/models/m:generateContent', query: '' }],
  ['/v1/models/vendor%2Fmodel', { path: '/v1/models/vendor/model', query: '' }],
  ['/v1beta/models/a%2fb%3AcountTokens', { path: '/v1beta/models/a/b:countTokens', query: '' }],
  ['/v1alpha/models/a%2Fb', { path: '/v1alpha/models/a/b', query: '' }],
  ['/openai/models/a%2Fb', { path: '/openai/models/a/b', query: '' }],
  ['/v1beta/openai/models/a%2Fb', { path: '/v1beta/openai/models/a/b', query: '' }],
  ['/openai/v1/models/a%2Fb', { path: '/openai/v1/models/a/b', query: '' }],
  [
    '/openai/deployments/a%2Fb/chat/completions?api-version=1',
    { path: '/openai/deployments/a/b/chat/completions', query: 'api-version=1' },
  ],
  ['/v1/models/gpt-4...', { path: '/v1/models/gpt-4...', query: '' }],
  ['/v1/models/.hidden', { path: '/v1/models/.hidden', query: '' }],
  ['/v1/models/%252e%252e', { path: '/v1/models/%2e%2e', query: '' }],
  ['/v1/models/%C3%BC', { path: '/v1/models/ü', query: '' }],
])('reads the target %j', (url, target) => {
  expect(readTarget(url)).toEqual(target);
});

test('exactly one Host line is needed', () => {
  expect(() => checkSingleHeaders([])).toThrow('Host header is missing');
  expect(() => checkSingleHeaders(['Host', 'a', 'hOST', 'a'])).toThrow('host came more than once');
  expect(() => checkSingleHeaders(['X-Host', 'a', 'Host', 'a'])).not.toThrow();
});

test('HTTP/1.0 needs no Host line, and still takes only one', () => {
  expect(() => checkSingleHeaders([], '1.0')).not.toThrow();
  expect(() => checkSingleHeaders(['Host', 'a', 'Host', 'a'], '1.0')).toThrow('more than once');
});

test.each([
  'Authorization',
  'x-api-key',
  'Api-Key',
  'X-Goog-Api-Key',
  'x-vendora-api-key',
  'Content-Type',
])('two lines of %s are refused', (name) => {
  const lines = ['Host', 'a', name, 'k', 'Accept', '*/*', name.toUpperCase(), 'k'];
  expect(() => checkSingleHeaders(lines)).toThrow('came more than once');
  expect(() => checkSingleHeaders(lines.slice(0, 6))).not.toThrow();
});

test('different credential headers may stand side by side', () => {
  const lines = ['Host', 'a', 'Authorization', 'Bearer k', 'X-Api-Key', 'k', 'x-goog-api-key', 'k'];
  expect(() => checkSingleHeaders(lines)).not.toThrow();
});
