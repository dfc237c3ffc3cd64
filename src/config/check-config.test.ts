import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { textOf } from '../lib/localized-message.ts';
import { checkConfig } from './check-config.ts';

function problems(raw: JsonValue): readonly string[] {
  const checked = checkConfig(raw);
  return checked.kind === 'bad' ? checked.problems.map(textOf) : [];
}

test('unknown keys are fine at every level (P192)', () => {
  expect(
    problems({ theme: 'dark', proxy: { zoom: 3, extprov: { other: {}, api_key: '' } } }),
  ).toEqual([]);
});

function upstream(more: JsonObject): JsonObject {
  return { upstreams: { a: { profile: 'generic', base_url: 'http://u', ...more } } };
}

function oauth(more: JsonObject): JsonObject {
  return { upstreams: { a: { profile: 'vertex', oauth: { client_id: 'c', ...more } } } };
}

test('upstreams of every profile, with addresses on this machine, are fine', () => {
  const local = { authorization_url: 'http://127.0.0.1:1/a', token_url: 'http://[::1]:1/t' };
  const upstreams = {
    house: { profile: 'generic', base_url: 'http://u', oauth: { client_id: 'c', ...local } },
    vertex: { profile: 'vertex', location: 'eu', oauth: { client_id: 'c' } },
    'gemini-api': { profile: 'gemini-api' },
    sandbox: { profile: 'sandbox' },
  };
  expect(problems({ upstreams })).toEqual([]);
});

test('programs that are made of web pages have origins too', () => {
  const cors_origins = [
    ...['https://app.example.com', 'app://obsidian.md', 'tauri://localhost', 'x-app://a.b:8080'],
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  ];
  expect(problems({ proxy: { cors_origins } })).toEqual([]);
});

test.each(['file://', 'null', 'app://', 'app://a/b', 'app://A', 'chrome-extension://*', 'ws://a'])(
  'no browser sends %s for the origin of one page',
  (origin) => {
    expect(problems({ proxy: { cors_origins: [origin] } })[0]).toContain('must be origins such as');
  },
);

