import OpenAI, { toFile } from 'openai';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from './json.ts';
import { ADA, startTestSandbox } from './sandbox.test-support.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
let client: OpenAI;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  client = new OpenAI({ apiKey: ADA.key, baseURL: `${sandbox.url}/v1`, maxRetries: 0 });
});
afterAll(() => sandbox.close());

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const sizeOf = (base64 = ''): string => {
  const { width, height } = PNG.sync.read(Buffer.from(base64, 'base64'));
  return `${width}x${height}`;
};
const pixel = () => toFile(PIXEL, 'a.png', { type: 'image/png' });

describe('pictures', () => {
  test('are drawn in the size that was asked for', async () => {
    const answer = await client.images.generate({
      model: 'gpt-image-1.5',
      prompt: 'a cat',
      size: '1536x1024',
      n: 2,
    });
    expect(answer.data?.map(({ b64_json }) => sizeOf(b64_json))).toEqual([
      '1536x1024',
      '1536x1024',
    ]);
    expect(answer.usage).toMatchObject({ input_tokens: 2, output_tokens: 2240 });
  });

  test('come as a stream, with unfinished ones where they are asked for', async () => {
    const stream = await client.images.generate({
      ...{ model: 'gpt-image-2', prompt: 'a cat', size: '1536x864', partial_images: 2 },
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(sizeOf(events.at(-1)?.b64_json)).toBe('1536x864');
  });

  test('are changed from one or several, with a mask', async () => {
    const model = 'gpt-image-1.5';
    const one = await client.images.edit({ model, prompt: 'x', image: await pixel() });
    expect(one.usage?.input_tokens_details.image_tokens).toBe(323);
    const image = [await pixel(), await pixel()];
    const two = await client.images.edit({ model, prompt: 'x', image, mask: await pixel() });
    expect(two.usage?.input_tokens_details.image_tokens).toBe(646);
  });

  test.each<[JsonObject, string]>([
    [{ response_format: 'b64_json' }, 'Unrecognized request argument supplied: response_format'],
    [{ size: '1280x720' }, "Invalid value: '1280x720'"],
    [{ quality: 'hd' }, "Invalid value: 'hd'"],
    [{ prompt: '' }, 'prompt'],
    [{ partial_images: 1 }, "only supported when 'stream' is true"],
    [{ model: 'gpt-4.1' }, 'not supported at this address'],
  ])('%j is refused', async (change, words) => {
    const body = { model: 'gpt-image-1.5', prompt: 'a cat', ...change };
    const reply = await sandbox.send('/v1/images/generations', { body });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.text).toContain(words);
  });

  test('a file that is no picture is refused', async () => {
    const image = await toFile(Buffer.from('GIF89a'), 'a.gif', { type: 'image/gif' });
    await expect(
      client.images.edit({ model: 'gpt-image-1.5', prompt: 'x', image }),
    ).rejects.toMatchObject({ status: 400, code: 'unsupported_file_mimetype' });
  });
});

describe('recordings', () => {
  const sound = () => toFile(Buffer.from('RIFF'), 'a.wav', { type: 'audio/wav' });

  test('are written down, whole and as a stream', async () => {
    const model = 'gpt-4o-transcribe';
    const whole = await client.audio.transcriptions.create({ model, file: await sound() });
    expect(whole.text).toContain('A recording');
    const stream = await client.audio.transcriptions.create({
      ...{ model, file: await sound() },
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: whole.text });
  });

  test('have times where the model tells them, and a translation', async () => {
    const model = 'whisper-1';
    const timed = await client.audio.transcriptions.create({
      ...{ model, file: await sound(), response_format: 'verbose_json' },
      timestamp_granularities: ['word'],
    });
    expect(timed).toMatchObject({ task: 'transcribe', language: 'English' });
    expect(timed.words?.length).toBeGreaterThan(1);
    const translated = await client.audio.translations.create({ model, file: await sound() });
    expect(translated.text).toBe(timed.text);
  });

  test.each([
    [{ model: 'gpt-4o-transcribe', response_format: 'verbose_json' as const }, 'response_format'],
    [{ model: 'whisper-1', timestamp_granularities: ['word' as const] }, 'timestamp_granularities'],
    [{ model: 'whisper-1', temperature: 2 }, 'temperature'],
  ])('%j is refused', async (change, param) => {
    const asked = client.audio.transcriptions.create({ file: await sound(), ...change });
    await expect(asked).rejects.toMatchObject({ status: 400, param });
  });
});

describe('speech', () => {
  test('is as long as its text, whole and as a stream', async () => {
    const said = { input: 'Good day', voice: 'alloy', response_format: 'pcm' } as const;
    const whole = await client.audio.speech.create({ model: 'tts-1', ...said });
    const samples = Buffer.from(await whole.arrayBuffer());
    expect(samples.length / 48_000).toBeCloseTo(0.32);
    const body = { model: 'gpt-4o-mini-tts', ...said, stream_format: 'sse' };
    const { text } = await sandbox.send('/v1/audio/speech', { body });
    const pieces = [...text.matchAll(/"audio":"([^"]+)"/g)].map(([, audio = '']) =>
      Buffer.from(audio, 'base64'),
    );
    expect(Buffer.concat(pieces).equals(samples)).toBe(true);
    expect(text).toContain('"type":"speech.audio.done"');
  });

  test.each([
    [{ voice: 'nobody' }, 'voice'],
    [{ input: '' }, 'input'],
    [{ model: 'tts-1', instructions: 'softly' }, 'instructions'],
  ])('%j is refused', async (change, param) => {
    const body = {
      ...{ model: 'gpt-4o-mini-tts', input: 'a', voice: 'alloy', response_format: 'wav' },
      ...change,
    };
    const reply = await sandbox.send('/v1/audio/speech', { body });
    expect(reply).toMatchObject({ status: 400 });
    expect(reply.text).toContain(param);
  });
});
