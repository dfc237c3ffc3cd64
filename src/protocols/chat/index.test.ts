import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterEach, expect, test, vi } from 'vitest';
import type { ListedModel } from '../../canonical/model.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { createProtocols } from '../index.ts';

const MODEL: ListedModel = {
  id: 'alpha-3-flash',
  displayName: 'Alpha 3 Flash',
  description: 'Fast and efficient.',
  createdAt: 1_763_600_000,
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  supportsThinking: true,
  drawsImages: false,
  tasks: ['generate'],
};

const MODELS = [MODEL, { ...MODEL, id: 'beta-sonnet-4-6' }];
const IDS = ['alpha-3-flash', 'beta-sonnet-4-6'];

const { routes } = createProtocols().byName.chat;

function listBody(): string {
  const route = routes.find((candidate) => candidate.operation === 'list-models');
  if (route?.operation !== 'list-models') throw new Error('There is no list route.');
  return JSON.stringify(route.writeModels(MODELS, new URLSearchParams()));
}

const respond = async (): Promise<Response> =>
  new Response(listBody(), { headers: { 'content-type': 'application/json' } });

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

afterEach(() => vi.unstubAllGlobals());

test('what is lost of a request with the deprecated functions is told', () => {
  const route = routes.find(({ path }) => path === '/v1/chat/completions');
  if (route?.operation !== 'generate') throw new Error('There is no such route.');
  const receipt = createReceipt();
  const body = {
    ...{ model: 'alpha-3-flash', heliotrope: 1, functions: [{ name: 'f', heliotrope: 1 }] },
    messages: [{ role: 'user', content: 'Hi', heliotrope: 1 }],
  };
  route.readCall({ body, pathModel: '', query: new URLSearchParams(), headers: {}, receipt });
  expect(receipt.entries.map(({ action, path }) => `${action} ${path}`).sort()).toEqual([
    ...['dropped functions[0].heliotrope', 'dropped heliotrope', 'dropped messages[0].heliotrope'],
  ]);
});

test('the routes of the protocol', () => {
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/chat/completions',
    'POST /v1/responses',
    'POST /v1/responses/input_tokens',
    'POST /v1/responses/compact',
    'GET /v1/models',
    'GET /v1/models/{model}',
    'GET /v1/responses/{id}',
    'DELETE /v1/responses/{id}',
    'GET /v1/responses/{id}/input_items',
    'POST /v1/responses/{id}/cancel',
    'POST /v1/conversations',
    'GET /v1/conversations/{id}',
    'POST /v1/conversations/{id}',
    'DELETE /v1/conversations/{id}',
    'GET /v1/conversations/{id}/items',
    'POST /v1/conversations/{id}/items',
    'POST /v1/completions',
    'POST /v1/images/generations',
    'POST /v1/images/edits',
    'POST /v1/images/variations',
    'POST /v1/audio/transcriptions',
    'POST /v1/audio/translations',
    'POST /v1/audio/speech',
    'POST /v1/embeddings',
  ]);
});

test('the model list is read by the clients of all three protocols', async () => {
  const openai = new OpenAI({ apiKey: 'k', fetch: respond });
  expect((await collect(await openai.models.list())).map((model) => model.id)).toEqual(IDS);
  const anthropic = new Anthropic({ apiKey: 'k', fetch: respond });
  expect((await collect(await anthropic.models.list())).map((model) => model.id)).toEqual(IDS);
  vi.stubGlobal('fetch', respond);
  const genai = new GoogleGenAI({ apiKey: 'k' });
  const native = await collect(await genai.models.list());
  expect(native.map((model) => model.name)).toEqual(IDS.map((id) => `models/${id}`));
});

test('an empty model list is a list', async () => {
  const route = routes.find((candidate) => candidate.operation === 'list-models');
  const body =
    route?.operation === 'list-models' ? route.writeModels([], new URLSearchParams()) : undefined;
  expect(body).toMatchObject({ object: 'list', data: [], first_id: null, models: [] });
});

test('one model is shown with the fields of each protocol', () => {
  const route = routes.find((candidate) => candidate.operation === 'get-model');
  const body = route?.operation === 'get-model' ? route.writeModel(MODEL) : undefined;
  expect(body).toMatchObject({
    id: 'alpha-3-flash',
    object: 'model',
    created: 1_763_600_000,
    type: 'model',
    name: 'models/alpha-3-flash',
  });
});

test('a call is read once, names its session and writes both kinds of answer', () => {
  const route = routes.find((candidate) => candidate.operation === 'generate');
  if (route?.operation !== 'generate') throw new Error('There is no generate route.');
  const call = route.readCall({
    pathModel: '',
    query: new URLSearchParams(),
    headers: {},
    body: { model: 'm', user: 'u', messages: [{ role: 'user', content: 'hi' }] },
    receipt: createReceipt(),
  });
  expect(call).toMatchObject({ protocol: 'chat', model: 'm', stream: false, bodySession: 'u' });
  expect(call.relay).toMatchObject({ wire: 'chat' });
  expect(call.relay?.reading?.().losses).toEqual([]);
  expect(call.request).toBe(call.request);
  const context = { model: 'm', createId: (prefix: string) => `${prefix}1`, createdAt: 1 };
  expect(call.createStreamWriter(context).write({ kind: 'start' })).toContain('"role":"assistant"');
});

test('a model list is paged for whoever asks for pages', () => {
  const list = (query: string) => {
    const route = routes.find(({ operation }) => operation === 'list-models');
    if (route?.operation !== 'list-models') throw new Error('There is no model list.');
    return route.writeModels(MODELS, new URLSearchParams(query));
  };
  const [first, second] = IDS;
  expect(list('')).toMatchObject({ has_more: false, first_id: first });
  expect(list(`limit=1&after_id=${first}`)).toMatchObject({
    first_id: second,
    last_id: second,
    data: [{ id: second }],
    models: [{ name: `models/${second}` }],
  });
  expect(list(`before_id=${second}`)).toMatchObject({ has_more: false, data: [{ id: first }] });
});
