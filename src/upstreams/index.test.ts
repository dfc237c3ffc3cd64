import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createUpstreamDirectory } from './directory.ts';
import { createUpstream, settingsOf, type UpstreamSettings } from './index.ts';

const plain: UpstreamSettings = {
  id: 'x',
  profile: 'generic',
  baseUrl: 'http://127.0.0.1:9',
  vocabulary: undefined,
  auth: undefined,
  quotaPath: undefined,
  location: undefined,
};

test('what an upstream is built from is what is said of it, and nothing of its sign-in', () => {
  const described = { ...plain, quotaPath: '/q', oauth: { clientId: 'c' } };
  expect(settingsOf(described)).toEqual({ ...plain, quotaPath: '/q' });
});

test('upstreams without an address are left to whoever embeds them', () => {
  expect(settingsOf({ ...plain, profile: 'sandbox', baseUrl: undefined })).toBeUndefined();
  expect(settingsOf({ ...plain, baseUrl: undefined })).toBeUndefined();
});

test('every profile can be built under an id of its own', () => {
  const directory = createUpstreamDirectory({ clock: createFakeClock(), version: '1' });
  const profiles = ['sandbox', 'generic', 'gemini-api', 'vertex'] as const;
  const settings = profiles.flatMap(
    (profile) => settingsOf({ ...plain, id: `my-${profile}`, profile }) ?? [],
  );
  directory.replace(settings);
  expect(directory.list().map(({ id }) => id)).toEqual(profiles.map((name) => `my-${name}`));
  return directory.close();
});

test('an upstream is told to have no finish reasons by what is said of it', async () => {
  const settings = settingsOf({ ...plain, profile: 'openai-compatible', endsWith: 'done' });
  if (settings === undefined) throw new Error('There are no settings.');
  const upstream = createUpstream(settings, { clock: createFakeClock() });
  const decoder = upstream.createDecoder({ signatureFamily: 'x', createId: (prefix) => prefix });
  decoder.push({ choices: [{ index: 0, message: { content: 'Hi' } }] });
  expect(decoder.end().at(-1)).toMatchObject({ kind: 'finish' });
  await upstream.close();
});
