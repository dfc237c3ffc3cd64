// Accepted translations of Generate-Content requests: what is sent upstream, to the field.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { readAnswer } from '../support/protocol-calls.ts';
import { translate } from '../support/translate.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const X = { role: 'user', parts: [{ text: 'x' }] };
const SIGNATURE = 'EpQBCpEBAUyWqh3QWm5xWm5xWm5xWm5xWm5xWm5xWm5xWm5xWm5xWm5xZw==';

describe.each(['alpha-3-flash', 'gemini-3-flash', 'gemini-3-pro-high', 'claude-opus-4-6-thinking'])(
  '%s',
  (model) => {
    const send = (fields: JsonObject = {}) => translateGenerate(model, fields);

    test.each([
      ['NONE', 0],
      ['LOW', 8192],
      ['MEDIUM', 16_384],
      ['HIGH', 24_576],
    ])('V110 level %s is a budget of %i and no level', async (thinkingLevel, thinkingBudget) => {
      const { body } = await send({ generationConfig: { thinkingConfig: { thinkingLevel } } });
      expect(body).toEqual({
        contents: [X],
        generationConfig: { thinkingConfig: { thinkingBudget } },
      });
    });

    test('the receipt of a relayed request has its own losses alone', async () => {
      const parts = [
        { inlineData: { mimeType: 'video/mp4', data: 'AAAA' }, videoMetadata: { fps: 2 } },
      ];
      const contents = [{ role: 'user', parts }];
      const { body, receipt } = await send({ contents, labels: { a: 'b' } });
      expect(body.contents).toEqual(contents);
      expect(receipt).toMatchObject([{ action: 'dropped', path: 'labels' }]);
    });

    test('V110 of level and budget only the budget is sent', async () => {
      const thinkingConfig = { thinkingLevel: 'LOW', thinkingBudget: 2048 };
      const { body } = await send({ generationConfig: { thinkingConfig } });
      expect(body.generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 2048 } });
    });

    test('V112 a missing role is user', async () => {
      expect((await send({ contents: [{ parts: [{ text: 'x' }] }] })).body.contents).toEqual([X]);
    });

    test.each(['thought_signature', 'thoughtSignature'])('V113 %s is forwarded', async (key) => {
      const functionCall = { name: 'f', args: {} };
      const functionResponse = { name: 'f', response: {} };
      const answered = { role: 'user', parts: [{ functionResponse }] };
      const called = (name: string) => ({
        role: 'model',
        parts: [{ functionCall, [name]: SIGNATURE }],
      });
      const { body, receipt } = await send({ contents: [X, called(key), answered] });
      expect(body.contents).toEqual([X, called('thoughtSignature'), answered]);
      expect(receipt).toEqual([]);
    });

    test('V118 the -online suffix turns search on and goes', async () => {
      const plain = await send();
      const online = await translateGenerate(`${model}-online`, {});
      expect(online.model).toBe(plain.model);
      expect(online.body).toEqual({ ...plain.body, tools: [{ vendoraSearch: {} }] });
    });

    test('V119 "[undefined]" is an absent value, in fields and in lists', async () => {
      const { body, receipt } = await send({
        cachedContent: '[undefined]',
        generationConfig: { topP: 0.5, temperature: '[undefined]', stopSequences: ['[undefined]'] },
      });
      expect(JSON.stringify(body)).not.toContain('[undefined]');
      expect(body).toMatchObject({ contents: [X], generationConfig: { topP: 0.5 } });
      expect(receipt).toMatchObject([
        { path: 'cachedContent', action: 'repaired' },
        { path: 'generationConfig.temperature', action: 'repaired' },
        { path: 'generationConfig.stopSequences[0]', action: 'repaired' },
      ]);
    });
  },
);

test('V110 a budget above what the model takes is its cap', async () => {
  const generationConfig = { thinkingConfig: { thinkingBudget: 40_000 } };
  for (const model of ['alpha-3-flash', 'gemini-3-flash']) {
    const { body } = await translateGenerate(model, { generationConfig });
    expect(body.generationConfig).toEqual({ thinkingConfig: { thinkingBudget: 24_576 } });
  }
});

test.each(['chat', 'messages'] as const)('V118 -online works in %s too', async (protocol) => {
  const messages = [{ role: 'user', content: 'x' }];
  const body = { model: 'gemini-3-flash-online', max_tokens: 50, messages };
  const translated = await translate(app.url, { protocol, body });
  expect(translated.model).toBe('alpha-3-flash');
  expect(translated.body).toEqual({
    contents: [X],
    tools: [{ vendoraSearch: {} }],
    generationConfig: { maxOutputTokens: 50 },
  });
});

test('V114 /v1 is /v1beta, and the key may stand in the query', async () => {
  const strict = await startApp({ environment: STRICT });
  try {
    for (const path of ['/v1/models/alpha-3-flash', '/v1beta/models/gemini-3-flash']) {
      const address = `${strict.url}${path}:generateContent`;
      expect((await post(`${address}?key=${KEY}`, { contents: [X] })).status).toBe(200);
      expect((await post(`${address}?key=wrong`, { contents: [X] })).status).toBe(401);
    }
    const [first, second, ...more] = await strict.sandbox.requests();
    expect(first?.path).toBe(second?.path);
    expect(first?.body).toEqual({ contents: [X] });
    expect(second?.body).toEqual(first?.body);
    expect(more).toEqual([]);
  } finally {
    await strict.close();
  }
});

test.each([':countTokens', '/countTokens'])(
  'V115 %s counts, and safetySettings stay here',
  async (operation) => {
    for (const model of ['alpha-3-flash', 'gemini-3-flash']) {
      const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
      const url = `${app.url}/v1beta/models/${model}${operation}`;
      const answer = await post(url, { contents: [X], safetySettings });
      expect(answer.body).toMatchObject({ totalTokens: expect.any(Number) });
      const [last] = (await app.sandbox.requests()).slice(-1);
      expect(last?.path).toBe('/v1beta/models/alpha-3-flash:countTokens');
      expect(JSON.stringify(last?.body)).not.toContain('safetySettings');
    }
  },
);

test('a piece of a conversation is counted as it is: clients ask for a response without its call', async () => {
  const media = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
  const functionResponse = { id: 'read__1', name: 'read', response: { output: 'one item' } };
  const contents = [{ role: 'user', parts: [{ functionResponse }, media] }];
  const url = `${app.url}/v1beta/models/gemini-3-flash`;
  const answer = await post(`${url}:countTokens`, { contents });
  expect(answer).toMatchObject({ status: 200, body: { totalTokens: expect.any(Number) } });
  const [last] = (await app.sandbox.requests()).slice(-1);
  expect(last?.body).toMatchObject({ generateContentRequest: { contents } });
  expect(await post(`${url}:generateContent`, { contents })).toMatchObject({ status: 400 });
});

test('V116 a bad request is refused in the protocol’s own shape', async () => {
  const url = `${app.url}/v1beta/models/gemini-3-flash:generateContent`;
  expect((await post(url, { contents: [] })).body).toMatchObject({
    error: { code: 400, message: expect.any(String), status: 'INVALID_ARGUMENT' },
  });
});

/** "x", unless `fields` say otherwise. */
function translateGenerate(model: string, fields: JsonObject) {
  const body = { contents: [X], ...fields };
  return translate(app.url, { protocol: 'generate', model, body });
}

async function post(url: string, body: JsonObject) {
  const headers = { 'content-type': 'application/json' };
  return readAnswer(await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }));
}
