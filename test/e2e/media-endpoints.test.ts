// The official clients against models that an upstream of the Chat wire asks at endpoints of their own.

import { GoogleGenAI, Modality } from '@google/genai';
import OpenAI, { BadRequestError, toFile } from 'openai';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestApp } from '../support/app.ts';
import { wavOf } from '../support/sounds.ts';

const FREE = 'sandbox-chat/gpt-image-2';
const FIXED = 'sandbox-chat/gpt-image-1.5';
const WHISPER = 'sandbox-chat/whisper-1';
const LISTENER = 'sandbox-chat/gpt-4o-transcribe';
const SPEAKERS = ['sandbox-chat/gpt-4o-mini-tts', 'sandbox-chat/tts-1'];

const FACTS =
  'A recording of 2.4 seconds, 8000 Hz, one channel, 16 bits a sample; its peak is 50 % of full scale.';

let app: Pick<TestApp, 'url' | 'close'>;
let client: OpenAI;

beforeAll(async () => {
  app = await startGateway({});
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'any', maxRetries: 0 });
});
afterAll(() => app.close());

const sizeOf = (base64 = ''): string => {
  const { width, height } = PNG.sync.read(Buffer.from(base64, 'base64'));
  return `${width}x${height}`;
};
const wav = () => toFile(wavOf({ seconds: 2.4, peak: 0.5 }), 'a.wav');
const pixel = () => toFile(PNG.sync.write(new PNG({ width: 1, height: 1 })), 'a.png');

describe('pictures', () => {
  test('are drawn at the endpoint of the upstream, in the size that was asked for', async () => {
    const { data: answer, response } = await client.images
      .generate({ model: FREE, prompt: 'a cat', size: '1280x720', quality: 'high' })
      .withResponse();
    expect(sizeOf(answer.data?.[0]?.b64_json)).toBe('1280x720');
    expect(answer.usage).toMatchObject({ input_tokens: 2, output_tokens: 1120 });
    expect(response.headers.get('x-isthmus-receipt')).toBeNull();
  });

  test('what else is asked of them reaches the endpoint', async () => {
    const details = {
      background: 'transparent',
      output_format: 'webp',
      output_compression: 101,
    } as const;
    // The endpoint alone knows that 101 is too much.
    const drawn = client.images.generate({ model: FREE, prompt: 'a cat', ...details });
    await expect(drawn).rejects.toThrow(/output_compression/);
    const image = await pixel();
    const edit = { ...{ model: FIXED, prompt: 'a cat', image }, ...details } as const;
    const { response } = await client.images
      .edit({ ...edit, output_compression: 80, input_fidelity: 'high' })
      .withResponse();
    expect(response.headers.get('x-isthmus-receipt')).toBeNull();
    const other = { model: FIXED, prompt: 'a cat', input_fidelity: 'high' } as const;
    const { response: told } = await client.images.generate(other).withResponse();
    expect(told.headers.get('x-isthmus-receipt')).toContain('dropped=1');
  });

  test('a size and a quality that the model has not are the nearest ones, with a receipt', async () => {
    const { data: answer, response } = await client.images
      .generate({ model: FIXED, prompt: 'a cat', size: '1280x720', quality: 'hd' })
      .withResponse();
    expect(sizeOf(answer.data?.[0]?.b64_json)).toBe('1536x1024');
    expect(response.headers.get('x-isthmus-receipt')).toContain('approximated=2');
  });

  test('the answer says how the upstream drew, not what was asked for', async () => {
    const asked = { model: FIXED, prompt: 'a cat', size: '1280x720', quality: 'hd' } as const;
    const drawn = { size: '1536x1024', quality: 'high', background: 'opaque' };
    expect(await client.images.generate(asked)).toMatchObject(drawn);
    const stream = await client.images.generate({ ...asked, partial_images: 1, stream: true });
    for await (const event of stream) expect(event).toMatchObject(drawn);
  });

  test.each([
    ['16:9', '1536x1024', 'dropped=0;approximated=1;repaired=0'],
    ['1:1', '1024x1024', null],
  ] as const)('a ratio that no size of the model has is told: %s', async (size, drawn, receipt) => {
    const { data: answer, response } = await client.images
      .generate({ model: FIXED, prompt: 'a cat', size: size as '1024x1024' })
      .withResponse();
    expect(sizeOf(answer.data?.[0]?.b64_json)).toBe(drawn);
    expect(response.headers.get('x-isthmus-receipt')).toBe(receipt);
  });

  test('a ratio alone is a size of the usual area', async () => {
    const genai = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: app.url } });
    const imageConfig = { aspectRatio: '16:9' };
    const answer = await genai.models.generateContent({
      ...{ model: FREE, contents: 'a cat' },
      config: { responseModalities: [Modality.IMAGE], imageConfig },
    });
    const drawn = answer.candidates?.[0]?.content?.parts?.find((part) => part.inlineData);
    expect(sizeOf(drawn?.inlineData?.data)).toBe('1360x768');
  });

  test('several are several calls', async () => {
    const answer = await client.images.generate({ model: FREE, prompt: 'a cat', n: 2 });
    expect(answer.data).toHaveLength(2);
    expect(answer.usage?.output_tokens).toBe(2240);
  });

  test('a stream shows unfinished ones as they come', async () => {
    const stream = await client.images.generate({
      ...{ model: FREE, prompt: 'a cat', size: '1024x1024', partial_images: 2 },
      stream: true,
    });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(events.at(-1)).toMatchObject({ usage: { output_tokens: 1120 } });
  });

  test('several in one stream are shown when they are whole, and the receipt says so', async () => {
    const asked = { model: FREE, prompt: 'a cat', n: 2, partial_images: 2 } as const;
    const { data: stream, response } = await client.images
      .generate({ ...asked, stream: true })
      .withResponse();
    const types = (await Array.fromAsync(stream)).map(({ type }) => type);
    expect(types).toEqual(['image_generation.completed', 'image_generation.completed']);
    expect(response.headers.get('x-isthmus-receipt')).toBe('dropped=1;approximated=0;repaired=0');
  });

  test('an edit sends pictures and mask as files', async () => {
    const image = [await pixel(), await pixel()];
    const { data: answer, response } = await client.images
      .edit({ model: FREE, prompt: 'a hat', image, mask: await pixel() })
      .withResponse();
    expect(answer.usage?.input_tokens_details).toMatchObject({ image_tokens: 646 });
    expect(response.headers.get('x-isthmus-receipt')).toBeNull();
  });

  test('are drawn in a conversation too, which goes on with the picture', async () => {
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: FREE, messages });
    const first = await ask([{ role: 'user', content: 'a cat' }]);
    const drawn = first.choices[0]?.message.content ?? '';
    expect(drawn).toContain('](data:image/png;base64,');
    const next = await ask([
      { role: 'user', content: 'a cat' },
      { role: 'assistant', content: drawn },
      { role: 'user', content: 'make it blue' },
    ]);
    expect(next.choices[0]?.message.content).toContain('](data:image/png;base64,');
    expect(next.usage?.prompt_tokens).toBeGreaterThan(323);
  });
});

