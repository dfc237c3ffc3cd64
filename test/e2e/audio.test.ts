// The official client of transcriptions against the whole gateway, and recordings in chat and generate-content.

import { GoogleGenAI } from '@google/genai';
import OpenAI, { BadRequestError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { refusalOf } from '../support/official-clients.ts';
import { wavOf } from '../support/sounds.ts';

const MODEL = 'alpha-3-flash';
const WAV = wavOf({ seconds: 2.4, peak: 0.5 });
const FACTS =
  'A recording of 2.4 seconds, 8000 Hz, one channel, 16 bits a sample; its peak is 50 % of full scale.';

let app: TestApp;
let client: OpenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: KEY, maxRetries: 0 });
});
afterAll(() => app.close());

describe('transcriptions', () => {
  test('json is the default, with usage', async () => {
    const answer = await transcribe({});
    expect(answer).toMatchObject({
      text: FACTS,
      usage: {
        type: 'tokens',
        input_tokens: expect.any(Number),
        input_token_details: { audio_tokens: expect.any(Number), text_tokens: expect.any(Number) },
      },
    });
  });

  test('text is the words and a line end', async () => {
    expect(await transcribe({ response_format: 'text' })).toBe(`${FACTS}\n`);
  });

  test('srt and vtt span the true length', async () => {
    expect(await transcribe({ response_format: 'srt' })).toBe(
      `1\n00:00:00,000 --> 00:00:02,400\n${FACTS}\n\n`,
    );
    expect(await transcribe({ response_format: 'vtt' })).toBe(
      `WEBVTT\n\n00:00:00.000 --> 00:00:02.400\n${FACTS}\n\n`,
    );
  });

  test('verbose_json has a duration and segments', async () => {
    const answer = await transcribe({ response_format: 'verbose_json' });
    expect(answer).toMatchObject({
      task: 'transcribe',
      language: 'english',
      duration: 2.4,
      text: FACTS,
      segments: [{ id: 0, start: 0, end: 2.4, text: FACTS }],
    });
    expect(answer).not.toHaveProperty('words');
  });

  test('verbose_json has words when they are asked for', async () => {
    const answer = await transcribe({
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    const words = isJsonObject(answer) && Array.isArray(answer.words) ? answer.words : [];
    expect(words).toHaveLength(FACTS.split(' ').length);
    expect(words[0]).toMatchObject({ word: 'A', start: 0 });
    expect(words.at(-1)).toMatchObject({ word: 'scale.', end: 2.4 });
  });

  test('a stream gives the words piece by piece', async () => {
    const file = await toFile(WAV, 'a.wav');
    const stream = await client.audio.transcriptions.create({ file, model: MODEL, stream: true });
    const events = await Array.fromAsync(stream);
    const deltas = events.filter((event) => event.type === 'transcript.text.delta');
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ delta }) => delta).join('')).toBe(FACTS);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: FACTS });
  });

  test('what helps with language and names reaches the model', async () => {
    await transcribe({ language: 'de', prompt: 'Names: Grüße', temperature: 0 });
    const sent = JSON.stringify((await app.sandbox.requests()).at(-1));
    expect(sent).toContain('The language is: de');
    expect(sent).toContain('Names: Grüße');
  });

  test('silence is told as silence', async () => {
    const file = await toFile(wavOf({ seconds: 1, peak: 0 }), 'silence.wav');
    const { text } = await client.audio.transcriptions.create({ file, model: MODEL });
    expect(text).toContain('it is silent');
  });

  test('V138 an mp3 goes on as audio/mp3', async () => {
    const file = await toFile(Buffer.from([1, 2, 3]), 'a.mp3', { type: 'text/plain' });
    const answer = await client.audio.transcriptions.create({ file, model: MODEL });
    expect(answer.text).toBe('A recording: audio/mp3 3 bytes.');
  });

  test('a translation asks for English', async () => {
    const file = await toFile(WAV, 'a.wav');
    const answer = await client.audio.translations.create({ file, model: MODEL });
    expect(answer.text).toBe(FACTS);
    const sent = JSON.stringify((await app.sandbox.requests()).at(-1));
    expect(sent).toContain('translated into English');
    const verbose = await client.audio.translations.create({
      file,
      model: MODEL,
      response_format: 'verbose_json',
    });
    expect(verbose).toMatchObject({ task: 'translate', duration: 2.4 });
  });
});

