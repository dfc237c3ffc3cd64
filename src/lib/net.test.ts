import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMediaFetcher } from '../media/fetch-media.ts';
import {
  asksOnce,
  findUrlFault,
  isHeardAt,
  isLoopbackHost,
  ownAddress,
  PUBLIC_ONLY,
  readProxyUrl,
} from './net.ts';

/** Spellings of hosts and addresses that are not public, or that hide one. */
const CORPUS: readonly string[] = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '0.0.0.0', '0', '0x7f000001'],
  ...['0x7f.0.0.1', '0x7f.1', '2130706433', '017700000001', '0177.0.0.1', '0177.0.0.01'],
  ...[
    '127。0。0。1',
    '127．0．0．1',
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '127.0.0.1.',
    '%31%32%37.0.0.1',
  ],
  ...['10.0.0.1', '10.1', '0x0a000001', '167772161', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['192.168.257', '0xc0.0xa8.1.1', '100.64.0.1', '100.127.255.254', '169.254.0.1'],
  ...['169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.254.43518'],
  ...['168.63.129.16', '100.100.100.200', '192.0.0.192', '192.0.2.1', '198.18.0.1', '198.19.255.1'],
  ...['198.51.100.7', '203.0.113.9', '192.88.99.1', '224.0.0.1', '239.255.255.250', '240.0.0.1'],
  ...['255.255.255.255', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::127.0.0.1]', '[::7f00:1]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]', '[::ffff:10.0.0.1]'],
  ...[
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::7f00:1]',
  ],
  ...['[64:ff9b::169.254.169.254]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]'],
  ...['[2001::1]', '[2001:db8::1]', '[fc00::1]', '[fd00:ec2::254]', '[fd12:3456::1]', '[fe80::1]'],
  ...[
    '[feb0::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[ff0e::1]',
    '[100::1]',
    '[::2]',
    '[1::1]',
    '[4000::1]',
  ],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'router', 'nas.local', 'x.internal'],
  ...['metadata.google.internal', 'printer.lan', 'my.home.arpa', 'ⓛocalhost', 'kubernetes'],
  ...['127.0.0.1:443', '0x7f000001:443', '[::1]:443', '127%2e0%2e0%2e1', '[::ffff:c0a8:101]'],
  ...['0300.0250.1.1', '3232235777', '[::ffff:0.0.0.0]', '[2001:0:7f00:1::]', '[2001:10::1]'],
];

test('the corpus is large enough to mean something (T10, S14)', () => {
  expect(CORPUS.length).toBeGreaterThanOrEqual(100);
});

test.each(CORPUS)('https://%s is neither asked for nor connected to (T10)', async (host) => {
  const asked: string[] = [];
  const fetcher = createMediaFetcher({
    clock: createFakeClock(),
    userAgent: 'isthmus/test',
    isEnabled: () => true,
    resolve: async (name) => {
      asked.push(name);
      return [];
    },
  });
  const { signal } = new AbortController();
  await expect(fetcher.fetch(`https://${host}/a.png`, signal)).rejects.toMatchObject({
    kind: 'not-public',
  });
  expect(asked).toEqual([]);
  await fetcher.close();
});

test.each([
  'http://example.com/a.png',
  'https://example.com:8443/a.png',
  'https://example.com:80/a.png',
  'https://user:pw@example.com/a.png',
  'https://user@example.com/a.png',
  'ftp://example.com/a.png',
  'file:///etc/passwd',
  'data:image/png;base64,AAAA',
  'javascript:1',
  'blob:https://example.com/1',
])('%s is not fetched', (address) => {
  expect(PUBLIC_ONLY.allowsUrl(new URL(address))).toBe(false);
});

test('public hosts on the port of https are', () => {
  for (const address of ['https://example.com/a.png?b=c', 'https://EXAMPLE.com:443/']) {
    expect(PUBLIC_ONLY.allowsUrl(new URL(address))).toBe(true);
  }
});

