import OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { Embedding } from '../canonical/embedding.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { inputOf } from '../protocols/chat/answers.test-support.ts';
import { readEmbeddingCall } from './embeddings.ts';

function read(body: JsonObject) {
  const input = inputOf({ model: 'm', ...body });
  const call = readEmbeddingCall(input);
  return { model: call.model, inputs: call.inputs(), notes: input.receipt.entries };
}

function answer(body: JsonObject, vectors: readonly number[][], promptTokens = 5): JsonObject {
  const call = readEmbeddingCall(inputOf({ model: 'm', input: 'x', ...body }));
  const embeddings: Embedding[] = vectors.map((values) => ({ values, native: {} }));
  return call.writeEmbeddings({ embeddings, promptTokens, nativeUsages: [] });
}

test('one text and several are read alike, with the wanted length', () => {
  expect(read({ input: 'a' })).toMatchObject({
    model: 'm',
    inputs: [{ text: 'a' }],
  });
  expect(read({ input: ['a', ' b'], dimensions: 256, encoding_format: 'base64' })).toMatchObject({
    inputs: [
      { text: 'a', dimensions: 256 },
      { text: ' b', dimensions: 256 },
    ],
  });
});

test('fields without effect are noted where the request is translated, known ones are not', () => {
  const { notes } = read({ input: 'a', user: 'u', input_type: 'query', truncate: null });
  expect(notes.map(({ path }) => path)).toEqual(['input_type']);
});

test('a relayed request keeps what a service knows beyond the protocol, and leaves the form of its vectors to it', () => {
  const asked = { input_type: 'query', dimensions: 8, user: null, encoding_format: 'base64' };
  const input = inputOf({ model: 'm', input: ['a', 'b'], ...asked });
  const { relay } = readEmbeddingCall(input);
  const settings = { input_type: 'query', dimensions: 8 };
  expect(relay?.bodies).toEqual([
    { input: 'a', ...settings },
    { input: 'b', ...settings },
  ]);
  expect(input.receipt.entries).toEqual([]);
});

test.each<[JsonObject, string, string]>([
  [{}, 'input', 'required'],
  [{ input: null }, 'input', 'required'],
  [{ input: [] }, 'input', 'at least one'],
  [{ input: '' }, 'input', 'empty'],
  [{ input: ['a', 'b', ''] }, 'input[2]', 'empty'],
  [{ input: ['a', 7] }, 'input[1]', 'token numbers'],
  [{ input: [1, 2, 3] }, 'input[0]', 'send the text itself'],
  [{ input: [[1, 2], [3]] }, 'input[0]', 'check_embedding_ctx_length=False'],
  [{ input: { text: 'a' } }, 'input', 'string'],
  [{ input: ['a', { text: 'b' }] }, 'input[1]', 'string'],
  [{ input: Array.from({ length: 2049 }, () => 'a') }, 'input', 'at most 2048'],
  [{ input: 'a', model: '' }, 'model', 'required'],
  [{ input: 'a', dimensions: 0 }, 'dimensions', 'at least 1'],
  [{ input: 'a', dimensions: 1.5 }, 'dimensions', 'integer'],
  [{ input: 'a', encoding_format: 'binary' }, 'encoding_format', 'float, base64'],
  [{ input: 'a', user: 5 }, 'user', 'string'],
])('what cannot be embedded is refused by the name of its field: %j', (body, field, words) => {
  expect(() => read(body)).toThrow(
    expect.objectContaining({
      kind: 'invalid-request',
      field,
      message: expect.stringContaining(words),
    }),
  );
});

test('2048 texts are as many as fit', () => {
  expect(read({ input: Array.from({ length: 2048 }, () => 'a') }).inputs).toHaveLength(2048);
});

test('vectors stand in order, with the count twice', () => {
  expect(
    answer({}, [
      [0.6, 0.8],
      [1, 0],
    ]),
  ).toEqual({
    object: 'list',
    data: [
      { object: 'embedding', index: 0, embedding: [0.6, 0.8] },
      { object: 'embedding', index: 1, embedding: [1, 0] },
    ],
    model: 'm',
    usage: { prompt_tokens: 5, total_tokens: 5 },
  });
});

test('shortened vectors are brought back to length 1, others stay as they are', () => {
  const rounded = [0.60000001, 0.8];
  const [{ embedding: long }, { embedding: kept }, { embedding: none }] = dataOf(
    answer({}, [[3, 4], rounded, [0, 0]]),
  );
  expect(long).toEqual([0.6, 0.8]);
  expect(kept).toEqual(rounded);
  expect(none).toEqual([0, 0]);
});

test('base64 is single precision, little-endian', () => {
  const [{ embedding }] = dataOf(answer({ encoding_format: 'base64' }, [[1, 0, 0]]));
  expect(Buffer.from(String(embedding), 'base64').toString('hex')).toBe('0000803f0000000000000000');
});

test('relayed vectors come in the form that was asked for, whatever the upstream knows', () => {
  const floats = { values: [1, 0], native: { embedding: [1, 0], own: 'x' } };
  const text = { values: [1, 0], native: { embedding: 'AACAPwAAAAA=' } };
  const relayed = (format: string) => {
    const body = { model: 'm', input: ['a', 'b'], encoding_format: format };
    const { relay } = readEmbeddingCall(inputOf(body));
    const found = { embeddings: [floats, text], promptTokens: 1, nativeUsages: [] };
    return relay?.writeEmbeddings(found).data;
  };
  expect(relayed('base64')).toEqual([
    { embedding: 'AACAPwAAAAA=', own: 'x', index: 0 },
    { embedding: 'AACAPwAAAAA=', index: 1 },
  ]);
  expect(relayed('float')).toEqual([
    { embedding: [1, 0], own: 'x', index: 0 },
    { embedding: [1, 0], index: 1 },
  ]);
});

test('the official client decodes what it asked for by itself', async () => {
  const vector = [0.36, 0.48, -0.8];
  const client = new OpenAI({
    apiKey: 'k',
    fetch: async (_url, init) => {
      const body: unknown = JSON.parse(String(init?.body));
      return Response.json(answer(isJsonObject(body) ? body : {}, [vector]));
    },
  });
  const { data } = await client.embeddings.create({ model: 'm', input: 'x' });
  expect(data[0]?.embedding).toEqual(vector.map(Math.fround));
});

type Datum = { embedding: unknown };

function dataOf({ data }: JsonObject): [Datum, Datum, Datum] {
  const list = Array.isArray(data) ? data.filter(isJsonObject) : [];
  const datum = (index: number): Datum => ({ embedding: list[index]?.embedding });
  return [datum(0), datum(1), datum(2)];
}
