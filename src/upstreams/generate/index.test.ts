import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { access, call, failureOf, type Handler, json, start } from './client.test-support.ts';

const SYSTEM = { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] };
const TOOLS = [{ functionDeclarations: [{ name: 'weather' }] }];

test('tokens are counted for the whole request, without safety settings (V115)', async () => {
  const { upstream, seen } = await start(json({ totalTokens: 42 }));
  const body = { ...call().body, safetySettings: [], systemInstruction: SYSTEM, tools: TOOLS };
  expect(await upstream.countTokens(call({ body }))).toMatchObject({ total: 42 });
  expect(seen[0]?.url).toBe('/v1beta/models/gemini-3-flash:countTokens');
  const { safetySettings, ...request } = body;
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
    generateContentRequest: { model: 'models/gemini-3-flash', ...request },
    project: 'proj-1',
  });
});

test('contents alone are counted as such, which every upstream takes (V115)', async () => {
  const { upstream, seen } = await start(json({ totalTokens: 7 }), { vocabulary: 'neutral' });
  const body = { ...call().body, safetySettings: [], systemInstruction: { parts: [] }, tools: [] };
  expect(await upstream.countTokens(call({ body }))).toMatchObject({ total: 7 });
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ ...call().body, project: 'proj-1' });
});

/** Takes contents only: anything else is refused, or passed over as if it were not there. */
async function startContentsOnly(habit: 'refuses' | 'passes over', clock?: Clock) {
  const handle: Handler = (request, response, text) => {
    const isContents = 'contents' in JSON.parse(text);
    if (isContents) json({ totalTokens: 7 })(request, response, text);
    else if (habit === 'passes over') json({ totalTokens: 0 })(request, response, text);
    else json({ error: { code: 400, status: 'INVALID_ARGUMENT' } }, 400)(request, response, text);
  };
  return start(handle, { clock });
}

test.each(['refuses', 'passes over'] as const)(
  'an upstream that %s whole requests counts the contents, and what is left is told',
  async (habit) => {
    const { upstream, seen } = await startContentsOnly(habit);
    const body = { ...call().body, systemInstruction: SYSTEM, tools: TOOLS };
    const counted = { total: 7, uncounted: `Be brief.\nBe kind.${JSON.stringify(TOOLS)}` };
    expect(await upstream.countTokens(call({ body }))).toMatchObject(counted);
    const asked = seen.length;
    expect(await upstream.countTokens(call({ body }))).toMatchObject(counted);
    expect(seen.length - asked).toBe(1);
    expect(JSON.parse(seen.at(-1)?.body ?? '')).toEqual({ ...call().body, project: 'proj-1' });
  },
);

test('whole requests are tried again after an hour, also where tokens are counted all the time', async () => {
  const clock = createFakeClock();
  const { upstream, seen } = await startContentsOnly('passes over', clock);
  const counting = call({ body: { ...call().body, systemInstruction: SYSTEM } });
  const wholes = () => seen.filter(({ body }) => body.includes('generateContentRequest')).length;
  for (let minutes = 0; minutes < 60; minutes += 20) {
    await upstream.countTokens(counting);
    await clock.advance(20 * 60_000);
  }
  expect(wholes()).toBe(1);
  await upstream.countTokens(counting);
  expect(wholes()).toBe(2);
});

test('a request that cannot be counted is refused, and does not speak against the form', async () => {
  const { upstream, seen } = await start((request, response, text) => {
    const isBad = text.includes('bad');
    const answer = isBad ? { error: { code: 400, message: 'bad tool' } } : { totalTokens: 9 };
    json(answer, isBad ? 400 : 200)(request, response, text);
  });
  const tools = [{ functionDeclarations: [{ name: 'bad' }] }];
  const bad = upstream.countTokens(call({ body: { ...call().body, tools } }));
  expect((await failureOf(bad)).message).toBe('bad tool');
  const good = call({ body: { ...call().body, tools: TOOLS } });
  expect(await upstream.countTokens(good)).toMatchObject({ total: 9 });
  expect(seen.at(-1)?.body).toContain('generateContentRequest');
});

test.each([{}, { totalTokens: 1e300 }, { totalTokens: -5 }])(
  'a count of %j is a fault',
  async (answer) => {
    const { upstream } = await start(json(answer));
    expect((await failureOf(upstream.countTokens(call()))).failure?.kind).toBe('path');
  },
);

test('the model list is read page by page, only models that answer or embed', async () => {
  const generates = ['generateContent', 'countTokens'];
  const pages: Record<string, JsonObject> = {
    '': {
      models: [
        {
          name: 'models/gemini-3-flash',
          displayName: 'Flash',
          description: 'Fast',
          inputTokenLimit: 1000,
          outputTokenLimit: '200',
          thinking: true,
          supportedGenerationMethods: generates,
        },
        { name: 'models/embed', supportedGenerationMethods: ['embedContent'] },
        { name: 'models/answers', supportedGenerationMethods: ['generateAnswer'] },
      ],
      nextPageToken: 'p 2',
    },
    'p 2': {
      models: [{ name: 'plain', supportsThinking: false, maxOutputTokens: 5 }, { name: '' }, 7],
      nextPageToken: 'p 2',
    },
  };
  const { upstream, seen } = await start((request, response, body) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    json(pages[searchParams.get('pageToken') ?? ''] ?? {})(request, response, body);
  });
  const models = await upstream.listModels(access, new AbortController().signal);
  expect(models).toEqual([
    {
      id: 'gemini-3-flash',
      displayName: 'Flash',
      description: 'Fast',
      inputTokenLimit: 1000,
      outputTokenLimit: 200,
      supportsThinking: true,
      tasks: ['generate'],
    },
    { id: 'embed', tasks: ['embed'] },
    { id: 'plain', supportsThinking: false, outputTokenLimit: 5 },
  ]);
  expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /v1beta/models?pageSize=1000',
    'GET /v1beta/models?pageSize=1000&pageToken=p+2',
  ]);
});
