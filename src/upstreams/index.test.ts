import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createUpstreamDirectory } from './directory.ts';
import { settingsOf, type UpstreamDescription } from './index.ts';

const plain: UpstreamDescription = {
  id: 'x',
  profile: 'generic',
  baseUrl: 'http://127.0.0.1:9',
  vocabulary: undefined,
  auth: undefined,
  quotaPath: undefined,
  location: undefined,
};

test('each profile gets what it needs to know', () => {
  expect(settingsOf({ ...plain, quotaPath: '/q' })).toEqual({
    profile: 'generic',
    id: 'x',
    baseUrl: 'http://127.0.0.1:9',
    vocabulary: 'neutral',
    auth: 'bearer',
    quotaPath: '/q',
  });
  const vertex = settingsOf({ ...plain, profile: 'vertex', baseUrl: undefined, location: 'eu' });
  expect(vertex).toMatchObject({ profile: 'vertex', location: 'eu' });
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