describe('what cannot be transcribed', () => {
  test('a form without a file', async () => {
    const form = new FormData();
    form.set('model', MODEL);
    expect(await paramOf(post(form))).toBe('file');
  });

  test('a file where there is no model', async () => {
    const form = new FormData();
    form.set('file', new File([new Uint8Array(WAV)], 'a.wav'));
    expect(await paramOf(post(form))).toBe('model');
  });

  test.each([
    ['V138 an ending nobody knows', { name: 'a.txt', bytes: Buffer.from('hello') }],
    ['an empty file', { name: 'a.wav', bytes: Buffer.alloc(0) }],
    ['a picture with the name of a sound', { name: 'a.wav', bytes: Buffer.from('GIF89a00') }],
    ['a document with the name of a sound', { name: 'a.mp3', bytes: Buffer.from('%PDF-1.7') }],
  ])('%s', async (_what, { name, bytes }) => {
    const file = await toFile(bytes, name);
    expect(await paramOf(client.audio.transcriptions.create({ file, model: MODEL }))).toBe('file');
  });

  test.each([
    [{ response_format: 'pdf' }, 'response_format'],
    [{ response_format: 'json', timestamp_granularities: ['word'] }, 'timestamp_granularities'],
    [{ response_format: 'srt', stream: true }, 'stream'],
    [{ temperature: 9 }, 'temperature'],
  ])('%j', async (fields, field) => {
    expect(await paramOf(transcribe(fields))).toBe(field);
  });

  test('V138 a file of 25 MB and a byte is too large', async () => {
    const file = await toFile(Buffer.alloc(25 * 1024 * 1024 + 1), 'a.wav');
    const error = await refusalOf(client.audio.transcriptions.create({ file, model: MODEL }));
    expect(error).toMatchObject({ status: 413, param: 'file' });
  });

  test.each([
    ['UPSTREAM-BLOCK SAFETY', 'content_policy_violation'],
    ['UPSTREAM-FINISH RECITATION', 'content_policy_violation'],
    ['UPSTREAM-FINISH MAX_TOKENS', 'invalid_value'],
  ])('P081 a recording the model does not write down to its end: %s', async (prompt, code) => {
    for (const response_format of ['json', 'text', 'srt', 'verbose_json']) {
      const error = await refusalOf(transcribe({ prompt, response_format }));
      expect(error).toMatchObject({ status: 400, param: 'file', code });
    }
    const file = await toFile(WAV, 'a.wav');
    const stream = await client.audio.transcriptions.create({
      ...{ file, model: MODEL, prompt, stream: true },
    });
    expect(await refusalOf(Array.fromAsync(stream))).toMatchObject({ param: 'file', code });
  });

  test('a body that is no form', async () => {
    const call = client.post('/audio/transcriptions', { body: { model: MODEL } });
    expect(await refusalOf(call)).toMatchObject({ status: 415 });
  });
});

describe('recordings in conversations', () => {
  test('input_audio of chat', async () => {
    const answer = await client.chat.completions.create({
      model: MODEL,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Transcribe this.' },
            { type: 'input_audio', input_audio: { data: WAV.toString('base64'), format: 'wav' } },
          ],
        },
      ],
    });
    expect(answer.choices[0]?.message.content).toBe(FACTS);
  });

  test('inline data of generate-content, also beside another question', async () => {
    const genai = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: app.url } });
    const recording = { inlineData: { mimeType: 'audio/wav', data: WAV.toString('base64') } };
    const ask = (text: string) =>
      genai.models.generateContent({ model: MODEL, contents: [recording, { text }] });
    expect((await ask('Write down what is said.')).text).toBe(FACTS);
    expect((await ask('Hello')).text).toContain(
      `Attached: audio/wav 2.4 s, 8000 Hz, ${WAV.length} bytes.`,
    );
  });
});

/** The answer as the client gives it: an object, or the text of a text format. */
async function transcribe(fields: object): Promise<unknown> {
  const file = await toFile(WAV, 'a.wav', { type: 'audio/wav' });
  return client.audio.transcriptions.create({ file, model: MODEL, ...fields });
}

async function post(form: FormData): Promise<unknown> {
  return client.post('/audio/transcriptions', { body: form });
}

/** The field a 400 names. */
async function paramOf(call: Promise<unknown>): Promise<unknown> {
  const error = await refusalOf(call);
  expect(error).toBeInstanceOf(BadRequestError);
  return error.param;
}
