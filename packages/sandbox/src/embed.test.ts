import { afterAll, beforeAll, expect, test } from 'vitest';
import { embedText } from './generate.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { ADA, ask, startTestSandbox, text, user } from './sandbox.test-support.ts';

const MODEL = 'models/alpha-embedding-001';
const ONE = `/v1beta/${MODEL}:embedContent`;
const BATCH = `/v1beta/${MODEL}:batchEmbedContents`;

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const content = (words: string): JsonObject => ({ parts: [text(words)] });
const request = (words: string, more: JsonObject = {}): JsonObject => ({
  model: MODEL,
  content: content(words),
  ...more,
});
const send = (path: string, body: JsonObject) => sandbox.send(path, { body });

function vectorOf(value: JsonValue | undefined): number[] {
  const values = isJsonObject(value) ? value.values : undefined;
  return Array.isArray(values) ? values.map(Number) : [];
}

const dot = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);

test('one content is one vector of length 1, with the tokens that countTokens counts', async () => {
  const { status, json } = await send(ONE, {
    content: content('The quick brown fox'),
    model: MODEL,
  });
  const counted = await send(`/v1beta/${MODEL}:countTokens`, ask('The quick brown fox'));
  const vector = vectorOf(json.embedding);
  expect(status).toBe(200);
  expect(vector).toHaveLength(768);
  expect(dot(vector, vector)).toBeCloseTo(1, 6);
  expect(json.usageMetadata).toMatchObject({ promptTokenCount: counted.json.totalTokens });
});

test('a batch gives a vector for each request, in order, each of its own length', async () => {
  const requests = [request('alpha'), request('beta', { outputDimensionality: 3072 })];
  const { json } = await send(BATCH, { requests, project: ADA.project });
  const vectors = Array.isArray(json.embeddings) ? json.embeddings.map(vectorOf) : [];
  expect(vectors.map((vector) => vector.length)).toEqual([768, 3072]);
  expect(vectors[0]).toEqual(vectorOf((await send(ONE, request('alpha'))).json.embedding));
});

test('similar texts are nearer than texts about something else, at every length', () => {
  for (const dimensions of [64, 768, 3072]) {
    const vector = (words: string) => embedText(words, { task: 'SEMANTIC_SIMILARITY', dimensions });
    const cat = vector('The cat sat on the mat.');
    expect(vector('The cat sat on the mat.')).toEqual(cat);
    const near = dot(cat, vector('A cat sits on a mat'));
    const far = dot(cat, vector('Quarterly revenue grew by twelve percent'));
    expect(near).toBeGreaterThan(far + 0.2);
  }
});

test('the task changes a vector a little, and any text has one', () => {
  const query = embedText('weather in Paris', { task: 'RETRIEVAL_QUERY', dimensions: 768 });
  const document = embedText('weather in Paris', { task: 'RETRIEVAL_DOCUMENT', dimensions: 768 });
  expect(dot(query, document)).toBeGreaterThan(0.8);
  expect(dot(query, document)).toBeLessThan(0.9999);
  for (const words of ['?!', '東京の天気', '🙂']) {
    for (const dimensions of [1, 2]) {
      const vector = embedText(words, { task: '', dimensions });
      expect(dot(vector, vector)).toBeCloseTo(1, 5);
    }
  }
});

test.each<[string, string, JsonObject, string]>([
  ['an unknown field', ONE, { ...request('a'), nope: 1 }, 'unknown field \\"nope\\"'],
  ['no content', ONE, { model: MODEL }, 'content.parts: must not be empty'],
  ['an empty text', ONE, request(''), 'content.parts[0].text: must not be empty'],
  [
    'media',
    ONE,
    { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } },
    'embeds text only',
  ],
  [
    'another model',
    ONE,
    request('a', { model: 'models/alpha-3-flash' }),
    'is not the model of the path',
  ],
  ['too long a vector', ONE, request('a', { outputDimensionality: 3073 }), 'from 1 to 3072'],
  ['an unknown task', ONE, request('a', { taskType: 'POETRY' }), 'task_type'],
  ['a title without its task', ONE, request('a', { title: 'T' }), 'title'],
  ['too much text', ONE, request('x'.repeat(8200)), 'exceeds the maximum of 2048'],
  ['an empty batch', BATCH, { requests: [] }, '1 to 100'],
  [
    'a large batch',
    BATCH,
    { requests: Array.from({ length: 101 }, () => request('a')) },
    '1 to 100',
  ],
  ['a batch without models', BATCH, { requests: [{ content: content('a') }] }, 'requests[0].model'],
])('%s is refused by name', async (_case, path, body, message) => {
  const answer = await send(path, body);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(message);
});

test('models do what their methods say and nothing else', async () => {
  const { json } = await sandbox.send(`/v1beta/${MODEL}`);
  expect(json.supportedGenerationMethods).toEqual(['embedContent', 'countTokens']);
  const chat = await send(`/v1beta/${MODEL}:generateContent`, ask('hi'));
  const vectors = await send('/v1beta/models/alpha-3-flash:embedContent', {
    content: content('a'),
  });
  expect([chat.status, vectors.status]).toEqual([404, 404]);
  expect(chat.text).toContain('not supported for generateContent');
});

test('every call counts against the quota, and refused ones do not', async () => {
  const quota = { requests: 2, windowMs: 3_600_000 };
  const small = await startTestSandbox([{ ...ADA, quota }]);
  const statuses: number[] = [];
  for (const body of [request('a'), request(''), request('b'), request('c')]) {
    statuses.push((await small.send(ONE, { body })).status);
  }
  await small.close();
  expect(statuses).toEqual([200, 400, 200, 429]);
});

test('faults and the words of a text make it fail as told', async () => {
  await sandbox.send('/sandbox/faults', { body: { endpoint: 'embed', status: 503 } });
  const told = await send(ONE, { content: user(text('UPSTREAM-STATUS 429')) });
  const after = await send(ONE, { content: user(text('UPSTREAM-STATUS 429')) });
  expect([told.status, after.status]).toEqual([503, 429]);
  expect(after.text).toContain('RetryInfo');
});
