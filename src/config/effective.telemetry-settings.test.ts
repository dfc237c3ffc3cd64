import { expect, test } from 'vitest';
import { resolveSettings } from './effective.ts';
import { readEnvironment } from './env.ts';
import { ConfigError } from './values.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

function read(variables: Record<string, string>) {
  const environment = readEnvironment({ variables, readText: () => '' });
  return resolveSettings({ file: {}, environment, flags: {} }).telemetry;
}

test('an endpoint is enough', () => {
  expect(read(ENDPOINT)).toEqual({
    endpoint: 'http://127.0.0.1:4318',
    headers: {},
    serviceName: 'isthmus',
    resourceAttributes: {},
    sampler: 'parentbased_always_on',
    samplerRatio: 1,
  });
});

test('without an endpoint the other variables say nothing', () => {
  expect(read({ OTEL_SERVICE_NAME: 'a', OTEL_TRACES_SAMPLER: 'always_on' })).toBeUndefined();
});

test('the other variables are read as their specification says', () => {
  const settings = read({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi==, x-team = a%2Cb,empty=',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=door,__proto__=x,place=K%C3%B6ln',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '.25',
  });
  expect(settings).toMatchObject({
    headers: { authorization: 'Basic YTpi==', 'x-team': 'a,b', empty: '' },
    serviceName: 'door',
    sampler: 'parentbased_traceidratio',
    samplerRatio: 0.25,
  });
  expect(Object.entries(settings?.resourceAttributes ?? {})).toEqual([
    ['service.name', 'door'],
    ['__proto__', 'x'],
    ['place', 'Köln'],
  ]);
  expect(read({ ...ENDPOINT, OTEL_SERVICE_NAME: 'own name' })?.serviceName).toBe('own name');
});

test.each([
  ['OTEL_EXPORTER_OTLP_HEADERS', 'canary', 'must be pairs such as name=value, comma list'],
  ['OTEL_EXPORTER_OTLP_HEADERS', '=canary', 'must be pairs such as name=value, comma list'],
  [
    'OTEL_EXPORTER_OTLP_HEADERS',
    'key=canary%',
    'must be percent-encoded: the value of "key" is not',
  ],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'key=canary%0d%0ax:y', '"key" is none'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'k(y=canary', '"k(y" is none'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=b,,c=canary', 'must be a comma list without empty entries'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'must be one of always_on, always_off'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.1', 'must be a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', 'half', 'must be a number from 0 to 1'],
  ['OTEL_SERVICE_NAME', 'a\nb', 'must be one line'],
])('%s=%s is refused by name, its value never shown', (name, value, problem) => {
  const attempt = (): unknown => read({ ...ENDPOINT, [name]: value });
  expect(attempt).toThrow(ConfigError);
  expect(attempt).toThrow(`${name} `);
  expect(attempt).toThrow(problem);
  expect(attempt).not.toThrow(/canary/);
});