test.each<[JsonValue, string]>([
  [[], '(root): must be an object'],
  [{ api_key: 5 }, 'api_key: must be string'],
  [{ proxy: { port: 1.5 } }, 'proxy.port: must be integer'],
  [{ proxy: { auth_mode: 'none' } }, 'proxy.auth_mode: must be one of off, auto, strict'],
  [{ auth_mode: 'none' }, 'auth_mode: must be one of'],
  [{ proxy: { auth_mode: null } }, 'proxy.auth_mode: must be one of'],
  [{ proxy: { custom_mapping: { 'gpt*': 1 } } }, 'proxy.custom_mapping["gpt*"]: must be string'],
  [{ proxy: { trusted_proxies: ['0.0.0.0/0'] } }, 'proxy.trusted_proxies: must not trust'],
  [{ proxy: { cors_origins: ['*'] } }, 'proxy.cors_origins: must be origins'],
  [{ proxy: { allowed_hosts: ['http://box'] } }, 'proxy.allowed_hosts: must be'],
  [
    { proxy: { allowed_hosts: ['Bücher.example'] } },
    'proxy.allowed_hosts: must be as clients send it, "xn--bcher-kva.example", not "Bücher.example"',
  ],
  [
    { proxy: { cors_origins: ['https://bücher.example:8443'] } },
    'proxy.cors_origins: must be as browsers send it, "https://xn--bcher-kva.example:8443", not',
  ],
  [{ proxy: { allowed_hosts: ['box:443'] } }, 'proxy.allowed_hosts: must be host names without'],
  [{ proxy: { allowed_hosts: ['b ü'] } }, 'proxy.allowed_hosts: must be host names without port'],
  [{ proxy: { cors_origins: ['https://*.box'] } }, 'proxy.cors_origins: must be whole origins'],
  [{ admin_password: 'two\nlines' }, 'admin_password: must be one line'],
  [{ admin_password: 'p'.repeat(1_025) }, 'admin_password: must have at most 1024 characters'],
  [{ api_key: 'k'.repeat(1_025) }, 'api_key: must have at most 1024 characters'],
  [{ proxy: { thinking: { budget: 1023 } } }, 'proxy.thinking.budget: must be >= 1024'],
  [{ proxy: { thinking: { budget: 2048.5 } } }, 'proxy.thinking.budget: must be integer'],
  [{ proxy: { thinking: { mode: 'max' } } }, 'proxy.thinking.mode: must be one of auto, pass'],
  [{ proxy: { extprov: { dispatch_mode: 'on' } } }, 'proxy.extprov.dispatch_mode: must be one of'],
  [{ proxy: { extprov: { api_key: 'canary\n' } } }, 'proxy.extprov.api_key: must be one line'],
  [{ proxy: { extprov: { base_url: 'provider' } } }, 'proxy.extprov.base_url: must be an address'],
  [
    { proxy: { extprov: { model_mapping: { 'beta-sonnet-4-6': '' } } } },
    'proxy.extprov.model_mapping["beta-sonnet-4-6"]: must not have fewer than 1',
  ],
  [
    { proxy: { extprov: { models: { opus: '' } } } },
    'proxy.extprov.models.opus: must not have fewer than 1',
  ],
  [{ proxy: { host: '999.1.1.1' } }, 'proxy.host: must be a host name or an address'],
  [{ proxy: { pool: { mode: 'random' } } }, 'proxy.pool.mode: must be one of balance, cache-first'],
  [{ proxy: { pool: { max_wait_seconds: 301 } } }, 'proxy.pool.max_wait_seconds: must be <= 300'],
  [{ proxy: { pool: { max_wait_seconds: 0.5 } } }, 'proxy.pool.max_wait_seconds: must be integer'],
  [{ proxy: { quota: { refresh_minutes: 0 } } }, 'proxy.quota.refresh_minutes: must be >= 1'],
  [
    { proxy: { quota: { protection: { threshold_percent: 101 } } } },
    'proxy.quota.protection.threshold_percent: must be <= 100',
  ],
  [{ upstreams: [] }, 'upstreams: must be object'],
  [{ upstreams: { a: {} } }, 'upstreams.a: lacks profile'],
  [{ upstreams: { a: { profile: 'other' } } }, 'upstreams.a.profile: must be one of sandbox'],
  [{ upstreams: { a: { profile: 'generic' } } }, 'upstreams.a.base_url: must be set'],
  [
    { upstreams: { vertex: { profile: 'gemini-api' } } },
    'upstreams.vertex.profile: must be vertex',
  ],
  [{ upstreams: { 'a b': { profile: 'vertex' } } }, 'upstreams["a b"]: must have an id'],
  [upstream({ base_url: 'ftp://x' }), 'upstreams.a.base_url: must be an address'],
  [upstream({ base_url: 'https://u:pw@x' }), 'upstreams.a.base_url: must be an address without'],
  [
    upstream({ base_url: 'https://x?key=canary' }),
    'upstreams.a.base_url: must be an address without "?" and "#"',
  ],
  [upstream({ location: 'x' }), 'upstreams.a.location: only the profile vertex has it'],
  [
    { upstreams: { a: { profile: 'vertex', location: 'evil.example/' } } },
    'upstreams.a.location: must be a location',
  ],
  [
    { upstreams: { a: { profile: 'vertex', auth: 'query' } } },
    'upstreams.a.auth: only the profile',
  ],
  [
    { upstreams: { a: { profile: 'openai', headers: { 'x-a': 'canary\n' } } } },
    'upstreams.a.headers: must be headers in ASCII without line breaks: "x-a" is none',
  ],
  [
    upstream({ profile: 'openai-compatible', key_header: 'x y' }),
    'upstreams.a.key_header: must be headers in ASCII without line breaks: "x y" is none',
  ],
  [upstream({ quota_path: 'quota?x=1' }), 'upstreams.a.quota_path: must be a path'],
  [
    upstream({ limits: { 'm.1': { requests: 0, window_minutes: 1 } } }),
    'upstreams.a.limits["m.1"].requests: must be >= 1',
  ],
  [upstream({ limits: { m: { requests: 1 } } }), 'upstreams.a.limits.m: lacks window_minutes'],
  [upstream({ oauth: {} }), 'upstreams.a.oauth: lacks client_id'],
  [upstream({ oauth: { client_id: 'c' } }), 'upstreams.a.oauth.authorization_url: must be set'],
  [oauth({ client_secret: 'two words' }), 'upstreams.a.oauth.client_secret: must be one line'],
  [oauth({ token_url: 'http://t.example' }), 'upstreams.a.oauth.token_url: must start with https'],
  [oauth({ token_url: 'no address' }), 'upstreams.a.oauth.token_url: must be an address'],
  [oauth({ scopes: ['a b'] }), 'upstreams.a.oauth.scopes: must be one line without blanks'],
  [oauth({ scopes: [] }), 'upstreams.a.oauth.scopes: must not have fewer than 1'],
  [
    oauth({ extra_parameters: { State: 'x' } }),
    'upstreams.a.oauth.extra_parameters.State: is set by the sign-in itself',
  ],
])('%j is refused with its JSON path', (raw, start) => {
  expect(problems(raw)[0]).toContain(start);
});

test('an entry that is wrong does not make its map wrong as well', () => {
  expect(problems({ proxy: { custom_mapping: { a: 1, b: 'm', c: 2 } } })).toEqual([
    'proxy.custom_mapping.a: must be string',
    'proxy.custom_mapping.c: must be string',
  ]);
});

test.each<[JsonValue, string]>([
  [{ proxy: { auth_modf: 'strict' } }, 'proxy.auth_modf'],
  [{ proxy: { authMode: 'strict' } }, 'proxy.authMode'],
  [{ proxy: { auht_mode: 'strict' } }, 'proxy.auht_mode'],
  [{ prozy: {} }, 'prozy'],
  [{ apikey: 'k' }, 'apikey'],
  [{ upstream: {} }, 'upstream'],
  [{ upstreams: { a: { profile: 'vertex', locations: 'eu' } } }, 'upstreams.a.locations'],
  [
    { upstreams: { a: { profile: 'vertex', oauth: { client_id: 'c', tokenUrl: 'x' } } } },
    'upstreams.a.oauth.tokenUrl',
  ],
])('%j holds a misspelt key, which must not weaken anything silently (T27)', (raw, path) => {
  expect(problems(raw)[0]).toContain(`${path}: unknown key`);
});

test('secrets are not repeated in problems', () => {
  expect(problems({ api_key: 'my secret' }).join()).not.toContain('my secret');
  expect(problems(oauth({ client_secret: 'my secret' })).join()).not.toContain('my secret');
});
