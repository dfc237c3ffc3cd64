import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { QUIRK_PRESETS } from '../../config/values.ts';
import { createChatUpstream } from './index.ts';
import { type ChatProfile, createCompatibleProfile, createOpenAiProfile } from './profiles.ts';

const baseUrl = 'https://x.example/v1/';

test('the public API is known by its address, any other is told', () => {
  expect(createOpenAiProfile({ version: '1.2' })).toMatchObject({
    id: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    userAgent: 'isthmus/1.2',
    auth: 'bearer',
    quirks: { limitField: 'max_completion_tokens', instructionsRole: 'developer' },
  });
  expect(createCompatibleProfile({ baseUrl })).toMatchObject({
    id: 'openai-compatible',
    baseUrl: 'https://x.example/v1',
    quirks: { limitField: 'max_tokens', instructionsRole: 'system' },
  });
});

test.each(QUIRK_PRESETS)('%s is chosen by name, and changed', (preset) => {
  const own = createCompatibleProfile({ baseUrl, quirks: preset }).quirks;
  expect(own).not.toEqual(createCompatibleProfile({ baseUrl }).quirks);
  const quirks = { preset, limitField: 'max_completion_tokens', maxStops: 9 } as const;
  expect(createCompatibleProfile({ baseUrl, quirks }).quirks).toEqual({
    ...own,
    limitField: 'max_completion_tokens',
    maxStops: 9,
  });
});

test('fields without a preset change what is usual', () => {
  const { quirks } = createCompatibleProfile({ baseUrl, quirks: { takesChoices: false } });
  expect(quirks).toMatchObject({ takesChoices: false, takesLogprobs: true });
});

test('models with endpoints of their own are known by name, and more are named', () => {
  const kindOf = (modelId: string, options = {}) =>
    createCompatibleProfile({ baseUrl, ...options }).findMediaModel(modelId)?.kind;
  expect(kindOf('openai/gpt-image-9-flare')).toBe('images');
  expect(kindOf('gpt-4o-transcribe')).toBe('transcriptions');
  expect(kindOf('gpt-4o')).toBeUndefined();
  expect(kindOf('whisper-large-v3', { quirks: 'ollama' })).toBeUndefined();
  const endpoints = { images: ['flux*'], speech: [] };
  expect(kindOf('FLUX.1-dev', { endpoints })).toBe('images');
  expect(kindOf('gpt-image-2', { endpoints })).toBe('images');
  expect(kindOf('tts-1', { endpoints })).toBeUndefined();
});

test('addresses are a template', () => {
  const paths = { chat: '/deployments/{model}/chat' };
  expect(createCompatibleProfile({ baseUrl, paths }).paths).toMatchObject({
    chat: '/deployments/{model}/chat',
    models: '/models',
    embeddings: '/embeddings',
  });
});

test('a name of the catalogue is asked for as the real service calls it', async () => {
  const upstream = createChatUpstream({ profile: createOpenAiProfile(), clock: createFakeClock() });
  expect(upstream.modelIds('beta-sonnet-4-6')).toEqual(['claude-sonnet-4-6', 'beta-sonnet-4-6']);
  expect(upstream.modelIds('gpt-5')).toEqual(['gpt-5']);
  await upstream.close();
});

test('pictures are read by address where the service does so, other files never', async () => {
  const readerOf = (profile: ChatProfile) =>
    createChatUpstream({ profile, clock: createFakeClock() });
  const openai = readerOf(createOpenAiProfile());
  expect(
    [
      'https://x.example/a',
      'https://x.example/a.PNG?b.pdf',
      'http://x/b.pdf#a.png',
      'gs://x/a',
    ].map(openai.readsUri),
  ).toEqual([true, true, false, false]);
  const local = readerOf(createCompatibleProfile({ baseUrl, quirks: { images: 'base64' } }));
  expect(local.readsUri('https://x.example/a.png')).toBe(false);
  await Promise.all([openai.close(), local.close()]);
});
