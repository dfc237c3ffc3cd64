import { expect, test } from 'vitest';
import { resolveSettings } from '../config/effective.ts';
import { readEnvironment } from '../config/env.ts';
import { writeBanner } from './serve.ts';

type BannerFacts = Parameters<typeof writeBanner>[0];

function banner(settings: Partial<BannerFacts['settings']>, facts: Partial<BannerFacts> = {}) {
  return writeBanner({
    version: '1.2.3',
    url: 'http://127.0.0.1:8045',
    settings: {
      authMode: 'auto',
      apiKey: undefined,
      host: '127.0.0.1',
      dataDir: '/d',
      upstreams: [],
      ...settings,
    },
    accounts: [],
    isSandbox: true,
    newKeyFile: undefined,
    ...facts,
  });
}

test('it tells the address, and that others lead here as well', () => {
  expect(banner({})).toMatch(/^isthmus 1\.2\.3 listens on http:\/\/127\.0\.0\.1:8045\n/);
  for (const host of ['0.0.0.0', '::']) {
    expect(banner({ host })).toMatch(/:8045 and every other address of this machine\n/);
  }
});

test.each<[Partial<BannerFacts['settings']>, string]>([
  [{}, 'none set; requests from this machine need none'],
  [{ apiKey: 'k' }, 'required from other machines'],
  [{ authMode: 'off' }, 'not required from anyone'],
  [{ authMode: 'strict' }, 'none is set: set API_KEY'],
  [{ authMode: 'strict', apiKey: 'k' }, 'required from everyone'],
  [{ apiKey: 'k', host: '0.0.0.0' }, 'required from other machines'],
  [{ apiKey: 'k', host: '192.0.2.7' }, 'required from everyone'],
])('%j is told in the line of the keys, without the key', (settings, words) => {
  const line = /^ +Keys .*$/m.exec(banner(settings))?.[0];
  expect(line).toContain(words);
  expect(line).not.toContain(' k ');
});

test('each protocol has a line to try, which shows a key where one is needed', () => {
  for (const path of ['/v1/chat/completions', '/v1/messages', ':generateContent']) {
    expect(banner({})).toContain(path);
  }
  expect(banner({})).not.toContain('$API_KEY');
  expect(banner({ authMode: 'strict' }).match(/Bearer \$API_KEY/g)).toHaveLength(3);
  // There is no loopback address to come from.
  expect(banner({ host: '192.0.2.7' }).match(/Bearer \$API_KEY/g)).toHaveLength(3);
  expect(banner({ host: '192.0.2.7', authMode: 'off' })).not.toContain('$API_KEY');
  expect(banner({ host: '::' })).not.toContain('$API_KEY');
});

test('the way from the sandbox to a real account runs in the folder of a fresh clone', () => {
  expect(banner({})).toContain('isthmus accounts add');
  expect(banner({}, { isSandbox: false, accounts: [{ label: 'a' }] })).not.toContain('sandbox');
});

test('an upstream without accounts is named, with what is missing', () => {
  const variables = { UPSTREAM_BASE_URL: 'http://upstream.example' };
  const { upstreams } = resolveSettings({
    environment: readEnvironment({ variables, readText: () => '' }),
    file: {},
  });
  const none = banner({ upstreams }, { isSandbox: false });
  expect(none).toMatch(/none for generic: .* Set\s+UPSTREAM_API_KEYS/);
  const accounts = [{ label: 'key-1@env' }];
  expect(banner({ upstreams }, { isSandbox: false, accounts })).not.toContain('UPSTREAM_API_KEYS');
});

test('many accounts are counted, and the first of them named', () => {
  const accounts = Array.from({ length: 49 }, (_, index) => ({ label: `key-${index + 1}` }));
  const line = (count: number): string | undefined =>
    /^ +Accounts +(.*)$/m.exec(
      banner({}, { accounts: accounts.slice(0, count), isSandbox: false }),
    )?.[1];
  expect(line(5)).toBe('5 (key-1, key-2, key-3, key-4, key-5)');
  expect(line(49)).toBe('49 (key-1, key-2, key-3, key-4, key-5 and 44 more)');
});

test('a first start says that newer versions are asked for and how to end it, a later one what is newer', () => {
  const updates = (isFirst: boolean, newer?: string) => ({ isFirst, newer: () => newer });
  const first = banner({}, { updates: updates(true) });
  expect(first).toContain('once a day registry.npmjs.org is asked');
  expect(first).toContain('ISTHMUS_UPDATE_CHECK=off');
  expect(banner({}, { updates: updates(false) })).not.toMatch(/Update/);
  expect(banner({}, { updates: updates(false, '9.9.9') })).toMatch(/Update +isthmus 9\.9\.9 is/);
  expect(banner({})).not.toMatch(/Update/);
});