test.each([
  ['93.184.215.14', true],
  ['1.1.1.1', true],
  ['2606:4700:4700::1111', true],
  ['::ffff:1.1.1.1', true],
  ['::ffff:127.0.0.1', false],
  ['fe80::1%eth0', false],
  ['::1.1.1.1', false],
  ['::127.0.0.1', false],
  ['10.0.0.1', false],
  ['fe80::1', false],
  ['168.63.129.16', false],
  ['', false],
  ['example.com', false],
])('the address %s is public: %s', (address, isPublic) => {
  expect(PUBLIC_ONLY.allowsAddress(address)).toBe(isPublic);
});

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

test.each([
  ['http://proxy.example:3128', 'http://proxy.example:3128/'],
  [' https://user:p%40ss@10.0.0.1:8443/ ', 'https://user:p%40ss@10.0.0.1:8443/'],
  ['socks5://[::1]:1080', 'socks5://[::1]:1080'],
  ['http://user@proxy', 'http://user@proxy/'],
  // As GNOME writes it into ALL_PROXY, and programs that resolve no names.
  ['socks://127.0.0.1:7890/', 'socks5://127.0.0.1:7890/'],
  ['SOCKS5h://user:pw@proxy:1080', 'socks5://user:pw@proxy:1080'],
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
  ['http://user:secret#1@proxy:3128', '%23'],
  ['http://user:12/secret@proxy:3128', '%2F'],
  ['socks5://user:1?secret@proxy', '%3F'],
  ['http://:secret@proxy', 'user'],
])('the proxy address %j is refused with the reason', (text, reason) => {
  const reading = readProxyUrl(text);
  expect(reading.kind === 'bad' ? reading.problem.text : '').toContain(reason);
  expect(JSON.stringify(reading)).not.toContain('secret');
});

test.each(['https://example.com/a.png', 'http://8.8.8.8/', 'https://[2606:4700::1111]/x'])(
  '%s is public',
  (url) => {
    expect(findUrlFault(url)).toBeUndefined();
  },
);

test.each([
  ...['http://127.0.0.1/', 'http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/'],
  ...['http://[::1]/', 'http://[::ffff:10.1.2.3]/', 'http://[64:ff9b::a00:1]/', 'http://0/'],
  ...[
    'http://168.63.129.16/',
    'http://169.254.169.254/latest',
    'https://10.0.0.1/',
    'http://100.64.0.1/',
  ],
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

function startLookups() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const heard: string[] = [];
  const lookup = asksOnce((host, _options, callback) => {
    asked.push(host);
    answers.push((error) => {
      callback(error ?? null, [{ address: `${host} ${asked.length}`, family: 4 }]);
    });
  }, clock);
  const ask = (host: string): void =>
    lookup(host, { all: true }, (_error, found) => heard.push(JSON.stringify(found)));
  return { clock, asked, answers, heard, ask };
}

test('a name is asked for once at a time, whoever wants to connect to it', () => {
  const { asked, answers, heard, ask } = startLookups();
  for (const host of ['a', 'a', 'b', 'a']) ask(host);
  expect(asked).toEqual(['a', 'b']);
  answers[0]?.();
  expect(heard).toEqual(Array(3).fill('[{"address":"a 2","family":4}]'));
  ask('a');
  expect(asked).toEqual(['a', 'b', 'a']);
});

test('what a slow resolver said is known to who asks again within half a minute', async () => {
  const { clock, asked, answers, heard, ask } = startLookups();
  ask('a');
  await clock.advance(6_000);
  answers[0]?.();
  ask('a');
  await clock.advance(29_000);
  ask('a');
  await clock.advance(0);
  expect(heard).toEqual(Array(3).fill('[{"address":"a 1","family":4}]'));
  await clock.advance(1_000);
  ask('a');
  expect(asked).toHaveLength(2);
});

test('neither a quick answer nor a slow refusal is kept', async () => {
  const { clock, asked, answers, ask } = startLookups();
  ask('a');
  await clock.advance(900);
  answers[0]?.();
  ask('a');
  await clock.advance(6_000);
  answers[1]?.(new Error('no such name'));
  ask('a');
  expect(asked).toHaveLength(3);
});
