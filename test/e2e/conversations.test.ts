// Conversations kept for clients, and kept answers over a restart, by the official client.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { NotFoundError } from 'openai';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { memoryLimit, shareMemory } from '../../src/lib/memory-limit.ts';
import { KEY, STRICT, startApp, startGateway, type TestApp } from '../support/app.ts';
import { CALL_ONCE, GREETING, RESULT_SEEN, WEATHER, weatherIn } from '../support/prompts.ts';

const MODEL = 'alpha-3-pro-high';
let app: TestApp;
let folder: string;
let client: OpenAI;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-kept-'));
  app = await startApp({ environment: { ...STRICT, ISTHMUS_DATA_DIR: folder } });
  client = clientOf(app.url);
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

function clientOf(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
}

async function itemsOf(id: string) {
  const items = [];
  for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 2 })) {
    items.push(item);
  }
  return items;
}

test.each([false, true])('a conversation grows by its answers (stream=%s)', async (isStream) => {
  const { id } = await client.conversations.create({
    items: [{ role: 'user', content: 'My name is Ada.' }],
    metadata: { topic: 'names' },
  });
  const tools: OpenAI.Responses.Tool[] = [
    { type: 'function', name: WEATHER.name, parameters: WEATHER.schema, strict: false },
  ];
  const body = { model: MODEL, conversation: id, tools, store: false };
  const ask = (
    input: OpenAI.Responses.ResponseInput | string,
  ): Promise<OpenAI.Responses.Response> =>
    isStream
      ? client.responses.stream({ ...body, input }).finalResponse()
      : client.responses.create({ ...body, input });
  const first = await ask(CALL_ONCE);
  expect(first.conversation).toEqual({ id });
  const calls = first.output.filter((item) => item.type === 'function_call');
  const results = calls.map(({ call_id, arguments: text }) => ({
    type: 'function_call_output' as const,
    call_id,
    output: weatherIn(JSON.parse(text).city),
  }));
  expect((await ask(results)).output_text).toContain(RESULT_SEEN);
  const items = await itemsOf(id);
  const types = items.map(({ type }) => type).filter((type) => type !== 'reasoning');
  expect(types).toEqual(['message', 'message', 'function_call', 'function_call_output', 'message']);
  expect(new Set(items.map((item) => item.id)).size).toBe(items.length);
  const [sent] = (await app.sandbox.requests()).slice(-1);
  expect(JSON.stringify(sent)).toContain('My name is Ada.');
});

test('a conversation and its items are read, changed and deleted', async () => {
  const { id } = await client.conversations.create();
  const added = await client.conversations.items.create(id, {
    items: [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ],
  });
  const [one = { id: '' }, two = { id: '' }] = added.data;
  const found = await client.conversations.items.retrieve(String(one.id), { conversation_id: id });
  expect(found).toMatchObject({ content: [{ type: 'input_text', text: 'one' }] });
  await client.conversations.items.delete(String(one.id), { conversation_id: id });
  expect((await itemsOf(id)).map((item) => item.id)).toEqual([two.id]);
  const noItem = { status: 404, param: 'item_id' };
  const place = { conversation_id: id };
  for (const item of [String(one.id), 'msg_never']) {
    await expect(client.conversations.items.retrieve(item, place)).rejects.toMatchObject(noItem);
    await expect(client.conversations.items.delete(item, place)).rejects.toMatchObject(noItem);
  }
  expect(await client.conversations.update(id, { metadata: { a: 'b' } })).toMatchObject({
    id,
    object: 'conversation',
    metadata: { a: 'b' },
  });
  expect(await client.conversations.retrieve(id)).toMatchObject({ metadata: { a: 'b' } });
  expect(await client.conversations.delete(id)).toMatchObject({ id, deleted: true });
  await expect(client.conversations.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
  const gone = client.responses.create({ model: MODEL, conversation: id, input: 'x' });
  await expect(gone).rejects.toMatchObject({ status: 404, param: 'conversation' });
});

test('what is kept can be gone on from without anything new', async () => {
  const { id } = await client.conversations.create({
    items: [{ role: 'user', content: 'My name is Ada.' }],
  });
  const first = await client.responses.create({ model: MODEL, conversation: id });
  expect(first.output_text).toContain('My name is Ada.');
  expect(await itemsOf(id)).toHaveLength(1 + first.output.length);
  const next = { model: MODEL, previous_response_id: first.id };
  for (const body of [next, { ...next, input: [] }]) {
    expect((await client.responses.create(body)).previous_response_id).toBe(first.id);
  }
  const { id: empty } = await client.conversations.create();
  const nothing = client.responses.create({ model: MODEL, conversation: empty });
  await expect(nothing).rejects.toMatchObject({ status: 400, param: 'input' });
});

test('what a conversation cannot hold is refused by name', async () => {
  const create = (body: OpenAI.Conversations.ConversationCreateParams) =>
    client.conversations.create(body);
  await expect(create({ metadata: { a: 'x'.repeat(513) } })).rejects.toMatchObject({
    param: 'metadata.a',
  });
  const item = {
    role: 'user' as const,
    content: [{ type: 'input_image' as const, detail: 'auto' as const }],
  };
  await expect(create({ items: [item] })).rejects.toMatchObject({ status: 400 });
  const { id } = await create({});
  const both = { conversation: id, previous_response_id: 'resp_x' };
  await expect(
    client.responses.create({ model: MODEL, input: 'x', ...both }),
  ).rejects.toMatchObject({ status: 400, param: 'conversation' });
  await expect(client.responses.retrieve(id)).rejects.toBeInstanceOf(NotFoundError);
  const list = client.get(`/conversations/${id}/items`, { query: { order: 'up' } });
  await expect(list).rejects.toMatchObject({ status: 400, param: 'order' });
});

test('answers and conversations are there after a restart', async () => {
  const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'Hi' }] });
  const kept = await client.responses.create({ model: MODEL, input: 'Hi', conversation: id });
  await app.app.close();
  const environment = {
    ...STRICT,
    ISTHMUS_DATA_DIR: folder,
    UPSTREAM_PROFILE: 'sandbox',
    UPSTREAM_BASE_URL: app.sandbox.url,
    UPSTREAM_API_KEYS: String(app.sandbox.authorization.authorization?.replace('Bearer ', '')),
  };
  const again = await startGateway({ environment });
  client = clientOf(again.url);
  expect(await client.responses.retrieve(kept.id)).toMatchObject({ output: kept.output });
  expect((await itemsOf(id)).length).toBeGreaterThanOrEqual(3);
  const next = await client.responses.create({
    model: MODEL,
    input: 'Hello again',
    previous_response_id: kept.id,
  });
  expect(next.output_text).toContain(GREETING);
  await again.close();
});

test('items that are too large to keep are refused, and the conversation goes on without them', async () => {
  onTestFinished(() => shareMemory(1));
  shareMemory(memoryLimit() / (256 * 1_048_576));
  const small = await startApp({ environment: STRICT });
  onTestFinished(() => small.close());
  const { conversations } = clientOf(small.url);
  const item = (content: string) => ({ role: 'user' as const, content });
  const { id } = await conversations.create({ items: [item('Hello')] });
  const items = [item('x'.repeat(9_000_000))];
  const tooLarge = { status: 413, param: 'items' };
  await expect(conversations.create({ items })).rejects.toMatchObject(tooLarge);
  await expect(conversations.items.create(id, { items })).rejects.toMatchObject(tooLarge);
  expect((await conversations.items.list(id)).data).toHaveLength(1);
});
