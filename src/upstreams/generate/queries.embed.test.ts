import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import type { EmbedAnswer } from '../../canonical/embedding.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import type { AccountAccess, Upstream, UpstreamEmbedCall } from '../upstream.ts';
import {
  access,
  closers,
  failureOf,
  type Handler,
  json,
  type Seen,
  start,
} from './client.test-support.ts';
import { createGenerateUpstream } from './index.ts';
import { createVertexProfile } from './profiles.ts';

const MODEL = 'gemini-embedding-001';
const bodyOf = (text: string, more: JsonObject = {}): JsonObject => ({
  content: { parts: [{ text }] },
  ...more,
});

function callOf(change: Partial<UpstreamEmbedCall> = {}): UpstreamEmbedCall {
  const { signal } = new AbortController();
  return { modelId: MODEL, bodies: [bodyOf('a')], access, signal, ...change };
}

async function embed(
  upstream: Pick<Upstream, 'embed'>,
  change: Partial<UpstreamEmbedCall> = {},
): Promise<EmbedAnswer[]> {
  return Array.fromAsync(upstream.embed(callOf(change)));
}

const sent = (seen: Seen | undefined): JsonObject => {
  const body = parseJson(seen?.body ?? '');
  return isJsonObject(body) ? body : {};
};

/** Answers a batch with one vector a request: its position in the whole. */
function numbering(): Handler {
  let position = 0;
  return (request, response, body) => {
    const { requests } = JSON.parse(body);
    const embeddings = requests.map(() => ({ values: [position++, 0.5] }));
    json({ embeddings })(request, response, body);
  };
}

test('one input is one embedContent call, with the model and the project', async () => {
  const usageMetadata = { promptTokenCount: 3 };
  const { upstream, seen } = await start(json({ embedding: { values: [0.25] }, usageMetadata }));
  expect(await embed(upstream, { bodies: [bodyOf('a', { taskType: 'CLUSTERING' })] })).toEqual([
    {
      embeddings: [{ values: [0.25], native: { values: [0.25] } }],
      promptTokens: 3,
      media: undefined,
      nativeUsages: [usageMetadata],
    },
  ]);
  expect(seen[0]?.url).toBe(`/v1beta/models/${MODEL}:embedContent`);
  expect(sent(seen[0])).toEqual({
    model: `models/${MODEL}`,
    ...bodyOf('a', { taskType: 'CLUSTERING' }),
    project: 'proj-1',
  });
});

test('many inputs go in batches of 100, in order', async () => {
  const { upstream, seen } = await start(numbering());
  const bodies = Array.from({ length: 250 }, (_, index) => bodyOf(`text ${index}`));
  const parts = await embed(upstream, { bodies });
  expect(parts.map(({ embeddings }) => embeddings.length)).toEqual([100, 100, 50]);
  const values = parts.flatMap(({ embeddings }) => embeddings.map((one) => one.values[0]));
  expect(values).toEqual(bodies.map((_, index) => index));
  expect(seen.map(({ url }) => url)).toEqual(
    Array.from({ length: 3 }, () => `/v1beta/models/${MODEL}:batchEmbedContents`),
  );
  expect(sent(seen[2])).toMatchObject({
    project: 'proj-1',
    requests: expect.arrayContaining([{ model: `models/${MODEL}`, ...bodyOf('text 249') }]),
  });
  expect(parts[0]).toMatchObject({ promptTokens: undefined, nativeUsages: [] });
});

test('numbers of more digits than a double holds are numbers all the same', async () => {
  const { upstream } = await start((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"embedding":{"values":[0.12345678901234567890,-0,1]}}');
  });
  const [part] = await embed(upstream);
  expect(part?.embeddings[0]?.values).toEqual([0.12345678901234568, -0, 1]);
});

test.each<[string, JsonObject]>([
  ['no vector', {}],
  ['a vector of nothing', { embedding: { values: [] } }],
  ['a vector of words', { embedding: { values: ['a'] } }],
  ['too many vectors', { embeddings: [{ values: [1] }, { values: [1] }] }],
])('an answer with %s is a fault of the path', async (_case, answer) => {
  const { upstream } = await start(json(answer));
  expect((await failureOf(embed(upstream))).failure?.kind).toBe('path');
});

test('refusals are told apart as for every other call', async () => {
  const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'slow down' };
  const { upstream } = await start(json({ error }, 429));
  const { failure } = await failureOf(embed(upstream));
  expect(failure).toMatchObject({ kind: 'rate-limited', status: 429 });
});

test('a canonical input becomes a content with its settings', async () => {
  const { upstream } = await start(json({}));
  expect(upstream.encodeEmbedInput({ text: 'a', dimensions: 256 })).toEqual(
    bodyOf('a', { outputDimensionality: 256 }),
  );
  expect(upstream.encodeEmbedInput({ text: 'a' })).toEqual(bodyOf('a'));
});

