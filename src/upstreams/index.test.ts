import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createUpstreamDirectory } from './directory.ts';
import { createUpstream, type UpstreamSettings } from './index.ts';

const plain: UpstreamSettings = {
  id: 'x',
  profile: 'generic',
  baseUrl: 'http://127.0.0.1:9',
  vocabulary: undefined,
  auth: undefined,
  quotaPath: undefined,
  location: undefined,
};

test('every profile can be built under an id of its own', () => {
  const directory = createUpstreamDirectory({ clock: createFakeClock(), version: '1' });
  const profiles = ['sandbox', 'generic', 'gemini-api', 'vertex'] as const;
  directory.replace(profiles.map((profile) => ({ ...plain, id: `my-${profile}`, profile })));
  expect(directory.list().map(({ id }) => id)).toEqual(profiles.map((name) => `my-${name}`));
  return directory.close();
});

test('an upstream is told to have no finish reasons by what is said of it', async () => {
  const settings = { ...plain, profile: 'openai-compatible', endsWith: 'done' } as const;
  const upstream = createUpstream(settings, { clock: createFakeClock() });
  const decoder = upstream.createDecoder({ signatureFamily: 'x', createId: (prefix) => prefix });
  decoder.push({ choices: [{ index: 0, message: { content: 'Hi' } }] });
  expect(decoder.end().at(-1)).toMatchObject({ kind: 'finish' });
  await upstream.close();
});
