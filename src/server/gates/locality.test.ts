import { expect, test } from 'vitest';
import { classifyPeer } from './locality.ts';

interface Row {
  readonly peer?: string | undefined;
  readonly host?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly port?: number;
  readonly allowed?: readonly string[];
}

const PLAIN: Row = { peer: '127.0.0.1', host: '127.0.0.1:8045' };

const LOCAL: readonly Row[] = [
  {},
  { peer: '127.8.9.10' },
  { peer: '::1' },
  { peer: '::ffff:127.0.0.1' },
  { peer: '::FFFF:7f00:1' },
  { peer: '::1%lo' },
  { host: 'localhost:8045' },
  { host: 'LocalHost:8045' },
  { host: '[::1]:8045' },
  { host: '[0:0:0:0:0:0:0:1]:8045' },
  { host: '[::ffff:127.0.0.1]:8045' },
  { host: '127.1.2.3:8045' },
  { host: 'localhost', port: 80 },
  { host: '127.0.0.1:80', port: 80 },
  { host: 'box:8045', allowed: ['box'] },
  { host: 'BOX:8045', allowed: ['box'] },
  { host: '[FD00::5]:8045', allowed: ['[fd00::5]'] },
  { headers: { 'sec-fetch-site': 'none' } },
  { headers: { 'sec-fetch-site': 'same-origin' } },
  { headers: { origin: 'http://127.0.0.1:8045' } },
  { headers: { origin: 'http://localhost:8045', 'sec-fetch-site': 'same-origin' } },
  { headers: { origin: 'http://box:8045' }, allowed: ['box'] },
  { headers: { 'x-forward': '1', 'x-real': '1', cf: '1' } },
  { headers: { 'user-agent': 'Via', referer: 'http://evil.example/' } },
];

const REMOTE: readonly Row[] = [
  { peer: undefined },
  { peer: '' },
  { peer: '192.168.1.5' },
  { peer: '10.0.0.2' },
  { peer: '172.17.0.1' },
  { peer: '100.64.0.1' },
  { peer: '169.254.0.1' },
  { peer: '0.0.0.0' },
  { peer: '::' },
  { peer: 'fe80::1%eth0' },
  { peer: 'fd00::1' },
  { peer: '::ffff:10.0.0.1' },
  { peer: '::127.0.0.1' },
  { peer: '64:ff9b::7f00:1' },
  { peer: '203.0.113.9' },
  { peer: 'localhost' },
  { host: undefined },
  { host: '' },
  { host: '127.0.0.1' },
  { host: 'localhost' },
  { host: '127.0.0.1:9000' },
  { host: 'localhost:80' },
  { host: '127.0.0.1:08045' },
  { host: '127.0.0.1:8045:8045' },
  { host: '127.0.0.1:8045@evil.example' },
  { host: 'evil.example:8045' },
  { host: 'localhost.evil.example:8045' },
  { host: '127.0.0.1.evil.example:8045' },
  { host: 'localhost.:8045' },
  { host: 'app.localhost:8045' },
  { host: '0.0.0.0:8045' },
  { host: '[::]:8045' },
  { host: '::1:8045' },
  { host: '0x7f.1:8045' },
  { host: '0177.0.0.1:8045' },
  { host: '2130706433:8045' },
  { host: '127.1:8045' },
  { host: '192.168.1.5:8045' },
  { host: '[127.0.0.1]:8045' },
  { host: 'box:8045' },
  { host: 'box:9000', allowed: ['box'] },
  { host: 'box', allowed: ['box'] },
  { host: 'a.box:8045', allowed: ['box'] },
  { peer: '10.0.0.2', host: 'box:8045', allowed: ['box'] },
  { headers: { forwarded: 'for=127.0.0.1' } },
  { headers: { via: '1.1 proxy' } },
  { headers: { 'x-forwarded-for': '127.0.0.1' } },
  { headers: { 'x-forwarded-for': '' } },
  { headers: { 'x-forwarded-host': 'localhost' } },
  { headers: { 'x-forwarded-proto': 'https' } },
  { headers: { 'x-forwarded-anything': '1' } },
  { headers: { 'x-real-ip': '127.0.0.1' } },
  { headers: { 'true-client-ip': '127.0.0.1' } },
  { headers: { 'cf-connecting-ip': '127.0.0.1' } },
  { headers: { 'cf-ray': '1' } },
  { headers: { origin: 'null' } },
  { headers: { origin: '' } },
  { headers: { origin: 'https://evil.example' } },
  { headers: { origin: 'http://127.0.0.1:9000' } },
  { headers: { origin: 'http://localhost:3000' } },
  { headers: { origin: 'http://127.0.0.1:8045/path' } },
  { headers: { origin: 'http://user@127.0.0.1:8045' } },
  { headers: { origin: 'file://' } },
  { headers: { origin: 'chrome-extension://abc' } },
  { headers: { 'sec-fetch-site': 'cross-site' } },
  { headers: { 'sec-fetch-site': 'same-site' } },
  { headers: { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:8045' } },
  { headers: { 'sec-fetch-site': 'something-new' } },
];

function classify(row: Row): ReturnType<typeof classifyPeer> {
  const { peer, host, headers, port = 8045, allowed = [] } = { ...PLAIN, ...row };
  return classifyPeer({ peer, port, allowedHosts: allowed, headers: { host, ...headers } });
}

test.each(LOCAL)('local: %j', (row) => {
  expect(classify(row)).toBe('local');
});

test.each(REMOTE)('remote: %j', (row) => {
  expect(classify(row)).toBe('remote');
});

test('a request is local only if each of its conditions holds, however they are combined', () => {
  const good = (values: readonly (string | undefined)[]) =>
    values.map((value) => ({ value, fits: true }));
  const bad = (...values: readonly string[]) => values.map((value) => ({ value, fits: false }));
  const peers = [...good(['127.0.0.1', '::1']), ...bad('10.0.0.1')];
  const hosts = [...good(['localhost:8045', '[::1]:8045']), ...bad('evil.example:8045')];
  const origins = [...good([undefined, 'http://localhost:8045']), ...bad('https://evil.example')];
  const sites = [...good([undefined, 'none']), ...bad('cross-site')];
  const chains = [...good([undefined]), ...bad('127.0.0.1')];
  const rows = peers.flatMap((peer) =>
    hosts.flatMap((host) =>
      origins.flatMap((origin) =>
        sites.flatMap((site) => chains.map((chain) => ({ peer, host, origin, site, chain }))),
      ),
    ),
  );
  const verdicts = rows.map(({ peer, host, origin, site, chain }) => {
    const fetched = { origin: origin.value, 'sec-fetch-site': site.value };
    const proxied = chain.value === undefined ? {} : { 'x-forwarded-for': chain.value };
    const headers = { host: host.value, ...fetched, ...proxied };
    return classifyPeer({ peer: peer.value, port: 8045, allowedHosts: [], headers });
  });
  const expected = rows.map((row) =>
    Object.values(row).every(({ fits }) => fits) ? 'local' : 'remote',
  );
  expect(verdicts).toEqual(expected);
  expect(verdicts.filter((verdict) => verdict === 'local')).toHaveLength(16);
});
