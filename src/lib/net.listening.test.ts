import { expect, test } from 'vitest';
import { isHeardAt } from './net.ts';

test('all addresses of a family, or all, hear what comes in at any of them', () => {
  expect(isHeardAt('0.0.0.0', '192.0.2.7')).toBe(true);
  expect(isHeardAt('0.0.0.0', '::ffff:192.0.2.7')).toBe(true);
  expect(isHeardAt('0.0.0.0', '2001:db8::7')).toBe(false);
  expect(isHeardAt('::', '192.0.2.7')).toBe(true);
  expect(isHeardAt('::', '2001:db8::7')).toBe(true);
});

test('a single address hears itself alone, in every spelling', () => {
  expect(isHeardAt('127.0.0.1', '127.0.0.1')).toBe(true);
  expect(isHeardAt('127.0.0.1', '::ffff:127.0.0.1')).toBe(true);
  expect(isHeardAt('127.0.0.1', '192.0.2.7')).toBe(false);
  expect(isHeardAt('192.0.2.7', '127.0.0.1')).toBe(false);
  expect(isHeardAt('2001:DB8:0::7', '2001:db8::7')).toBe(true);
  expect(isHeardAt('fe80::1%eth0', 'fe80::1%eth0')).toBe(true);
});

test('localhost is loopback, and of other names nothing is known', () => {
  expect(isHeardAt('localhost', '127.0.0.1')).toBe(true);
  expect(isHeardAt('LOCALHOST', '::1')).toBe(true);
  expect(isHeardAt('localhost', '192.0.2.7')).toBe(false);
  expect(isHeardAt('gateway.lan', '192.0.2.7')).toBe(true);
  expect(isHeardAt('192.0.2.7', undefined)).toBe(true);
});
