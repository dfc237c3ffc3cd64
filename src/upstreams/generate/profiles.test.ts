import { expect, test } from 'vitest';
import type { AccountAccess } from '../upstream.ts';
import {
  createGeminiApiProfile,
  createGenericProfile,
  createSandboxProfile,
  type GenerateProfile,
} from './profiles.ts';
import { modelRequest } from './requests.ts';

const key: AccountAccess = { accountId: 'a', credential: 'k', credentialKind: 'api-key' };
const token: AccountAccess = {
  accountId: 'b',
  credential: 't',
  credentialKind: 'access-token',
  projectId: 'p1',
};

const body = { contents: [] };
const { signal } = new AbortController();
const sentBody = (profile: GenerateProfile, access: AccountAccess) =>
  modelRequest(profile, 'generateContent', { access, body, modelId: 'm', signal }).body;

const CATALOGUE = [
  'alpha-3-flash',
  'alpha-3-pro-high',
  'alpha-3-pro-low',
  'alpha-3-pro-image',
  'beta-sonnet-4-6',
  'beta-sonnet-4-6-thinking',
  'beta-opus-4-6-thinking',
];

test('the sandbox takes Bearer and the project in the body', () => {
  const profile = createSandboxProfile({ baseUrl: 'http://127.0.0.1:9/', version: '1.2.3' });
  expect(profile).toMatchObject({ baseUrl: 'http://127.0.0.1:9', userAgent: 'isthmus/1.2.3' });
  expect(profile.authHeaders(token)).toEqual({ authorization: 'Bearer t' });
  expect(sentBody(profile, token)).toEqual({ contents: [], project: 'p1' });
});

test('P165 an account without a project sends none', () => {
  const profile = createSandboxProfile({ baseUrl: 'http://127.0.0.1:9' });
  expect(sentBody(profile, key)).toBe(body);
  expect(sentBody(profile, { ...key, projectId: '' })).toBe(body);
});

test('the Gemini API takes keys in their header and tokens with the project as a header', () => {
  const profile = createGeminiApiProfile();
  expect(profile.baseUrl).toBe('https://generativelanguage.googleapis.com');
  expect(profile.authHeaders(key)).toEqual({ 'x-goog-api-key': 'k' });
  expect(profile.authHeaders(token)).toEqual({
    authorization: 'Bearer t',
    'x-goog-user-project': 'p1',
  });
  expect(sentBody(profile, token)).toBe(body);
});

test('a configured address may end with the version', () => {
  const baseUrl = 'http://127.0.0.1:9/v1beta/';
  expect(createGeminiApiProfile({ baseUrl }).baseUrl).toBe('http://127.0.0.1:9');
});

test.each([
  ['bearer', 'neutral', { authorization: 'Bearer k' }, {}],
  ['header', 'neutral', { 'x-vendora-api-key': 'k' }, {}],
  ['header', 'real', { 'x-goog-api-key': 'k' }, {}],
  ['query', 'neutral', {}, { key: 'k' }],
] as const)(
  'a generic upstream takes its key as %s in %s words',
  (auth, vocabulary, headers, query) => {
    const profile = createGenericProfile({ baseUrl: 'http://u', vocabulary, auth });
    expect(profile.authHeaders(key)).toEqual(headers);
    expect(profile.authQuery?.(key) ?? {}).toEqual(query);
  },
);

test('a generic upstream takes access tokens as Bearer whatever its keys look like', () => {
  const profile = createGenericProfile({
    baseUrl: 'http://u',
    vocabulary: 'neutral',
    auth: 'query',
  });
  expect(profile.authQuery?.(token)).toEqual({});
  expect(profile.authHeaders(token)).toEqual({ authorization: 'Bearer t' });
});

test('every catalogue name has a model of the Gemini API while the list is unknown', () => {
  const profile = createGeminiApiProfile();
  for (const name of CATALOGUE) expect(profile.unlistedId?.(name)).toMatch(/^gemini-3/);
  expect(profile.unlistedId?.('gemini-3-flash')).toBe(profile.unlistedId?.('alpha-3-flash'));
  expect(profile.unlistedId?.('alpha-3-pro-image')).toContain('image');
  expect(profile.unlistedId?.('alpha-9')).toBe('gemini-9');
});

test('other names stand for themselves', () => {
  expect(createGeminiApiProfile().modelIds('gemini-2.5-pro')[0]).toBe('gemini-2.5-pro');
  const sandbox = createSandboxProfile({ baseUrl: 'http://u' });
  expect(sandbox.modelIds('alpha-3-flash')).toEqual(['alpha-3-flash']);
  expect(sandbox.modelIds('house')).toEqual(['house']);
});

test('a generic upstream is asked in its own words first', () => {
  const options = { baseUrl: 'http://u', auth: 'bearer' } as const;
  const neutral = createGenericProfile({ ...options, vocabulary: 'neutral' });
  const real = createGenericProfile({ ...options, vocabulary: 'real' });
  expect(neutral.modelIds('gemini-3-flash')).toEqual(['alpha-3-flash', 'gemini-3-flash']);
  expect(real.modelIds('alpha-3-flash')).toEqual(['gemini-3-flash', 'alpha-3-flash']);
  expect(neutral.modelIds('toString')).toEqual(['toString']);
});

test('only addresses an upstream is known to read are read', () => {
  const api = createGeminiApiProfile();
  expect(api.readsUri('https://generativelanguage.googleapis.com/v1beta/files/x1')).toBe(true);
  expect(api.readsUri('https://www.youtube.com/watch?v=1')).toBe(true);
  expect(api.readsUri('http://10.0.0.1/a.png')).toBe(false);
  expect(createSandboxProfile({ baseUrl: 'http://u' }).readsUri('https://x/y')).toBe(false);
});
