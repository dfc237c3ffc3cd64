import { expect, test } from 'vitest';
import { readProxyUrl } from './net.ts';

test.each([
  ['http://proxy.example:3128', 'http://proxy.example:3128/'],
  [' https://user:p%40ss@10.0.0.1:8443/ ', 'https://user:p%40ss@10.0.0.1:8443/'],
  ['socks5://[::1]:1080', 'socks5://[::1]:1080'],
  ['http://user@proxy', 'http://user@proxy/'],
])('the proxy address %s can be used', (text, url) => {
  expect(readProxyUrl(text)).toEqual({ kind: 'good', url });
});

test.each([
  ['', 'starts with'],
  ['proxy:3128', 'starts with'],
  ['socks4://proxy:1080', 'starts with'],
  ['socks5:1080', 'starts with'],
  ['http://proxy/path', 'end after'],
  ['http://proxy?a=1', 'end after'],
  ['socks5://user:50%@proxy', '%25'],
  ['http://:secret@proxy', 'user'],
])('the proxy address %j is refused with the reason', (text, reason) => {
  const reading = readProxyUrl(text);
  expect(reading.kind === 'bad' ? reading.problem : '').toContain(reason);
  expect(JSON.stringify(reading)).not.toContain('secret');
});
