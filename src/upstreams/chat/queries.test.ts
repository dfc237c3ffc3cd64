import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../transport/client.ts';
import { capabilitiesOf, traitsOf } from './models.ts';
import { createCompatibleProfile, createOpenAiProfile } from './profiles.ts';
import { embed, encodeEmbedInput, listModels, postRequest } from './queries.ts';

const ACCESS = { accountId: 'a', credential: 'key', credentialKind: 'api-key' } as const;
const signal = new AbortController().signal;
const profile = createOpenAiProfile();

function clientOf(answer: (request: ClientRequest) => JsonObject | JsonObject[]) {
  const sent: ClientRequest[] = [];
  const readObjects = async (request: ClientRequest) => {
    sent.push(request);
    return [answer(request)].flat();
  };
  const readObject = async (request: ClientRequest) => (await readObjects(request))[0] ?? {};
  return { sent, client: { readObject, readObjects } };
}

const postOf = (options: Parameters<typeof createCompatibleProfile>[0], clientHeaders = {}) => {
  const made = createCompatibleProfile(options);
  const call = { modelId: 'a/b c', body: {}, access: ACCESS, signal, clientHeaders };
  return postRequest(made, made.paths.chat, call);
};

test('addresses, credentials and headers are those of the profile', () => {
  const azure = postOf({
    baseUrl: 'https://x.example/',
    paths: { chat: '/openai/deployments/{model}/chat/completions' },
    query: { 'api-version': '2026-01-01' },
    auth: { header: 'api-key' },
    headers: { 'x-own': '1' },
  });
  expect(azure.path).toBe('/openai/deployments/a%2Fb%20c/chat/completions?api-version=2026-01-01');
  expect(azure.headers).toEqual({ 'x-own': '1', 'api-key': 'key' });
  const plain = postOf(
    { baseUrl: 'https://x.example/v1' },
    { 'openai-project': 'p', 'x-stainless-lang': 'js', cookie: 'c', authorization: 'mine' },
  );
  expect(plain.path).toBe('/chat/completions');
  expect(plain.headers).toEqual({
    'openai-project': 'p',
    'x-stainless-lang': 'js',
    authorization: 'Bearer key',
  });
});

test('a server that asks for no key is sent none', () => {
  const access = { ...ACCESS, credential: '' };
  const request = postRequest(profile, '/x', { modelId: 'm', body: {}, access, signal });
  expect(request).toMatchObject({ headers: {}, secrets: [] });
});

test('limits of models are read in every spelling', async () => {
  const data = [
    { id: 'a', name: 'A', context_length: 100, top_provider: { max_completion_tokens: 10 } },
    { id: 'b', max_model_len: 200 },
    { id: 'c', context_window: 300, max_completion_tokens: 30 },
    { id: 'd', meta: { n_ctx_train: 400 } },
    { id: 'e', max_context_length: 500, capabilities: { completion_chat: true } },
    { id: 'text-embedding-3-small', supported_parameters: ['reasoning'] },
    { id: 'f', max_input_tokens: 600, max_output_tokens: 60, mode: 'chat' },
    { id: 'vectors', mode: 'embedding' },
    { id: 'a' },
    {},
  ];
  const { client, sent } = clientOf(() => ({ object: 'list', data }));
  const models = await listModels({ client, profile }, ACCESS, signal);
  expect(sent[0]).toMatchObject({ method: 'GET', path: '/models' });
  expect(models).toMatchObject([
    { id: 'a', displayName: 'A', inputTokenLimit: 100, outputTokenLimit: 10 },
    { id: 'b', inputTokenLimit: 200 },
    { id: 'c', inputTokenLimit: 300, outputTokenLimit: 30 },
    { id: 'd', inputTokenLimit: 400 },
    { id: 'e', inputTokenLimit: 500, tasks: ['generate'] },
    { id: 'text-embedding-3-small', tasks: ['embed'], supportsThinking: true },
    { id: 'f', inputTokenLimit: 600, outputTokenLimit: 60, tasks: ['generate'] },
    { id: 'vectors', tasks: ['embed'] },
  ]);
});

test('a model whose list does not name schemas or log-probabilities comes after those that have them', async () => {
  const data = [
    { id: 'all', supported_parameters: ['structured_outputs', 'logprobs'] },
    { id: 'none', supported_parameters: ['response_format'] },
    { id: 'silent' },
  ];
  const { client } = clientOf(() => ({ data }));
  const [all, none, silent] = await listModels({ client, profile }, ACCESS, signal);
  const REFUSED = { refusesSchemas: true, refusesLogprobs: true };
  expect(capabilitiesOf(profile, 'none', none)).toMatchObject(REFUSED);
  for (const listed of [all, silent]) {
    expect(capabilitiesOf(profile, 'x', listed)).toMatchObject({
      refusesSchemas: undefined,
      refusesLogprobs: undefined,
    });
  }
});

test('a list of models may be the whole answer', async () => {
  const { client } = clientOf(() => [
    ...[
      { id: 'meta/llama', type: 'chat', context_length: 8192, display_name: 'Llama' },
      { id: 'flux', type: 'image' },
      { id: 'bge', type: 'embedding' },
    ].map((model) => ({ object: 'model', ...model })),
  ]);
  expect(await listModels({ client, profile }, ACCESS, signal)).toMatchObject([
    { id: 'meta/llama', displayName: 'Llama', inputTokenLimit: 8192 },
    { id: 'flux' },
    { id: 'bge', tasks: ['embed'] },
  ]);
  const other = clientOf(() => ({ id: 'chatcmpl-1', object: 'chat.completion' }));
  expect(await listModels({ client: other.client, profile }, ACCESS, signal)).toEqual([]);
});