const token: AccountAccess = { ...access, credentialKind: 'access-token', projectId: 'my-project' };
const PLACE = '/v1/projects/my-project/locations/us-central1/publishers/google/models';

async function vertexAt(handle: Handler) {
  const { port, seen } = await start(handle);
  const baseUrl = `http://127.0.0.1:${port}`;
  const profile = createVertexProfile({ baseUrl, location: 'us-central1' });
  const upstream = createGenerateUpstream({ profile, clock: createFakeClock() });
  closers.push(() => upstream.close());
  const run = (change: Partial<UpstreamEmbedCall>) => embed(upstream, { access: token, ...change });
  const list = () => upstream.listModels(token, new AbortController().signal);
  return { seen, run, list };
}

test('Vertex: text models predict, one instance a call, in order', async () => {
  const { run, seen } = await vertexAt((request, response, body) => {
    const [instance] = JSON.parse(body).instances;
    const statistics = { token_count: 2, truncated: false };
    const embeddings = { values: [Number(instance.content)], statistics };
    json({ predictions: [{ embeddings }] })(request, response, body);
  });
  const settings = { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 256 };
  const bodies = Array.from({ length: 9 }, (_, index) => bodyOf(`${index}`, settings));
  const parts = await run({ bodies });
  expect(parts.flatMap(({ embeddings }) => embeddings.map((one) => one.values[0]))).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8,
  ]);
  expect(parts.map(({ promptTokens }) => promptTokens)).toEqual(bodies.map(() => 2));
  expect(parts[0]?.embeddings[0]?.native).toHaveProperty('statistics.truncated', false);
  expect(seen[8]?.url).toBe(`${PLACE}/gemini-embedding-001:predict`);
  expect(sent(seen[8])).toEqual({
    instances: [{ content: '8', task_type: 'RETRIEVAL_QUERY' }],
    parameters: { outputDimensionality: 256 },
  });
});

test('Vertex: content models take one content with its settings in an object', async () => {
  const promptTokenDetails = [{ modality: 'IMAGE', tokenCount: 3 }];
  const usageMetadata = { promptTokenCount: 4, promptTokenDetails };
  const answer = { embedding: { values: [1] }, usageMetadata };
  const { run, seen } = await vertexAt(json(answer));
  const parts = await run({
    modelId: 'gemini-embedding-2',
    bodies: [bodyOf('a', { embedContentConfig: { documentOcr: true }, outputDimensionality: 9 })],
  });
  expect(parts).toMatchObject([{ promptTokens: 4, media: { image: 3, audio: 0 } }]);
  expect(seen[0]?.url).toBe(`${PLACE}/gemini-embedding-2:embedContent`);
  expect(sent(seen[0])).toEqual({
    content: { parts: [{ text: 'a' }] },
    embedContentConfig: { documentOcr: true, outputDimensionality: 9 },
  });
});

test('Vertex: what a text model cannot read is refused before anything is sent', async () => {
  const { run, seen } = await vertexAt(json({}));
  const inlineData = { mimeType: 'image/png', data: 'AAAA' };
  for (const parts of [[{ inlineData }], [{ text: 'a' }, { text: 'b' }]]) {
    const error = await failureOf(run({ bodies: [{ content: { parts } }] }));
    expect(error).toMatchObject({ kind: 'invalid-request', field: 'content.parts' });
    expect(error.failure).toBeUndefined();
  }
  expect(seen).toEqual([]);
});

test('Vertex: its list names no methods, so that what is known of the models says which embed', async () => {
  const ids = ['gemini-2.5-pro', 'text-embedding-005', 'gemini-embedding-2'];
  const publisherModels = ids.map((id) => ({ name: `publishers/google/models/${id}` }));
  const { list } = await vertexAt(json({ publisherModels }));
  expect((await list()).map(({ id, tasks }) => [id, tasks])).toEqual([
    ['gemini-2.5-pro', undefined],
    ['text-embedding-005', ['embed']],
    ['gemini-embedding-2', ['embed']],
  ]);
});

test('Vertex: the first refusal ends the calls beside it', async () => {
  const gone: string[] = [];
  const { run } = await vertexAt((request, response, body) => {
    const [{ content }] = JSON.parse(body).instances;
    if (content === '3') json({ error: { code: 429 } }, 429)(request, response, body);
    else response.once('close', () => gone.push(content));
  });
  const bodies = Array.from({ length: 4 }, (_, index) => bodyOf(`${index}`));
  expect((await failureOf(run({ bodies }))).failure?.kind).toBe('rate-limited');
  await expect.poll(() => gone.toSorted()).toEqual(['0', '1', '2']);
});
