import { expect, test } from 'vitest';
import { isInRange, readAddress, readRange } from '../../lib/net.ts';
import { readClientAddress, readTrustedProxies } from './locality.ts';

const TRUSTED = ['10.0.0.0/8', '127.0.0.1', 'fd00::/8', '::ffff:192.0.2.0/120'];

function client(peer: string | undefined, forwardedFor?: string, trusted = TRUSTED): string {
  return readClientAddress({ peer, forwardedFor, trustedProxies: readTrustedProxies(trusted) });
}

test('the peer counts when it is no trusted proxy, whatever the header says', () => {
  for (const chain of ['1.2.3.4', '127.0.0.1', '10.0.0.1, 10.0.0.2', '', 'garbage']) {
    expect(client('203.0.113.9', chain)).toBe('203.0.113.9');
    expect(client('127.0.0.1', chain, [])).toBe('127.0.0.1');
  }
});

test.each([
  ['10.0.0.1', '1.2.3.4', '1.2.3.4'],
  ['10.0.0.1', '9.9.9.9, 1.2.3.4', '1.2.3.4'],
  ['10.0.0.1', '9.9.9.9,1.2.3.4,10.0.0.7', '1.2.3.4'],
  ['10.0.0.1', '127.0.0.1, 1.2.3.4, 10.0.0.7, 127.0.0.1', '1.2.3.4'],
  ['10.0.0.1', '  1.2.3.4  ,  10.0.0.2 ', '1.2.3.4'],
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['127.0.0.1', '::ffff:1.2.3.4', '1.2.3.4'],
  ['::ffff:127.0.0.1', '1.2.3.4', '1.2.3.4'],
  ['fd00::1', '2001:DB8::1', '2001:db8::1'],
  ['192.0.2.77', '1.2.3.4', '1.2.3.4'],
  ['10.0.0.1', '1.2.3.4:5678', '1.2.3.4'],
  ['10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
  ['10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
])('peer %s with chain %j is client %s', (peer, chain, expected) => {
  expect(client(peer, chain)).toBe(expected);
});

test.each([
  '',
  ',',
  'unknown',
  '_hidden',
  '1.2.3.4, ',
  '1.2.3.4, nonsense',
  '1.2.3.4, 10.0.0.2, 256.1.1.1',
  '0x7f.1',
  '0177.0.0.1',
  '2130706433',
  '127.1',
  '１.2.3.4',
  '1.2.3.4:99999999',
  '[1.2.3.4',
  '1.2.3.4 5.6.7.8',
  '1.2.3.4;5.6.7.8',
  'for=1.2.3.4',
  '"1.2.3.4"',
  '%31.2.3.4',
])('the chain %j is worthless, so the peer counts', (chain) => {
  expect(client('10.0.0.1', chain)).toBe('10.0.0.1');
});

test('a bad token left of the client changes nothing', () => {
  expect(client('10.0.0.1', 'nonsense, 1.2.3.4')).toBe('1.2.3.4');
});

test('a socket without an address is unknown', () => {
  expect(client(undefined, '1.2.3.4')).toBe('unknown');
});

test.each([
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/08',
  '10.0.0/8',
  '010.0.0.0/8',
  '/8',
  'x',
  '::/129',
  '1.2.3.4/8/8',
  '::ffff:1.2.3.4/95',
])('%j is no range and trusts nobody', (entry) => {
  expect(readRange(entry)).toBeUndefined();
  expect(readTrustedProxies([entry])).toEqual([]);
});

test('ranges compare by bits, mapped spellings included', () => {
  const inside = (text: string, rangeText: string): boolean => {
    const address = readAddress(text);
    const range = readRange(rangeText);
    return address !== undefined && range !== undefined && isInRange(address, range);
  };
  expect(inside('10.255.255.255', '10.0.0.0/8')).toBe(true);
  expect(inside('11.0.0.0', '10.0.0.0/8')).toBe(false);
  expect(inside('::ffff:10.1.2.3', '10.0.0.0/8')).toBe(true);
  expect(inside('10.1.2.3', '::ffff:10.0.0.0/104')).toBe(true);
  expect(inside('::10.1.2.3', '10.0.0.0/8')).toBe(false);
  expect(inside('1.2.3.4', '0.0.0.0/0')).toBe(true);
  expect(inside('::1', '0.0.0.0/0')).toBe(false);
  expect(inside('fe80::1%eth0', 'fe80::/10')).toBe(true);
});
