import { expect, test } from 'vitest';
import { isLoopbackHost } from './loopback.ts';

test.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])('%s is this machine alone', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

test.each(['0.0.0.0', '::', '192.168.1.5', '127.0.0.1.example', 'localhost.example', ''])(
  '"%s" may be reached from elsewhere',
  (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  },
);
