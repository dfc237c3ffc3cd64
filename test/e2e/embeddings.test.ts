// Embeddings through the official clients and Vercel `ai`, against the whole gateway.

import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ApiError, GoogleGenAI } from '@google/genai';
import { cosineSimilarity, type EmbeddingModel, embed, embedMany } from 'ai';
import OpenAI, { BadRequestError } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';

const MODEL = 'alpha-embedding-001';
const CAT = 'The cat sat on the mat.';
const OTHER_CAT = 'A cat sits on a mat';
const REVENUE = 'Quarterly revenue grew by twelve percent';

let app: TestApp;
let openai: OpenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  openai = new OpenAI({ apiKey: KEY, baseURL: `${app.url}/v1`, maxRetries: 0 });
});
afterAll(() => app.close());
afterEach(() => app.sandbox.clearFaults());

const post = (path: string, body: JsonObject): Promise<Response> =>
  fetch(app.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('openai', () => {
  test('its own default (base64) and float give the same vectors', async () => {
    const input = [CAT, OTHER_CAT, REVENUE];
    const packed = await openai.embeddings.create({ model: MODEL, input });
    const plain = await openai.embeddings.create({ model: MODEL, input, encoding_format: 'float' });
    expect(packed).toMatchObject({ object: 'list', model: MODEL });
    expect(packed.data.map(({ index, object }) => [index, object])).toEqual([
      [0, 'embedding'],
      [1, 'embedding'],
      [2, 'embedding'],
    ]);
    expect(packed.usage.prompt_tokens).toBeGreaterThan(10);
    expect(packed.usage).toEqual(plain.usage);
    for (const [index, { embedding }] of plain.data.entries()) {
      expect(embedding).toHaveLength(768);
      expect(packed.data[index]?.embedding).toEqual(embedding.map(Math.fround));
    }
    const [cat = [], other = [], revenue = []] = plain.data.map(({ embedding }) => embedding);
    expect(cosineSimilarity(cat, other)).toBeGreaterThan(cosineSimilarity(cat, revenue) + 0.2);
  });

  test('dimensions shorten the vectors; one text needs no list', async () => {
    const { data } = await openai.embeddings.create({ model: MODEL, input: CAT, dimensions: 256 });
    expect(data[0]?.embedding).toHaveLength(256);
  });

  test('well-known names go to the model of the catalogue, and keep their name', async () => {
    const { data: answer, response } = await openai.embeddings
      .create({ model: 'text-embedding-3-small', input: CAT })
      .withResponse();
    expect(answer.model).toBe('text-embedding-3-small');
    expect(response.headers.get('x-isthmus-model')).toBe(MODEL);
    expect(response.headers.get('x-isthmus-estimate')).toBeNull();
  });

  test('more texts than one upstream call takes come back in their order', async () => {
    const input = Array.from({ length: 230 }, (_, index) => `text number ${index}`);
    const { data } = await openai.embeddings.create({ model: MODEL, input, dimensions: 32 });
    const [last] = (
      await openai.embeddings.create({ model: MODEL, input: input.slice(-1), dimensions: 32 })
    ).data;
    expect(data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
    expect(data.at(-1)?.embedding).toEqual(last?.embedding);
  });

  test('what is wrong is told by the field', async () => {
    const create = (body: OpenAI.EmbeddingCreateParams) =>
      openai.embeddings.create(body).catch((error: unknown) => error);
    const empty = await create({ model: MODEL, input: ['a', ''] });
    expect(empty).toBeInstanceOf(BadRequestError);
    expect(empty).toMatchObject({ param: 'input[1]', code: 'invalid_value' });
    expect(await create({ model: MODEL, input: [[1, 2]] })).toMatchObject({
      status: 400,
      param: 'input[0]',
      code: 'unsupported_value',
    });
    expect(await create({ model: 'alpha-3-flash', input: 'a' })).toMatchObject({
      status: 400,
      param: 'model',
      message: expect.stringContaining('makes no embeddings'),
    });
    expect(await create({ model: 'nobody-knows', input: 'a' })).toMatchObject({ status: 404 });
    expect(await create({ model: MODEL, input: 'a', dimensions: 5000 })).toMatchObject({
      status: 400,
      message: expect.stringContaining('3072'),
    });
  });

  test('a limited account is left for the next one', async () => {
    await app.sandbox.addFault({
      endpoint: 'embed',
      status: 429,
      reason: 'RATE_LIMIT_EXCEEDED',
      retryDelay: '1s',
    });
    const { response } = await openai.embeddings
      .create({ model: MODEL, input: CAT })
      .withResponse();
    expect(response.status).toBe(200);
    expect(response.headers.get('x-isthmus-attempts')).toBe('2');
    app.clock.skip(60_000);
  });

  test('a model that embeds does not chat', async () => {
    const chat = openai.chat.completions.create({
      model: MODEL,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    await expect(chat).rejects.toMatchObject({
      status: 400,
      param: 'model',
      message: expect.stringContaining('/v1/embeddings'),
    });
  });
});

describe.each(['v1', 'v1beta'])('@google/genai under /%s', (apiVersion) => {
  const client = () =>
    new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: app.url, apiVersion } });

  test('one content and several', async () => {
    const { models } = client();
    const one = await models.embedContent({ model: MODEL, contents: CAT });
    expect(one.embeddings?.map(({ values }) => values?.length)).toEqual([768]);
    const config = { taskType: 'RETRIEVAL_DOCUMENT', title: 'Cats', outputDimensionality: 128 };
    const several = await models.embedContent({ model: MODEL, contents: [CAT, REVENUE], config });
    expect(several.embeddings?.map(({ values }) => values?.length)).toEqual([128, 128]);
    expect(several.usageMetadata?.promptTokenCount).toBeGreaterThan(5);
  });

  test('what is wrong is told in its own shape', async () => {
    const { models } = client();
    const error = await models
      .embedContent({ model: MODEL, contents: '' })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining('requests') });
  });

  test('the list tells what a model is for', async () => {
    const methods = (name: string) =>
      client()
        .models.get({ model: name })
        .then(({ supportedActions }) => supportedActions);
    expect(await methods(MODEL)).toEqual(['embedContent', 'batchEmbedContents', 'countTokens']);
    const counted = await client().models.countTokens({ model: MODEL, contents: CAT });
    expect(counted.totalTokens).toBe(6);
    expect(await methods('alpha-3-flash')).toContain('generateContent');
  });
});

