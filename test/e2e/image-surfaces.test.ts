// Images drawn through chat, Messages and generate-content, by their official clients.

import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { IMAGE_MODEL, pixelsOf } from '../support/pictures.ts';

let app: TestApp;
let client: OpenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: KEY, maxRetries: 0 });
});
afterAll(() => app.close());

/** The base64 of the one picture a chat message shows. */
function pictureIn(content: string | null): string | undefined {
  return /!\[image\]\(data:image\/png;base64,([^)]+)\)/.exec(content ?? '')?.[1];
}

describe('images in the other surfaces', () => {
  test('P110 chat takes size and quality, and shows the image in both forms', async () => {
    const body = {
      model: IMAGE_MODEL,
      messages: [{ role: 'user' as const, content: 'A red boat' }],
      size: '1280x720',
      quality: 'medium',
    };
    const answer = await client.chat.completions.create(body);
    const message: unknown = answer.choices[0]?.message;
    const url = urlIn(message);
    expect(pixelsOf(url.replace('data:image/png;base64,', ''))).toEqual([2752, 1536]);
    expect(answer.choices[0]?.message.content).toContain(`](${url})`);
    expect(answer.choices[0]?.finish_reason).toBe('stop');
  });

  test('chat: imageSize is stronger than quality and model name', async () => {
    const body = {
      model: `${IMAGE_MODEL}-16-9-4k`,
      messages: [{ role: 'user' as const, content: 'A red boat' }],
      imageSize: '2K',
      quality: 'standard',
    };
    const answer = await client.chat.completions.create(body);
    const url = urlIn(answer.choices[0]?.message);
    expect(pixelsOf(url.replace('data:image/png;base64,', ''))).toEqual([2752, 1536]);
  });

  test('P112 chat: a size left to the model leaves the model name its say', async () => {
    const body = {
      model: `${IMAGE_MODEL}-16-9`,
      messages: [{ role: 'user' as const, content: 'A red boat' }],
      size: 'auto',
      quality: 'auto',
    };
    const answer = await client.chat.completions.create(body);
    const url = urlIn(answer.choices[0]?.message);
    expect(pixelsOf(url.replace('data:image/png;base64,', ''))).toEqual([1376, 768]);
  });

  test('chat streams an image', async () => {
    const stream = await client.chat.completions.create({
      model: `${IMAGE_MODEL}-9-16`,
      messages: [{ role: 'user', content: 'A red boat' }],
      stream: true,
    });
    const chunks = await Array.fromAsync(stream);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    const [, base64] = /\(data:image\/png;base64,([^)]+)\)/.exec(text) ?? [];
    expect(pixelsOf(base64)).toEqual([768, 1376]);
  });

  test('chat: several answers of a model that draws are drawn one by one', async () => {
    const asked = {
      model: IMAGE_MODEL,
      messages: [{ role: 'user' as const, content: 'A red boat' }],
      seed: 7,
      n: 2,
    };
    const whole = await client.chat.completions.create(asked);
    const pictures = whole.choices.map(({ message }) => pictureIn(message.content));
    expect(new Set(pictures).size).toBe(2);
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
    expect(streamed.choices.map(({ message }) => pictureIn(message.content))).toEqual(pictures);
  });

  test('a chat goes on with the picture it drew', async () => {
    const question = { role: 'user' as const, content: 'A red boat' };
    const first = await client.chat.completions.create({
      model: IMAGE_MODEL,
      messages: [question],
    });
    const said = first.choices[0]?.message;
    const second = await client.chat.completions.create({
      model: IMAGE_MODEL,
      messages: [
        question,
        { role: 'assistant', content: said?.content ?? '' },
        { role: 'user', content: 'Now blue' },
      ],
    });
    expect(second.choices[0]?.message.content).toContain('from a picture');
  });

  test('Messages takes imageSize and answers with an image block', async () => {
    const anthropic = new Anthropic({ baseURL: app.url, apiKey: KEY, maxRetries: 0 });
    const body = {
      model: `${IMAGE_MODEL}-4-3`,
      max_tokens: 1024,
      messages: [{ role: 'user' as const, content: 'A red boat' }],
      imageSize: '2K',
    };
    const answer = await anthropic.messages.create(body);
    const block: unknown = answer.content.find(({ type }) => String(type) === 'image');
    const source = isJsonObject(block) && isJsonObject(block.source) ? block.source : {};
    expect(source.media_type).toBe('image/png');
    expect(pixelsOf(String(source.data))).toEqual([2400, 1792]);
    expect(answer.stop_reason).toBe('end_turn');
  });

  test('generate-content draws in the asked form, which is stronger than the name (C4)', async () => {
    const genai = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: app.url } });
    const imageConfig = { aspectRatio: '1:1', imageSize: '1K' };
    for (const model of [IMAGE_MODEL, `${IMAGE_MODEL}-16-9-4k`]) {
      const answer = await genai.models.generateContent({
        model,
        contents: 'A red boat',
        config: { responseModalities: ['IMAGE'], imageConfig },
      });
      const parts = answer.candidates?.[0]?.content?.parts ?? [];
      expect(parts.map(({ inlineData }) => inlineData?.mimeType)).toEqual(['image/png']);
      expect(pixelsOf(parts[0]?.inlineData?.data)).toEqual([1024, 1024]);
    }
  });

  test('generate-content streams words and image', async () => {
    const genai = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: app.url } });
    const stream = await genai.models.generateContentStream({
      model: IMAGE_MODEL,
      contents: 'A boat',
    });
    const chunks = await Array.fromAsync(stream);
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    const images = parts.flatMap(({ inlineData }) => inlineData ?? []);
    expect(images).toHaveLength(1);
    expect(pixelsOf(images[0]?.data)).toEqual([1024, 1024]);
  });
});

function urlIn(message: unknown): string {
  const images = isJsonObject(message) && Array.isArray(message.images) ? message.images : [];
  const [image] = images;
  const source = isJsonObject(image) && isJsonObject(image.image_url) ? image.image_url : {};
  return String(source.url);
}
