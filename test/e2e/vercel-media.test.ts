// Images and transcriptions through the providers of the AI SDK, against the whole gateway.

import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateImage, transcribe } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { IMAGE_MODEL, pictureOf, pixelsOf } from '../support/pictures.ts';
import { wavOf } from '../support/sounds.ts';

let app: TestApp;
let openai: ReturnType<typeof createOpenAI>;
let compatible: ReturnType<typeof createOpenAICompatible>;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  const settings = { baseURL: `${app.url}/v1`, apiKey: KEY };
  openai = createOpenAI(settings);
  compatible = createOpenAICompatible({ name: 'gateway', ...settings });
});
afterAll(() => app.close());

test('both OpenAI providers draw', async () => {
  const prompt = 'A red boat';
  const many = await generateImage({
    model: openai.image(IMAGE_MODEL),
    prompt,
    n: 2,
    size: '1280x720',
  });
  expect(many.images.map(({ base64 }) => pixelsOf(base64))).toEqual([
    [1376, 768],
    [1376, 768],
  ]);
  expect(many.warnings).toEqual([]);
  const one = await generateImage({ model: compatible.imageModel(IMAGE_MODEL), prompt });
  expect(one.image.mediaType).toBe('image/png');
});

test('both OpenAI providers change pictures', async () => {
  const prompt = { text: 'Add a hat', images: [pictureOf([0, 255, 0])] };
  for (const model of [openai.image(IMAGE_MODEL), compatible.imageModel(IMAGE_MODEL)]) {
    const { image } = await generateImage({ model, prompt });
    expect(pixelsOf(image.base64)).toEqual([1024, 1024]);
  }
});

test('the native provider draws in the asked ratio', async () => {
  const google = createGoogleGenerativeAI({ baseURL: `${app.url}/v1beta`, apiKey: KEY });
  const { image } = await generateImage({
    model: google.image('gemini-3-pro-image-preview'),
    prompt: 'A red boat',
    aspectRatio: '16:9',
  });
  expect(pixelsOf(image.base64)).toEqual([1376, 768]);
});

test.each(['alpha-3-flash', 'gpt-4o-transcribe', 'whisper-1'])('%s transcribes', async (model) => {
  const audio = wavOf({ seconds: 2, peak: 0.5 });
  const { text } = await transcribe({ model: openai.transcription(model), audio });
  expect(text).toContain('A recording of 2 seconds, 8000 Hz');
});

test('word times come when they are asked for', async () => {
  const { segments, durationInSeconds } = await transcribe({
    model: openai.transcription('whisper-1'),
    audio: wavOf({ seconds: 2, peak: 0.5 }),
    providerOptions: { openai: { timestampGranularities: ['word'] } },
  });
  expect(durationInSeconds).toBe(2);
  expect(segments.at(-1)?.endSecond).toBe(2);
});
