import { expect, test } from 'vitest';
import { textOf } from '../lib/localized-message.ts';
import { resolveSettings } from './effective.ts';
import type { Environment } from './env.ts';
import type { ConfigFile } from './settings.ts';

test('without anything said the defaults of the specification hold', () => {
  const settings = resolveSettings({ environment: {}, file: {} });
  expect(settings).toMatchObject({
    host: '127.0.0.1',
    port: 8045,
    authMode: 'auto',
    apiKey: undefined,
    maxBodyBytes: 104_857_600,
    distPath: 'dist',
    customMapping: {},
    trustedProxies: [],
    upstreamSeeds: [],
    logLevel: 'info',
  });
  expect(settings.externalProvider).toEqual({
    enabled: false,
    baseUrl: undefined,
    apiKey: undefined,
    dispatchMode: 'off',
    modelMapping: {},
    models: { opus: 'extmodel-4.7', sonnet: 'extmodel-4.7', haiku: 'extmodel-4.5-air' },
    mcp: {
      enabled: false,
      webSearchEnabled: false,
      webReaderEnabled: false,
      visionEnabled: false,
    },
  });
});

test.each([
  [{ auth_mode: 'Strict' }, 'strict'],
  [{ proxy: { auth_mode: 'STRICT' } }, 'strict'],
  [{ auth_mode: 'off', proxy: { auth_mode: 'Strict' } }, 'strict'],
] as const)('the mode of %j counts wherever it stands, in any case (T27)', (file, authMode) => {
  expect(resolveSettings({ environment: {}, file }).authMode).toBe(authMode);
});

test('flags win over environment, environment over file', () => {
  const file = { proxy: { port: 1, host: 'a', auth_mode: 'Strict' as const } };
  const environment: Environment = { port: 2, host: 'b' };
  const settings = resolveSettings({ flags: { port: 3 }, environment, file });
  expect(settings).toMatchObject({ port: 3, host: 'b', authMode: 'strict' });
});

test('a value of the file is in force as its reader writes it, as one of the environment is', () => {
  const file = { proxy: { allowed_hosts: ['Box', 'FD00:0::5', '[fd00::6]'] } };
  expect(resolveSettings({ environment: {}, file }).allowedHosts).toEqual([
    ...['box', '[fd00::5]', '[fd00::6]'],
  ]);
});

test('that order holds for each setting that several may say', () => {
  const file: ConfigFile = {
    proxy: {
      host: 'file',
      port: 1,
      auth_mode: 'off',
      log_level: 'error',
      max_body_size: 1,
      trusted_proxies: ['192.0.2.1'],
      allowed_hosts: ['File'],
      cors_origins: ['http://file'],
      fetch_remote_media: true,
    },
  };
  const environment: Environment = {
    host: 'env',
    port: 2,
    authMode: 'auto',
    logLevel: 'warn',
    maxBodyBytes: 2,
    ...lists('env'),
    fetchRemoteMedia: false,
    dataDir: '/env',
  };
  const flags = { host: 'flag', port: 3, authMode: 'strict', logLevel: 'debug' } as const;
  expect(resolveSettings({ environment: {}, file })).toMatchObject({
    ...{ host: 'file', port: 1, authMode: 'off', logLevel: 'error', maxBodyBytes: 1 },
    trustedProxies: ['192.0.2.1'],
    allowedHosts: ['file'],
    corsOrigins: ['http://file'],
    fetchRemoteMedia: true,
  });
  const said = { maxBodyBytes: 2, ...lists('env'), fetchRemoteMedia: false };
  expect(resolveSettings({ environment, file })).toMatchObject({
    ...{ host: 'env', port: 2, authMode: 'auto', logLevel: 'warn', dataDir: '/env' },
    ...said,
  });
  expect(
    resolveSettings({ flags: { ...flags, dataDir: '/flag' }, environment, file }),
  ).toMatchObject({ ...flags, dataDir: '/flag', ...said });
});

function lists(from: string) {
  return { trustedProxies: [from], allowedHosts: [from], corsOrigins: [from] };
}