describe('recordings', () => {
  test('are written down at the endpoint of the upstream, with its usage', async () => {
    const answer = await client.audio.transcriptions.create({ model: LISTENER, file: await wav() });
    expect(answer.text).toBe(FACTS);
    expect(answer.usage).toMatchObject({ type: 'tokens', output_tokens: 25 });
  });

  test('the times of the upstream are those of every timed form', async () => {
    const ask = async (response_format: 'srt' | 'verbose_json') =>
      client.audio.transcriptions.create({
        ...{ model: WHISPER, file: await wav(), response_format },
        ...(response_format === 'srt' ? {} : { timestamp_granularities: ['word' as const] }),
      });
    expect(await ask('srt')).toBe(`1\n00:00:00,000 --> 00:00:02,400\n${FACTS}\n\n`);
    const verbose = await ask('verbose_json');
    expect(verbose).toMatchObject({ language: 'english', duration: 2.4, text: FACTS });
    expect(verbose).toHaveProperty('words');
  });

  test.each([LISTENER, WHISPER])(
    '%s is streamed, whether the upstream streams it or not',
    async (model) => {
      const stream = await client.audio.transcriptions.create({
        ...{ model, file: await wav() },
        stream: true,
      });
      const events = await Array.fromAsync(stream);
      const deltas = events.filter((event) => event.type === 'transcript.text.delta');
      expect(deltas.map(({ delta }) => delta).join('')).toBe(FACTS);
      expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: FACTS });
    },
  );

  test.each([
    [LISTENER, null],
    [WHISPER, 'dropped=1;approximated=0;repaired=0'],
    ['alpha-3-flash', 'dropped=1;approximated=0;repaired=0'],
  ])('%s is told how they are cut, or the receipt says that it is not', async (model, receipt) => {
    for (const chunking_strategy of ['auto', { type: 'server_vad', threshold: 0.5 }] as const) {
      const asked = { model, file: await wav(), chunking_strategy };
      const { response } = await client.audio.transcriptions.create(asked).withResponse();
      expect(response.headers.get('x-isthmus-receipt')).toBe(receipt);
    }
  });

  test('are translated where the model translates', async () => {
    const file = await wav();
    const answer = await client.audio.translations.create({ model: WHISPER, file });
    expect(answer.text).toBe(FACTS);
    const other = client.audio.translations.create({ model: LISTENER, file: await wav() });
    await expect(other).rejects.toThrow('does not translate');
  });

  test('what the model cannot do is said before it is asked', async () => {
    const timed = client.audio.transcriptions.create({
      ...{ model: LISTENER, file: await wav(), response_format: 'vtt' },
    });
    await expect(timed).rejects.toBeInstanceOf(BadRequestError);
    const words = client.chat.completions.create({
      model: WHISPER,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    await expect(words).rejects.toThrow('writes one recording down');
  });

  test('are heard in a conversation', async () => {
    const data = wavOf({ seconds: 2.4, peak: 0.5 }).toString('base64');
    const answer = await client.chat.completions.create({
      model: LISTENER,
      messages: [
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data, format: 'wav' } }] },
      ],
    });
    expect(answer.choices[0]?.message.content).toBe(FACTS);
  });
});

