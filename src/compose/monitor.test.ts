import { expect, test } from 'vitest';
import { listenerUrl } from './monitor.ts';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8045'],
  ['::1', 'http://[::1]:8045'],
  ['::', 'http://[::]:8045'],
])('what listens at %s is shown at an address that can be opened', (host, address) => {
  const listener = { port: () => 8045, certificate: () => undefined };
  expect(listenerUrl(listener, host)).toBe(address);
});