test.each([404, 405, 501])('an upstream without a list, %d, has none', async (status) => {
  const { client } = clientOf(() => {
    const failure = { kind: 'path', status } as const;
    throw new GatewayError({ kind: 'not-found', source: 'upstream', message: 'x', failure });
  });
  expect(await listModels({ client, profile }, ACCESS, signal)).toEqual([]);
});

test('a list that fails otherwise is a failure', async () => {
  const { client } = clientOf(() => {
    throw new Error('no way');
  });
  await expect(listModels({ client, profile }, ACCESS, signal)).rejects.toThrow('no way');
});

test('inputs that agree in all else are one request, and vectors come in their order', async () => {
  const { client, sent } = clientOf(({ body }) => {
    const input = Array.isArray(body?.input) ? body.input : [];
    const data = input.map((text, index) => ({ index, embedding: [String(text).length] }));
    return { data: data.toReversed(), usage: { prompt_tokens: 2 } };
  });
  const bodies = [
    encodeEmbedInput({ text: 'a' }),
    encodeEmbedInput({ text: 'bb' }),
    encodeEmbedInput({ text: 'ccc', dimensions: 3 }),
  ];
  const answers = [];
  const call = { modelId: 'e', bodies, access: ACCESS, signal };
  for await (const answer of embed({ client, profile }, call)) answers.push(answer);
  expect(sent.map(({ body }) => body)).toEqual([
    { model: 'e', input: ['a', 'bb'] },
    { model: 'e', input: ['ccc'], dimensions: 3 },
  ]);
  expect(answers.flatMap(({ embeddings }) => embeddings.map(({ values }) => values))).toEqual([
    ...[[1], [2], [3]],
  ]);
});

test('vectors stay with their inputs where their numbers say nothing, and are of one length', async () => {
  const ask = async (data: JsonObject[]) => {
    const { client } = clientOf(() => ({ data }));
    const bodies = data.map(() => ({ input: 'a' }));
    const call = { modelId: 'e', bodies, access: ACCESS, signal };
    for await (const { embeddings } of embed({ client, profile }, call))
      return embeddings.map(({ values }) => values);
    return undefined;
  };
  const vectors = (first: number, second: number) => [
    { index: first, embedding: [1] },
    { index: second, embedding: [2] },
  ];
  expect(await ask(vectors(1, 0))).toEqual([[2], [1]]);
  expect(await ask(vectors(7, 1))).toEqual([[1], [2]]);
  expect(await ask(vectors(0, 0))).toEqual([[1], [2]]);
  await expect(ask([{ embedding: [1] }, { embedding: [1, 2] }])).rejects.toThrow('be read');
});

test('vectors are read as numbers and as base64; anything else is none', async () => {
  const ask = async (data: JsonObject[]) => {
    const { client } = clientOf(() => ({ data }));
    const call = { modelId: 'e', bodies: [{ input: 'a' }], access: ACCESS, signal };
    for await (const { embeddings } of embed({ client, profile }, call))
      return embeddings[0]?.values;
    return undefined;
  };
  const base64 = Buffer.from(new Float32Array([0.5, -1]).buffer).toString('base64');
  expect(await ask([{ embedding: base64 }])).toEqual([0.5, -1]);
  await expect(ask([{ embedding: ['x'] }])).rejects.toThrow('without a vector');
  await expect(ask([{ embedding: 'AACAP' }])).rejects.toThrow('without a vector');
  await expect(ask([{ embedding: 'AAAA' }])).rejects.toThrow('without a vector');
  await expect(ask([])).rejects.toThrow('0 vectors for 1 inputs');
});

test('a model is what its list, its profile and its id say', () => {
  const listed = { id: 'm', inputTokenLimit: 8192, supportsThinking: false };
  const local = createCompatibleProfile({ baseUrl: 'http://127.0.0.1:1', quirks: 'ollama' });
  expect(capabilitiesOf(local, 'm', listed)).toMatchObject({
    inputTokenLimit: 8192,
    outputTokenLimit: 8192,
    thinking: { kind: 'none' },
    severalAnswers: false,
  });
  expect(capabilitiesOf(local, 'm').thinking.kind).toBe('level');
  expect(capabilitiesOf(profile, 'gpt-4o').thinking.kind).toBe('none');
  expect(capabilitiesOf(profile, 'gpt-9-nano').thinking.kind).toBe('level');
  const families = ['a/x-1', 'a/y-2', 'b/x-1'].map(
    (id) => capabilitiesOf(local, id).signatureFamily,
  );
  expect(new Set(families).size).toBe(2);
});

test.each([
  ['o1', true],
  ['o4-mini-2026', true],
  ['openai/gpt-5.1', true],
  ['gpt-12', true],
  ['gpt-4.1', false],
  ['gpt-5-chat-latest', false],
  ['olmo-2', false],
])('%s is of a generation that reasons: %s', (id, reasons) => {
  expect(traitsOf(profile.quirks, id).reasons).toBe(reasons);
});
