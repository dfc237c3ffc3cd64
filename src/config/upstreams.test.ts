import { expect, test } from 'vitest';
import { resolveSettings } from './effective.ts';
import type { Environment } from './env.ts';
import type { ConfigFile } from './settings.ts';

function upstreamsOf(
  upstreams: NonNullable<ConfigFile['upstreams']>,
  environment: Environment = {},
) {
  return resolveSettings({ environment, file: { upstreams } }).upstreams;
}

test('an upstream of the file has what the file says', () => {
  const [upstream] = upstreamsOf({
    house: {
      profile: 'generic',
      base_url: 'http://u',
      vocabulary: 'real',
      auth: 'header',
      quota_path: '/q',
      limits: { 'm-1': { requests: 100, window_minutes: 60 } },
      oauth: {
        client_id: 'me',
        client_secret: 'sealed:v1:abc',
        authorization_url: 'https://a',
        token_url: 'https://t',
        redirect_url: 'https://me/back',
        extra_parameters: { hint: 'x' },
      },
    },
  });
  expect(upstream).toMatchObject({
    id: 'house',
    profile: 'generic',
    baseUrl: 'http://u',
    vocabulary: 'real',
    auth: 'header',
    quotaPath: '/q',
    limits: [{ modelId: 'm-1', requests: 100, windowMs: 3_600_000 }],
    oauth: {
      clientId: 'me',
      clientSecret: 'sealed:v1:abc',
      authorizationUrl: 'https://a',
      tokenUrl: 'https://t',
      redirectUrl: 'https://me/back',
      scopes: [],
      extraAuthorizationParameters: { hint: 'x' },
    },
  });
});

test('the public addresses of sign-ins are known, the client is the operator’s own', () => {
  const [vertex, house] = upstreamsOf({
    vertex: { profile: 'vertex', location: ' Europe-West4 ', oauth: { client_id: 'me' } },
    house: { profile: 'generic', base_url: 'http://u' },
  });
  expect(vertex).toMatchObject({
    location: 'europe-west4',
    oauth: {
      clientId: 'me',
      clientSecret: undefined,
      authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenUrl: 'https://oauth2.googleapis.com/token',
      revocationUrl: 'https://oauth2.googleapis.com/revoke',
      userInfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
      scopes: ['openid', 'email', 'https://www.googleapis.com/auth/cloud-platform'],
      extraAuthorizationParameters: { access_type: 'offline', prompt: 'consent' },
    },
  });
  expect(house?.oauth).toBeUndefined();
});

test('service accounts of the public APIs need no client', () => {
  const [upstream] = upstreamsOf({ vertex: { profile: 'vertex' } });
  expect(upstream?.oauth).toMatchObject({ clientId: '', tokenUrl: expect.any(String) });
});

test('what the operator writes wins over what is known', () => {
  const [upstream] = upstreamsOf({
    v: {
      profile: 'vertex',
      oauth: {
        client_id: 'me',
        token_url: 'https://t',
        scopes: ['s'],
        extra_parameters: { prompt: 'none' },
      },
    },
  });
  expect(upstream?.oauth).toMatchObject({
    tokenUrl: 'https://t',
    scopes: ['s'],
    extraAuthorizationParameters: { access_type: 'offline', prompt: 'none' },
  });
});

test('the environment and the file speak of one upstream under its profile’s name', () => {
  const environment: Environment = {
    upstreamProfile: 'vertex',
    upstreamLocation: 'us-east1',
    upstreamProject: 'p',
    upstreamApiKeys: ['k'],
  };
  const file = { vertex: { profile: 'vertex' as const, oauth: { client_id: 'me' } } };
  const settings = resolveSettings({ environment, file: { upstreams: file } });
  expect(settings.upstreams).toMatchObject([
    { id: 'vertex', location: 'us-east1', oauth: { clientId: 'me' } },
  ]);
  expect(settings.upstreamSeeds).toMatchObject([{ profile: 'vertex', projectId: 'p' }]);
  expect(upstreamsOf({}, environment)).toMatchObject([{ id: 'vertex', location: 'us-east1' }]);
});

test('a location without the profile that has one is refused', () => {
  expect(() => upstreamsOf({}, { upstreamLocation: 'us-east1' })).toThrow(
    'ISTHMUS_UPSTREAM_LOCATION',
  );
});

test('pool and quota have their defaults, and units of their own', () => {
  const defaults = resolveSettings({ environment: {}, file: {} });
  expect(defaults.pool).toEqual({
    mode: 'balance',
    maxWaitMs: 60_000,
    fixedAccount: undefined,
    sessionIdleMs: 3_600_000,
  });
  expect(defaults.quota).toEqual({
    refreshIntervalMs: 300_000,
    protection: { enabled: false, thresholdPercent: 10, models: [] },
  });
  const { pool, quota } = resolveSettings({
    environment: {},
    file: {
      proxy: {
        pool: {
          mode: 'cache-first',
          max_wait_seconds: 0,
          fixed_account: 'a',
          session_ttl_minutes: 1.5,
        },
        quota: {
          refresh_minutes: 2,
          protection: { enabled: true, threshold_percent: 0, models: ['m'] },
        },
      },
    },
  });
  expect(pool).toEqual({
    mode: 'cache-first',
    maxWaitMs: 0,
    fixedAccount: 'a',
    sessionIdleMs: 90_000,
  });
  expect(quota).toEqual({
    refreshIntervalMs: 120_000,
    protection: { enabled: true, thresholdPercent: 0, models: ['m'] },
  });
});
