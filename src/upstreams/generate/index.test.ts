import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { access, call, failureOf, json, start } from './client.test-support.ts';

test('tokens are counted for the whole request, without safety settings (V115)', async () => {
  const { upstream, seen } = await start(json({ totalTokens: 42 }));
  const body = { ...call().body, safetySettings: [], systemInstruction: { parts: [] } };
  expect(await upstream.countTokens(call({ body }))).toBe(42);
  expect(seen[0]?.url).toBe('/v1beta/models/gemini-3-flash:countTokens');
  const { safetySettings, ...request } = body;
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
    generateContentRequest: { model: 'models/gemini-3-flash', ...request },
    project: 'proj-1',
  });
});

test('upstreams that count contents only get contents only (V115)', async () => {
  const { upstream, seen } = await start(json({ totalTokens: 7 }), {
    countTakesFullRequest: false,
  });
  const body = { ...call().body, safetySettings: [], systemInstruction: { parts: [] } };
  expect(await upstream.countTokens(call({ body }))).toBe(7);
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ ...call().body, project: 'proj-1' });
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