test('snake case is understood, and a batch names the model of its path', async () => {
  const path = `/v1beta/models/${MODEL}`;
  const content = { parts: [{ text: CAT }] };
  const short = await post(`${path}:embedContent`, { content, output_dimensionality: 16 });
  expect(await short.json()).toMatchObject({ embedding: { values: expect.any(Array) } });
  const requests = [{ model: 'models/alpha-3-flash', content }];
  const refused = await post(`${path}:batchEmbedContents`, { requests });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { status: 'INVALID_ARGUMENT', message: expect.stringContaining('requests[0].model') },
  });
});

interface Provider {
  readonly name: string;
  open(): EmbeddingModel;
}

const PROVIDERS: readonly Provider[] = [
  {
    name: '@ai-sdk/openai',
    open: () => createOpenAI({ apiKey: KEY, baseURL: `${app.url}/v1` }).embedding(MODEL),
  },
  {
    name: '@ai-sdk/openai-compatible',
    open: () => {
      const settings = { name: 'isthmus', apiKey: KEY, baseURL: `${app.url}/v1` };
      return createOpenAICompatible(settings).embeddingModel(MODEL);
    },
  },
  {
    name: '@ai-sdk/google',
    open: () =>
      createGoogleGenerativeAI({ apiKey: KEY, baseURL: `${app.url}/v1beta` }).embedding(MODEL),
  },
];

describe.each(PROVIDERS)('Vercel ai with $name', ({ open }) => {
  test('embed and embedMany agree', async () => {
    const model = open();
    const { embedding } = await embed({ model, value: CAT });
    const { embeddings } = await embedMany({ model, values: [CAT, OTHER_CAT, REVENUE] });
    const [cat = [], other = [], revenue = []] = embeddings;
    expect(cat).toEqual(embedding);
    expect(cosineSimilarity(cat, other)).toBeGreaterThan(cosineSimilarity(cat, revenue));
  });
});
