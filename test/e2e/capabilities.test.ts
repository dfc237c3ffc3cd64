// What a request needs decides between upstreams of different wires that offer the same model, over real sockets.

import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createChatUpstream } from '../../src/upstreams/chat/index.ts';
import { createCompatibleProfile } from '../../src/upstreams/chat/profiles.ts';
import { createGenerateUpstream } from '../../src/upstreams/generate/index.ts';
import { createGeminiApiProfile } from '../../src/upstreams/generate/profiles.ts';
import { type FakeChatUpstream, startChatUpstream } from '../support/chat-upstream.ts';
import { createMiddayClock } from '../support/midday-clock.ts';
import { pictureOf } from '../support/pictures.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import {
  GATEWAY_KEY,
  startGatewayOver,
  type UpstreamGateway,
} from '../support/upstream-gateway.ts';

const MODEL = 'shared-model';
const PNG = pictureOf([200, 30, 30]).toString('base64');

/** It reads text alone, and its accounts go first. */
let chat: FakeChatUpstream;
let generate: ScriptedUpstream;
let gateway: UpstreamGateway;

beforeAll(async () => {
  chat = await startChatUpstream([MODEL], { capabilities: { vision: false } });
  generate = await startScriptedUpstream([MODEL]);
});

beforeEach(async () => {
  chat.answer(() => ({ kind: 'message', message: { content: 'Of the text.' } }));
  generate.script({});
  await startOver(chat.url);
});

afterAll(async () => {
  await gateway.close();
  await chat.close();
  await generate.close();
});

async function startOver(chatUrl: string): Promise<void> {
  const clock = createMiddayClock();
  const first = createCompatibleProfile({
    baseUrl: chatUrl,
    quirks: { preset: 'deepseek', limitField: 'max_completion_tokens', effort: 'field' },
  });
  const seeing = createGeminiApiProfile({ id: 'seeing', baseUrl: generate.url });
  await gateway?.close();
  gateway = await startGatewayOver(createChatUpstream({ profile: first, clock }), clock, [
    createGenerateUpstream({ profile: seeing, clock }),
  ]);
}

const ask = (content: OpenAI.ChatCompletionContentPart[], headers = {}) =>
  new OpenAI({ apiKey: GATEWAY_KEY, baseURL: `${gateway.url}/v1`, maxRetries: 0 }).chat.completions
    .create({ model: MODEL, messages: [{ role: 'user', content }] }, { headers })
    .withResponse();

const WORDS: OpenAI.ChatCompletionContentPart = { type: 'text', text: 'What is this?' };
const PICTURE: OpenAI.ChatCompletionContentPart = {
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${PNG}` },
};
const LIMITED = {
  kind: 'status',
  status: 429,
  headers: { 'retry-after': '60' },
  body: { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Slow down.' } },
} as const;

test('a picture goes to the upstream that sees it, and text to the one that goes first', async () => {
  const seen = await ask([WORDS, PICTURE]);
  expect(generate.calls).toHaveLength(1);
  expect(JSON.stringify(generate.calls[0]?.body)).toContain(PNG);
  expect(chat.calls).toHaveLength(0);
  expect(seen.response.headers.get('x-isthmus-receipt')).toBeNull();
  const plain = await ask([{ type: 'text', text: 'Another conversation.' }]);
  expect(plain.data.choices[0]?.message.content).toBe('Of the text.');
  expect(chat.calls).toHaveLength(1);
});

test('tokens are counted by the upstream that can, and estimated where no such one is left', async () => {
  const count = () =>
    fetch(`${gateway.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': GATEWAY_KEY },
      body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'How many?' }] }),
    });
  const totalTokens = 4711;
  generate.script({ model: () => ({ kind: 'status', status: 200, body: { totalTokens } }) });
  const counted = await count();
  expect(counted.headers.get('x-isthmus-estimate')).toBeNull();
  expect(await counted.json()).toEqual({ input_tokens: totalTokens });
  generate.script({ model: () => LIMITED });
  expect((await count()).headers.get('x-isthmus-estimate')).toBe('tokens');
});

test('a client of the upstream’s own wire gets the count as the upstream wrote it', async () => {
  const body = {
    totalTokens: 4711,
    cachedContentTokenCount: 20,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 4711 }],
  };
  generate.script({ model: () => ({ kind: 'status', status: 200, body }) });
  const counted = await fetch(`${gateway.url}/v1beta/models/${MODEL}:countTokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': GATEWAY_KEY },
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'How many?' }] }] }),
  });
  expect(await counted.json()).toEqual(body);
});

test('while that one is at its limit the other one answers, and the receipt says what it was not shown', async () => {
  generate.script({ model: () => LIMITED });
  const { data, response } = await ask([WORDS, PICTURE]);
  expect(data.choices[0]?.message.content).toBe('Of the text.');
  expect(response.headers.get('x-isthmus-receipt')).toContain('dropped=1');
  expect(chat.calls[0]?.body.messages).toEqual([
    {
      role: 'user',
      content: 'What is this?\n\n[image left out: it cannot be shown to this model]',
    },
  ]);
  expect(chat.faults).toEqual([]);
});

test('strict mode refuses to have a picture left out, and names the field', async () => {
  generate.script({ model: () => LIMITED });
  const strict = ask([WORDS, PICTURE], { 'x-isthmus-strict': '1' });
  await expect(strict).rejects.toMatchObject({
    status: 400,
    param: 'messages',
    message: expect.stringContaining('messages (dropped): The upstream takes no image'),
  });
  expect(chat.calls).toHaveLength(0);
});

const TEXT_ALONE = "Model only supports text input; received unsupported content type 'image_url'.";

test('a picture that is refused is shown to the upstream that sees it, and from then on at once', async () => {
  const unlisted = await startChatUpstream([MODEL]);
  unlisted.answer((body) =>
    JSON.stringify(body).includes('image_url')
      ? { kind: 'status', status: 400, body: { error: { message: TEXT_ALONE } } }
      : { kind: 'message', message: { content: 'Of the text.' } },
  );
  await startOver(unlisted.url);
  const first = await ask([WORDS, PICTURE]);
  expect(first.response.headers.get('x-isthmus-attempts')).toBe('2');
  expect(first.response.headers.get('x-isthmus-receipt')).toBeNull();
  await ask([WORDS, PICTURE, { type: 'text', text: 'And that?' }]);
  expect(generate.calls).toHaveLength(2);
  expect(unlisted.calls).toHaveLength(1);
  generate.script({ model: () => LIMITED });
  const last = await ask([WORDS, PICTURE]);
  expect(last.data.choices[0]?.message.content).toBe('Of the text.');
  expect(last.response.headers.get('x-isthmus-receipt')).toContain('dropped=1');
  expect(unlisted.calls).toHaveLength(2);
  await unlisted.close();
});

test('words of the client that a refusal quotes say nothing of what the upstream sees', async () => {
  const unlisted = await startChatUpstream([MODEL]);
  const quote = { type: 'text', text: TEXT_ALONE } as const;
  unlisted.answer(() => ({
    kind: 'status',
    status: 400,
    body: { error: { message: TEXT_ALONE } },
  }));
  await startOver(unlisted.url);
  await expect(ask([quote, PICTURE])).rejects.toMatchObject({ status: 400 });
  unlisted.answer(() => ({ kind: 'message', message: { content: 'Of the picture.' } }));
  const { data } = await ask([WORDS, PICTURE]);
  expect(data.choices[0]?.message.content).toBe('Of the picture.');
  expect(generate.calls).toHaveLength(0);
  await unlisted.close();
});
