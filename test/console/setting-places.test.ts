// Every key of the config schema and every variable of the environment is reachable on a page of the console.

import { expect, test } from 'vitest';
import { en } from '../../console/src/i18n/en.ts';
import { readProvider, writePatch } from '../../console/src/pages/routing/provider-values.ts';
import { PROFILES } from '../../console/src/pages/settings/upstream-profiles.ts';
import {
  readUpstream,
  type UpstreamValues,
  writeUpstream,
} from '../../console/src/pages/settings/upstream-values.ts';
import { placeOfVariable, SETTING_PLACES } from '../../console/src/settings/setting-places.ts';
import { refuseChange } from '../../src/admin/config/guards.ts';
import { CONFIG_SECTIONS } from '../../src/admin/config/sections.ts';
import { VARIABLES } from '../../src/config/env.ts';
import { CONFIG_SCHEMA } from '../../src/config/settings.ts';
import { type KeySchema, leavesOf, schemaAt } from '../support/schema-keys.ts';

const fields = SETTING_PLACES.flatMap((place) => place.fields);

/** Where a section's own key stands in the config file. */
function filePath(section: string, path: readonly string[]): readonly string[] {
  const found = CONFIG_SECTIONS.find(({ name }) => name === section);
  if (found === undefined) throw new Error(`The gateway has no section ${section}.`);
  const [first = '', ...rest] = path;
  return found.path === undefined
    ? [...(found.keys?.[first] ?? []), ...rest]
    : [...found.path, ...path];
}

/** All that the form of the external provider writes when everything in it was changed. */
function providerKeys(): readonly string[] {
  const before = readProvider({});
  const written = writePatch(
    {},
    {
      ...before,
      enabled: true,
      base_url: 'https://provider.example',
      api_key: 'k',
      dispatch_mode: 'pooled',
      mapping: 'a = b',
      models: { opus: 'm', sonnet: 'm', haiku: 'm' },
      mcp: {
        enabled: true,
        web_search_enabled: true,
        web_reader_enabled: true,
        vision_enabled: true,
        web_search_url: 'https://m.example/search',
        web_reader_url: 'https://m.example/reader',
        vision_model: 'm',
      },
    },
  );
  return flatten(written, ['model_mapping']).map((key) => `proxy.extprov.${key}`);
}

/** All that the form of an upstream writes when everything in it was filled in. */
function upstreamKeys(): readonly string[] {
  const values: UpstreamValues = {
    ...readUpstream('work', { profile: 'generic' }),
    ...{ base_url: 'https://u.example', vocabulary: 'real', auth: 'query', location: 'l' },
    ...{ quota_path: '/q', limits: 'm = 1 / 2', client_id: 'i', client_secret: 's' },
    ...{ key_header: 'k', headers: 'h = v', query: 'q = v', chat_path: '/c', models_path: '/m' },
    ...{ images_path: '/i', edits_path: '/d', transcriptions_path: '/t', translations_path: '/l' },
    ...{ speech_path: '/s', images_models: ['i'], transcriptions_models: ['t'] },
    ...{ speech_models: ['s'] },
    ...{ embeddings_path: '/e', extra_body: '{"seed": 1}', quirks: 'groq', ends_with: 'done' },
    ...{ max_concurrency: '4', max_concurrency_per_account: '2' },
    ...{ authorization_url: 'a', token_url: 't', revocation_url: 'r', userinfo_url: 'u' },
    ...{ issuer: 'i', redirect_url: 'r', scopes: ['s'], extra_parameters: 'a = b' },
  };
  const tables = ['limits', 'oauth.extra_parameters', 'headers', 'query', 'extra_body'];
  const written = PROFILES.flatMap((profile) =>
    flatten(writeUpstream({ ...values, profile }, undefined), tables),
  );
  return [...new Set(written)]
    .filter((key) => key !== 'paths' && key !== 'endpoints')
    .map((key) => `upstreams.<name>.${key}`);
}

