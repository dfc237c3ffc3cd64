import { expect, test } from 'vitest';
import { resolveSettings } from './effective.ts';
import { readEnvironment, VARIABLES } from './env.ts';
import { listOverrides, listVariables } from './origins.ts';

type OriginSources = Parameters<typeof listOverrides>[0];

const SECRETS = {
  API_KEY: 'canary-api-key',
  WEB_PASSWORD: 'canary-password',
  UPSTREAM_API_KEYS: 'canary-one,canary-two',
  GEMINI_API_KEY: 'canary-gemini',
  DATABASE_URL: 'postgres://canary-user:canary-word@db.example:5432/canary-name',
  REDIS_URL: 'rediss://:canary-word@cache.example:6380/0?password=canary-too',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example/in?token=canary-token',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary-header',
  ISTHMUS_SECRET_KEY: 'canary-sealing',
};

function read(
  variables: Readonly<Record<string, string>>,
  flags: OriginSources['flags'] = {},
  file: Parameters<typeof resolveSettings>[0]['file'] = {},
) {
  const sources = { flags, environment: readEnvironment({ variables, readText: () => '' }) };
  const settings = resolveSettings({ ...sources, file });
  const inFile = new Set(Object.keys(file.proxy ?? {}).map((key) => `proxy.${key}`));
  return {
    overrides: listOverrides(sources),
    variables: listVariables(sources, settings, (path) => inFile.has(path.join('.'))),
  };
}

const named = (all: ReturnType<typeof read>['variables'], name: string) =>
  all.find((one) => one.name === name);

test('every variable is told of, in the order of the table', () => {
  const { variables, overrides } = read({});
  expect(variables.map(({ name }) => name)).toEqual(
    Object.values(VARIABLES).map(({ name }) => name),
  );
  expect(overrides).toEqual([]);
});

test('no secret is told, only whether there is one, and of servers only the host', () => {
  const { variables, overrides } = read(SECRETS);
  expect(JSON.stringify([variables, overrides])).not.toContain('canary');
  expect(named(variables, 'API_KEY')).toMatchObject({ isSecret: true, isSet: true });
  expect(named(variables, 'DATABASE_URL')).toMatchObject({ value: 'db.example:5432' });
  expect(named(variables, 'REDIS_URL')).toMatchObject({ value: 'cache.example:6380' });
  expect(named(variables, 'OTEL_EXPORTER_OTLP_ENDPOINT')).toMatchObject({
    value: 'https://otlp.example/in',
  });
});

test('amounts are told in the unit of their variable', () => {
  const amounts = {
    ABV_MAX_BODY_SIZE: '5000000',
    DATABASE_POOL_SIZE: '7',
    DATABASE_CONNECT_TIMEOUT: '3',
    DATABASE_STATEMENT_TIMEOUT: '20',
    ISTHMUS_DRAIN_DELAY: '15',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    WORKERS: '2',
  };
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const { variables } = read({ ...amounts, ...endpoint });
  const told = Object.keys(amounts).map((name) => [name, named(variables, name)?.value]);
  expect(Object.fromEntries(told)).toEqual(amounts);
});

test('a flag wins over the environment, that over the file, that over the default', () => {
  const origin = (...given: Parameters<typeof read>) => named(read(...given).variables, 'PORT');
  const file = { proxy: { port: 3 } };
  expect(origin({ PORT: '2' }, { port: 1 }, file)).toMatchObject({ origin: 'flag', value: '1' });
  expect(origin({ PORT: '2' }, {}, file)).toMatchObject({ origin: 'environment', value: '2' });
  expect(origin({}, {}, file)).toMatchObject({ origin: 'file', value: '3' });
  expect(origin({})).toMatchObject({ origin: 'default', value: '8045', restart: 'socket' });
});

test('what the file cannot change now is named by its place, with the value that holds', () => {
  const { overrides } = read(
    { HOST: '0.0.0.0', PORT: '99', API_KEY: 'k', TRUSTED_PROXIES: '10.0.0.0/8' },
    { port: 1 },
  );
  expect(overrides).toEqual([
    { path: ['api_key'], origin: 'environment', name: 'API_KEY' },
    { path: ['proxy', 'port'], origin: 'flag', name: '--port', value: 1 },
    { path: ['proxy', 'host'], origin: 'environment', name: 'HOST', value: '0.0.0.0' },
    {
      path: ['proxy', 'trusted_proxies'],
      origin: 'environment',
      name: 'TRUSTED_PROXIES',
      value: ['10.0.0.0/8'],
    },
  ]);
});

test('what the environment says of its upstream wins over the entry of the same id', () => {
  const { overrides } = read({
    UPSTREAM_BASE_URL: 'https://models.example',
    ISTHMUS_UPSTREAM_AUTH: 'query',
    GEMINI_API_KEY: 'k',
  });
  const places = overrides.map(({ path, name }) => `${path.join('.')} ${name}`);
  expect(places).toEqual([
    'upstreams.generic.profile UPSTREAM_BASE_URL',
    'upstreams.generic.base_url UPSTREAM_BASE_URL',
    'upstreams.generic.auth ISTHMUS_UPSTREAM_AUTH',
    'upstreams.gemini-api.profile GEMINI_API_KEY',
  ]);
});

test('a change waits for a start where a socket, a path or the process itself is in the way', () => {
  const { variables } = read({ LOG_LEVEL: 'warn' });
  const reasons = Object.fromEntries(variables.map(({ name, restart }) => [name, restart]));
  expect(reasons).toMatchObject({
    HOST: 'socket',
    ABV_DIST_PATH: 'path',
    ISTHMUS_DATA_DIR: 'path',
    DATABASE_URL: 'process',
    LOG_LEVEL: 'process',
    ABV_MAX_BODY_SIZE: undefined,
    TRUSTED_PROXIES: undefined,
  });
});
