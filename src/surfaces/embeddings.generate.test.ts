import { expect, test } from 'vitest';
import type { EmbedAnswer } from '../canonical/embedding.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { JsonObject } from '../lib/json.ts';
import { createProtocols } from '../protocols/index.ts';
import type { EmbedCall } from '../protocols/protocol.ts';

const protocol = createProtocols().byName.generate;
const receiptOf = createReceipt;

function read(verb: string, body: JsonObject, receipt = receiptOf()): EmbedCall {
  const route = protocol.routes.find((one) => one.path === `/v1beta/models/{model}:${verb}`);
  if (route?.operation !== 'embed') throw new Error(`no embedding route ${verb}`);
  return route.readCall({
    pathModel: 'm',
    query: new URLSearchParams(),
    headers: {},
    body,
    receipt,
  });
}

const readOne = (body: JsonObject) => read('embedContent', body);
const readBatch = (requests: JsonObject[]) => read('batchEmbedContents', { requests });
const content = (text: string): JsonObject => ({ parts: [{ text }] });

function answerOf(vectors: readonly number[][], usages: readonly JsonObject[] = []): EmbedAnswer {
  const embeddings = vectors.map((values) => ({
    values,
    native: { values: [...values], shape: [1] },
  }));
  return { embeddings, nativeUsages: usages, promptTokens: 4 };
}

test('a content goes on as it came, in the official spelling', () => {
  const call = readOne({
    model: 'models/m',
    content: content('a'),
    task_type: 'retrieval_document',
    title: 'T',
    output_dimensionality: '256',
    embed_content_config: { auto_truncate: false },
  });
  expect(call).toMatchObject({ protocol: 'generate', model: 'm', showsUsage: false });
  expect(call.relay).toMatchObject({
    wire: 'generate-content',
    bodies: [
      {
        content: content('a'),
        taskType: 'RETRIEVAL_DOCUMENT',
        title: 'T',
        outputDimensionality: 256,
        embedContentConfig: { autoTruncate: false },
      },
    ],
  });
  expect(Object.keys(call.relay?.bodies[0] ?? {})).not.toContain('model');
});

test('media are content too, and a role stays', () => {
  const parts = [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
  const call = readOne({ content: { role: 'user', parts } });
  expect(call.relay?.bodies).toEqual([{ content: { role: 'user', parts } }]);
  expect(() => call.inputs()).toThrow('content.parts[1]: the upstream in use embeds texts only');
  expect(call.texts()).toEqual(['a', '']);
});

test('a batch is one body a request, each with its own settings', () => {
  const call = readBatch([
    { model: 'models/m', content: content('a') },
    {
      model: 'm',
      content: content('b'),
      taskType: 'CODE_RETRIEVAL_QUERY',
      outputDimensionality: 9,
    },
  ]);
  expect(call.relay?.bodies).toEqual([
    { content: content('a') },
    { content: content('b'), taskType: 'CODE_RETRIEVAL_QUERY', outputDimensionality: 9 },
  ]);
  expect(call.inputs()).toEqual([{ text: 'a' }, { text: 'b', dimensions: 9 }]);
});

test('unknown fields and projects are noted, not sent', () => {
  const receipt = receiptOf();
  const request = { content: content('a'), project: 'p', nope: 1 };
  const call = read('batchEmbedContents', { project: 'p', requests: [request] }, receipt);
  expect(call.relay?.bodies).toEqual([{ content: content('a') }]);
  expect(receipt.entries.map(({ path }) => path).toSorted()).toEqual([
    'project',
    'requests[0].nope',
    'requests[0].project',
  ]);
});

test.each<[JsonObject, string]>([
  [{}, 'content'],
  [{ content: null }, 'content'],
  [{ content: { parts: [] } }, 'content.parts'],
  [{ content: content('') }, 'content.parts[0].text'],
  [{ content: { parts: [{ text: 5 }] } }, 'content.parts[0].text'],
  [{ content: content('a'), model: 'models/other' }, 'model'],
  [{ content: content('a'), outputDimensionality: 0 }, 'outputDimensionality'],
  [{ content: content('a'), taskType: 500 }, 'taskType'],
])('a content that cannot be embedded is refused by the name of its field: %j', (body, field) => {
  expect(() => readOne(body)).toThrow(expect.objectContaining({ kind: 'invalid-request', field }));
});

test.each<[JsonObject[], string]>([
  [[], 'requests'],
  [Array.from({ length: 2049 }, () => ({ content: content('a') })), 'requests'],
  [[{ content: content('a') }, { content: content('') }], 'requests[1].content.parts[0].text'],
  [[{ model: 'models/other', content: content('a') }], 'requests[0].model'],
  [[{ model: 'models/m' }], 'requests[0].content'],
])('a batch is refused by the field of the request at fault', (requests, field) => {
  expect(() => readBatch(requests)).toThrow(
    expect.objectContaining({ kind: 'invalid-request', field }),
  );
});

test('answers are the upstream’s own objects, with its count and no other', () => {
  const usage = { promptTokenCount: 4, billing: 'x' };
  const one = readOne({ content: content('a') });
  expect(one.relay?.writeEmbeddings(answerOf([[1]], [usage]))).toEqual({
    embedding: { values: [1], shape: [1] },
    usageMetadata: usage,
  });
  expect(one.relay?.writeEmbeddings(answerOf([[1]]))).toEqual({
    embedding: { values: [1], shape: [1] },
  });
  const batch = readBatch([{ content: content('a') }, { content: content('b') }]);
  expect(batch.relay?.writeEmbeddings(answerOf([[1], [2]]))).toEqual({
    embeddings: [
      { values: [1], shape: [1] },
      { values: [2], shape: [1] },
    ],
  });
});

test('the counts of several calls are added up, by modality too', () => {
  const details = (...counts: [string, number][]): JsonObject[] =>
    counts.map(([modality, tokenCount]) => ({ modality, tokenCount }));
  const usages: JsonObject[] = [
    { promptTokenCount: 4, promptTokensDetails: details(['TEXT', 3], ['IMAGE', 1]), trace: 'x' },
    { promptTokenCount: 6, promptTokensDetails: details(['TEXT', 6]) },
  ];
  const call = readBatch([{ content: content('a') }]);
  expect(call.relay?.writeEmbeddings(answerOf([[1]], usages)).usageMetadata).toEqual({
    promptTokenCount: 10,
    promptTokensDetails: details(['TEXT', 9], ['IMAGE', 1]),
  });
});

test('vectors of an upstream of another wire are written from their values', () => {
  const call = readOne({ content: content('a') });
  expect(call.writeEmbeddings(answerOf([[1, 2]]))).toEqual({
    embedding: { values: [1, 2] },
    usageMetadata: { promptTokenCount: 4 },
  });
});

test('an upstream of another wire gets the texts and their length, and the rest is told', () => {
  const receipt = createReceipt();
  const requests = [
    { content: content('a'), taskType: 'RETRIEVAL_QUERY', title: 'T', outputDimensionality: 2 },
    { content: content('b'), embedContentConfig: { autoTruncate: true } },
  ];
  const call = read('batchEmbedContents', { requests }, receipt);
  expect(receipt.entries).toEqual([]);
  expect(call.inputs()).toEqual([{ text: 'T\n\na', dimensions: 2 }, { text: 'b' }]);
  expect(receipt.entries.map(({ action, path }) => `${action} ${path}`)).toEqual([
    'dropped requests[0].taskType',
    'approximated requests[0].title',
    'dropped requests[1].embedContentConfig.autoTruncate',
  ]);
});
