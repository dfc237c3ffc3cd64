import { expect, test } from 'vitest';
import { findUrlFault } from './net.ts';

test.each(['https://example.com/a.png', 'http://8.8.8.8/', 'https://[2606:4700::1111]/x'])(
  '%s is public',
  (url) => {
    expect(findUrlFault(url)).toBeUndefined();
  },
);

test.each([
  ...['http://127.0.0.1/', 'http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/'],
  ...['http://[::1]/', 'http://[::ffff:10.1.2.3]/', 'http://[64:ff9b::a00:1]/', 'http://0/'],
  ...['http://169.254.169.254/latest', 'https://10.0.0.1/', 'http://100.64.0.1/'],
  ...['http://localhost./', 'http://printer.local/', 'http://intranet/', 'http://db.internal/'],
  ...['http://router.home.arpa/', 'http://nas.lan/', 'http://x.alt/', 'http://a.test/'],
])('V082 %s is inside some network', (url) => {
  expect(findUrlFault(url)).toBe('private');
});

test('V082 other schemes, nonsense and credentials are told apart', () => {
  expect(findUrlFault('file:///etc/passwd')).toBe('malformed');
  expect(findUrlFault('ftp://example.com/')).toBe('malformed');
  expect(findUrlFault('/etc/passwd')).toBe('malformed');
  expect(findUrlFault('https://user:secret@example.com/')).toBe('credentials');
});
