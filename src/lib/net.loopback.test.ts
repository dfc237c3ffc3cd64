import { expect, test } from 'vitest';
import { isLoopbackHost, ownAddress } from './net.ts';

test.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])('%s is this machine alone', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

test.each(['0.0.0.0', '::', '192.168.1.5', '127.0.0.1.example', 'localhost.example', ''])(
  '"%s" may be reached from elsewhere',
  (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  },
);

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8045'],
  ['0.0.0.0', 'http://127.0.0.1:8045'],
  ['::', 'http://[::1]:8045'],
  ['::1', 'http://[::1]:8045'],
  ['2001:db8::7', 'http://[2001:db8::7]:8045'],
  ['box', 'http://box:8045'],
])('what listens at %s is reached from here at %s', (host, address) => {
  expect(ownAddress(host, 8045)).toBe(address);
});
