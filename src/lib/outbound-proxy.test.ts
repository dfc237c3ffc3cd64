import { expect, test } from 'vitest';
import { createProxyChoice, proxySecrets, shownProxy, withProxyScheme } from './outbound-proxy.ts';

const PROXY = { url: 'http://proxy.example:3128', source: 'HTTPS_PROXY' };
const OTHER = { url: 'http://other.example:3128', source: 'HTTP_PROXY' };

test('each scheme has its proxy, and one for all calls wins over both', () => {
  const choose = createProxyChoice({ https: PROXY, http: OTHER, direct: [] });
  expect([choose('https://a.example/x'), choose('http://a.example')]).toEqual([PROXY, OTHER]);
  const all = { url: 'socks5://s.example', source: 'proxy.outbound_proxy' };
  const single = createProxyChoice({ all, https: PROXY, direct: [] });
  expect([single('https://a.example'), single('http://a.example')]).toEqual([all, all]);
  expect(createProxyChoice({ https: PROXY, direct: [] })('http://a.example')).toBeUndefined();
});

test.each([
  'http://127.0.0.1:1234',
  'http://127.8.9.1',
  'http://[::1]:80',
  'http://[::ffff:127.0.0.1]',
  'http://localhost:8045',
  'https://LOCALHOST',
  'https://models.localhost',
  'https://localhost.',
])('this machine is never reached through a proxy: %s', (url) => {
  expect(createProxyChoice({ all: PROXY, direct: [] })(url)).toBeUndefined();
});

test.each<[entry: string, direct: string, proxied: string]>([
  ['example.com', 'https://example.com', 'https://notexample.com'],
  ['example.com', 'https://a.b.example.com.', 'https://example.com.evil.net'],
  ['.example.com', 'https://a.example.com', 'https://example.org'],
  ['*.Example.com', 'https://example.com', 'https://example.co'],
  ['example.com:8443', 'https://example.com:8443', 'https://example.com'],
  ['example.com:443', 'https://example.com', 'https://example.com:444'],
  ['10.0.0.0/8', 'http://10.1.2.3:8000', 'http://11.1.2.3'],
  ['192.0.2.7', 'http://192.0.2.7', 'http://192.0.2.8'],
  ['192.0.2.7:80', 'http://192.0.2.7', 'http://192.0.2.7:81'],
  ['fd00::/8', 'http://[fd12::1]:80', 'http://[fe80::1]'],
  ['[2001:db8::1]:443', 'https://[2001:db8::1]', 'https://[2001:db8::1]:8443'],
  ['2001:db8::1', 'https://[2001:db8::1]', 'https://[2001:db8::2]'],
])('"%s" takes %s out of the proxy and leaves %s in it', (entry, direct, proxied) => {
  const choose = createProxyChoice({ all: PROXY, direct: [entry] });
  expect([choose(direct), choose(proxied)]).toEqual([undefined, PROXY]);
});

test('a star takes out every host', () => {
  expect(createProxyChoice({ all: PROXY, direct: ['a', '*'] })('https://b.example')).toBe(
    undefined,
  );
});

test('an address without a scheme is an HTTP proxy, and shown without its password', () => {
  expect(withProxyScheme('proxy.example:3128')).toBe('http://proxy.example:3128');
  expect(withProxyScheme('socks5://s.example')).toBe('socks5://s.example');
  const url = 'http://ann:p%40ss@proxy.example:3128/';
  expect(shownProxy(url)).toBe('http://proxy.example:3128');
  expect(proxySecrets(url)).toEqual(['p@ss', 'p%40ss', 'ann']);
});
