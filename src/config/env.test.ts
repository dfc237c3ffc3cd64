import { expect, test } from 'vitest';
import { textOf } from '../lib/localized-message.ts';
import { type Environment, readEnvironment, VARIABLES } from './env.ts';
import { ConfigError } from './values.ts';

function read(variables: Record<string, string>, files: Record<string, string> = {}): Environment {
  return readEnvironment({
    variables,
    readText(path) {
      const text = files[path];
      if (text === undefined) throw new Error('no such file');
      return text;
    },
  });
}

function problems(variables: Record<string, string>, files?: Record<string, string>): string {
  try {
    read(variables, files);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(textOf).join('\n');
  }
  throw new Error('the environment was accepted');
}

test('every variable is read into its own type', () => {
  expect(
    read({
      API_KEY: 'k',
      WEB_PASSWORD: 'a b',
      ABV_MAX_BODY_SIZE: '1000',
      PORT: '0',
      HOST: '::',
      AUTH_MODE: 'Strict',
      UPSTREAM_API_KEYS: 'a, b',
      TRUSTED_PROXIES: '10.0.0.0/8,::1',
      ISTHMUS_CORS_ORIGINS: 'https://a.example:8443',
      ISTHMUS_FETCH_REMOTE_MEDIA: 'True',
      LOG_LEVEL: 'debug',
    }),
  ).toMatchObject({
    apiKey: 'k',
    webPassword: 'a b',
    maxBodyBytes: 1000,
    port: 0,
    host: '::',
    authMode: 'strict',
    upstreamApiKeys: ['a', 'b'],
    trustedProxies: ['10.0.0.0/8', '::1'],
    corsOrigins: ['https://a.example:8443'],
    fetchRemoteMedia: true,
    logLevel: 'debug',
  });
});

test('an empty variable counts as not set', () => {
  expect(read({ API_KEY: '', AUTH_MODE: '' }).authMode).toBeUndefined();
});

test.each(Object.values(VARIABLES).map(({ name }) => name))('%s may come from a file', (name) => {
  const variables = { [`${name}_FILE`]: '/run/secret' };
  expect(() => read(variables, { '/run/secret': 'x\n' })).not.toThrow(/readable/);
  expect(problems(variables)).toContain(name);
  expect(problems(variables, { '/run/secret': '\n' })).toContain('is empty');
});

test('a value from a file loses its last line break only', () => {
  expect(read({ API_KEY_FILE: 'f' }, { f: 'secret\n' }).apiKey).toBe('secret');
});

test('a variable and its file together are refused', () => {
  expect(problems({ API_KEY: 'a', API_KEY_FILE: 'f' }, { f: 'b' })).toContain('API_KEY_FILE');
});

test.each([
  ['AUTH_MODE', 'none'],
  ['AUTH_MODE', 'offf'],
  ['PORT', '70000'],
  ['PORT', '80a'],
  ['HOST', 'a b'],
  ['ABV_MAX_BODY_SIZE', '100MB'],
  ['ABV_MAX_BODY_SIZE', '0'],
  ['TRUSTED_PROXIES', '0.0.0.0/0'],
  ['TRUSTED_PROXIES', '10.0.0.1,'],
  ['TRUSTED_PROXIES', '010.0.0.1'],
  ['UPSTREAM_PROFILE', 'other'],
  ['UPSTREAM_BASE_URL', 'ftp://x'],
  ['UPSTREAM_BASE_URL', 'https://user:pw@x'],
  ['UPSTREAM_BASE_URL', 'https://x/v1beta?key=pw'],
  ['DATABASE_URL', 'mysql://x'],
  ['REDIS_URL', 'redis://x/isthmus'],
  ['ISTHMUS_CORS_ORIGINS', '*'],
  ['ISTHMUS_CORS_ORIGINS', 'https://a/b'],
  ['ISTHMUS_UPSTREAM_LOCATION', 'evil.example/'],
  ['ISTHMUS_UPSTREAM_PROJECT', 'two words'],
  ['LOG_LEVEL', 'loud'],
  ['ISTHMUS_FETCH_REMOTE_MEDIA', 'maybe'],
  ['API_KEY', 'two words'],
  ['WEB_PASSWORD', 'p'.repeat(1_025)],
])('%s=%s refuses the start and names the variable (T27)', (name, value) => {
  expect(problems({ [name]: value })).toContain(name);
});

test('every problem is told at once, and secrets are not repeated', () => {
  const text = problems({ API_KEY: 'my secret', PORT: 'x' });
  expect(text).toContain('API_KEY');
  expect(text).toContain('PORT');
  expect(text).not.toContain('my secret');
});