test('the console password is WEB_PASSWORD, then admin_password, then the key', () => {
  const file = { api_key: 'k', admin_password: 'p' };
  const password = (environment: Environment, config: typeof file | { api_key: string }) =>
    resolveSettings({ environment, file: config }).consolePassword;
  expect(password({ webPassword: 'w' }, file)).toBe('w');
  expect(password({}, file)).toBe('p');
  expect(password({ apiKey: 'e' }, { api_key: 'k' })).toBe('e');
});

const NOTHING = { vocabulary: undefined, auth: undefined };
const PUBLIC = { profile: 'gemini-api', baseUrl: undefined, apiKeys: ['g'], ...NOTHING };

test.each<[string, Environment, object[]]>([
  ['a public key alone', { geminiApiKey: 'g' }, [PUBLIC]],
  ['keys alone', { upstreamApiKeys: ['g', 'g'] }, [PUBLIC]],
  [
    'the public profile at another address with a public key',
    { upstreamProfile: 'gemini-api', upstreamBaseUrl: 'http://u', geminiApiKey: 'g' },
    [{ ...PUBLIC, baseUrl: 'http://u' }],
  ],
  [
    'an address and a public key',
    { upstreamBaseUrl: 'http://u', upstreamApiKeys: ['a'], geminiApiKey: 'g' },
    [{ profile: 'generic', baseUrl: 'http://u', apiKeys: ['a'], ...NOTHING }, PUBLIC],
  ],
])('upstreams from %s', (_label, environment, seeds) => {
  expect(resolveSettings({ environment, file: {} }).upstreamSeeds).toEqual(seeds);
});

test('media are fetched only when the operator says so; the environment wins', () => {
  const fetches = (environment: Environment, value?: boolean) =>
    resolveSettings({
      environment,
      file: value === undefined ? {} : { proxy: { fetch_remote_media: value } },
    }).fetchRemoteMedia;
  expect(fetches({})).toBe(false);
  expect(fetches({}, true)).toBe(true);
  expect(fetches({ fetchRemoteMedia: false }, true)).toBe(false);
});

test('B4: a generic upstream without an address is pointed out', () => {
  const settings = resolveSettings({ environment: { upstreamProfile: 'generic' }, file: {} });
  expect(settings.warnings.map(textOf)).toEqual([expect.stringContaining('set UPSTREAM_BASE_URL')]);
});

test.each([
  [{ proxy: { admin_password: 'k' } }, 'proxy.admin_password', 'admin_password'],
  [{ proxy: { retention_days: 9 } }, 'proxy.retention_days', 'proxy.monitor.retention_days'],
  [
    { upstreams: { a: { profile: 'vertex', client_secret: 's' } } },
    'upstreams.a.client_secret',
    'proxy.sign_in.client_secret or upstreams.<name>.oauth.client_secret',
  ],
  [{ proxy: { upstreams: {} } }, 'proxy.upstreams', 'upstreams'],
  [{ custom_mapping: {} }, 'custom_mapping', 'proxy.custom_mapping'],
])(
  '%j holds a setting at another level than its own, which is pointed out',
  (file, path, meant) => {
    const { warnings } = resolveSettings({ environment: {}, file: file as ConfigFile });
    expect(warnings.map(textOf)).toEqual([
      `The setting ${path} is not known and does nothing. Did you mean ${meant}?`,
    ]);
  },
);

test.each([
  [undefined, { kind: 'auto' }],
  [{ mode: 'passthrough', budget: 2048 }, { kind: 'passthrough' }],
  [{ mode: 'adaptive' }, { kind: 'adaptive' }],
  [{ mode: 'custom' }, { kind: 'custom', tokens: 24_576 }],
  [
    { mode: 'custom', budget: 2048 },
    { kind: 'custom', tokens: 2048 },
  ],
] as const)('thinking of %j is the mode %j', (thinking, mode) => {
  const file = thinking === undefined ? {} : { proxy: { thinking } };
  expect(resolveSettings({ environment: {}, file }).thinking).toEqual(mode);
});