test('a model that answers in text alone is refused by the field that named it, not by one that nobody sent', async () => {
  const model = 'sandbox-messages/claude-sonnet-4-5';
  const speech = client.audio.speech.create({ model, input: 'Good day', voice: 'alloy' });
  await expect(speech).rejects.toMatchObject({ status: 400, param: 'model' });
  const drawing = client.responses.create({
    ...{ model, input: 'a cat', tools: [{ type: 'image_generation' }] },
    tool_choice: { type: 'image_generation' },
  });
  await expect(drawing).rejects.toMatchObject({ status: 400, param: 'tool_choice' });
});

describe('speech', () => {
  const genai = () => new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: app.url } });
  const asked = (model: string) => ({
    model,
    contents: 'Good day',
    config: { responseModalities: [Modality.AUDIO] },
  });

  test.each(SPEAKERS)('%s speaks to a client that asks for sound', async (model) => {
    const answer = await genai().models.generateContent(asked(model));
    const sound = answer.candidates?.[0]?.content?.parts?.[0]?.inlineData;
    expect(sound?.mimeType).toBe('audio/L16;codec=pcm;rate=24000');
    expect(Buffer.from(sound?.data ?? '', 'base64').length / 48_000).toBeCloseTo(0.32);
  });

  test.each(SPEAKERS)('%s speaks in a stream', async (model) => {
    const chunks = await Array.fromAsync(await genai().models.generateContentStream(asked(model)));
    const pieces = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const bytes = pieces.map(({ inlineData }) => Buffer.from(inlineData?.data ?? '', 'base64'));
    expect(Buffer.concat(bytes).length / 48_000).toBeCloseTo(0.32);
  });
});

describe('a text to be spoken', () => {
  test.each(SPEAKERS)('%s gives the sound in the format that was asked for', async (model) => {
    const answer = await client.audio.speech.create({
      ...{ model, voice: 'nova', input: 'Good day', response_format: 'wav' },
      instructions: 'Softly',
    });
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    const isLeftOut = answer.headers.get('x-isthmus-receipt')?.startsWith('dropped=1') === true;
    expect(isLeftOut).toBe(model.endsWith('tts-1'));
    const sound = Buffer.from(await answer.arrayBuffer());
    expect(sound.toString('latin1', 0, 4)).toBe('RIFF');
    expect((sound.length - 44) / 48_000).toBeCloseTo(0.32);
  });

  test.each(SPEAKERS)('%s speaks in events', async (model) => {
    const answer = await client.audio.speech.create({
      ...{ model, voice: 'nova', input: 'Good day', response_format: 'pcm' },
      stream_format: 'sse',
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const events = (await answer.text()).matchAll(/^data: (.*)$/gm);
    const [delta, done] = [...events].map(([, data = '']) => JSON.parse(data));
    expect(Buffer.from(delta.audio, 'base64').length / 48_000).toBeCloseTo(0.32);
    expect(done).toMatchObject({
      type: 'speech.audio.done',
      usage: { total_tokens: expect.any(Number) },
    });
  });

  test('the voice and the format of the client reach the upstream, which has the last word', async () => {
    const asked = { model: 'sandbox-chat/tts-1', voice: 'nova', input: 'Good day' } as const;
    await expect(client.audio.speech.create(asked)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('no mp3'),
    });
  });

  test('a model that takes part in conversations alone says so', async () => {
    const asked = { model: 'sandbox-chat/gpt-5', voice: 'nova', input: 'Good day' } as const;
    await expect(client.audio.speech.create(asked)).rejects.toBeInstanceOf(BadRequestError);
  });
});

test('faults of an endpoint are those of the upstream', async () => {
  const refused = client.images.generate({ model: FREE, prompt: 'UPSTREAM-STATUS 429' });
  await expect(refused).rejects.toMatchObject({ status: 429 });
});