function flatten(value: object, whole: readonly string[], before = ''): string[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const key = `${before}${name}`;
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    return isObject && !whole.includes(key) ? flatten(inner, whole, `${key}.`) : [key];
  });
}

test('every key of the config file can be changed on a page', () => {
  const reachable = new Set([
    ...fields.map(({ section, path }) => filePath(section, path).join('.')),
    'proxy.custom_mapping',
    'proxy.targets',
    'proxy.presets',
    'proxy.prices',
    'proxy.alerts.channels',
    ...providerKeys(),
    ...upstreamKeys(),
    // A moment; where payloads are missed it is set for some minutes.
    'proxy.monitor.bodies_until',
    // The same as `proxy.auth_mode`: the section `auth` reads both and writes that one.
    'auth_mode',
  ]);
  const keys = leavesOf(CONFIG_SCHEMA);
  expect(keys.length).toBeGreaterThan(50);
  expect(keys.filter((key) => !reachable.has(key))).toEqual([]);
  expect([...reachable].filter((key) => !keys.includes(key))).toEqual([]);
});

test('a setting offers what the schema takes, and says the default that holds', () => {
  const different = fields.flatMap((field) => {
    const schema = schemaAt(CONFIG_SCHEMA, filePath(field.section, field.path));
    const problems = schema === undefined ? ['no such key'] : compare(field, schema);
    return problems.map((problem) => `${field.id}: ${problem}`);
  });
  expect(different).toEqual([]);
});

function compare(field: (typeof fields)[number], schema: KeySchema): string[] {
  const problems: string[] = [];
  if ('fallback' in field && field.fallback !== schema.default) problems.push('default');
  if (field.kind === 'choice') {
    const words = new Set(schema.enum?.map((word) => word.toLowerCase()));
    const offered = new Set(field.options.map(({ value }) => value));
    if (words.symmetricDifference(offered).size > 0) problems.push('words');
  }
  if (field.kind === 'number') {
    if (field.isWhole !== (schema.type === 'integer')) problems.push('type');
    // A figure that stands in the file and is in force is none that the page calls wrong.
    if (field.least !== schema.minimum) problems.push('least');
    if (field.most !== schema.maximum) problems.push('most');
  }
  return problems;
}

test('every variable of the environment has its words on the page that lists them all', () => {
  const names = Object.values(VARIABLES).map(({ name }) => name);
  expect(Object.keys(en.environment.about).sort()).toEqual([...names].sort());
});

test('a variable that wins over the config file leads to its setting, which names it', () => {
  const { apiKey, webPassword, maxBodyBytes, port, host, authMode } = VARIABLES;
  const { trustedProxies, allowedHosts, corsOrigins, fetchRemoteMedia, logLevel } = VARIABLES;
  const { outboundProxy, noProxy, updateCheck, tlsCert, tlsKey } = VARIABLES;
  const inFile = [
    ...[apiKey, webPassword, maxBodyBytes, port, host, authMode],
    ...[trustedProxies, allowedHosts, corsOrigins, fetchRemoteMedia, logLevel],
    ...[outboundProxy, noProxy, updateCheck, tlsCert, tlsKey],
  ].map(({ name }) => name);
  const missing = inFile.filter((name) => placeOfVariable(name) === undefined);
  expect(missing).toEqual([]);
  const marked = fields.flatMap(({ variable }) => variable ?? []);
  expect(marked.sort()).toEqual(inFile.sort());
});

test('the console asks for as long a password as the gateway does', () => {
  const password = fields.find(({ id }) => id === 'adminPassword');
  const least = password !== undefined && 'leastLength' in password ? password.leastLength : 0;
  const section = CONFIG_SECTIONS.find(({ name }) => name === 'auth');
  const change = (length: number) => {
    if (section !== undefined) refuseChange(section, { admin_password: 'x'.repeat(length) }, {});
  };
  expect(() => change(Number(least))).not.toThrow();
  expect(() => change(Number(least) - 1)).toThrow();
});
