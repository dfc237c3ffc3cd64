// Schemas deeper than upstreams take JSON, in every protocol: carried, and what comes back as text restored.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';

const MODEL = 'alpha-3-flash';
const LEVELS = 60;
/** Where the upstream's schema ends and JSON text begins. */
const DECLARED = 43;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const schema = nested(LEVELS, { type: 'integer' }, (inner) => ({
  type: 'object',
  properties: { a: inner },
}));
const wrap = (inner: JsonValue): JsonObject => ({ a: inner });
const WHOLE = nested(LEVELS, 7, wrap);
const AS_WRITTEN = nested(DECLARED, JSON.stringify(nested(LEVELS - DECLARED, 7, wrap)), wrap);
const PROMPT = `CALL-TOOL w ${JSON.stringify(AS_WRITTEN)}`;

function nested(
  levels: number,
  leaf: JsonValue,
  wrapLevel: (inner: JsonValue) => JsonObject,
): JsonObject {
  const inner = wrapLevel(leaf);
  return levels === 1 ? inner : nested(levels - 1, inner, wrapLevel);
}

async function ask(path: string, body: JsonObject): Promise<{ status: number; body: JsonValue }> {
  const answer = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: parseJson(await answer.text()) };
}

test('chat completions: the call comes back as the client declared it', async () => {
  const { status, body } = await ask('/v1/chat/completions', {
    model: MODEL,
    messages: [{ role: 'user', content: PROMPT }],
    tools: [{ type: 'function', function: { name: 'w', parameters: schema } }],
  });
  expect(status).toBe(200);
  const call = { function: { name: 'w', arguments: JSON.stringify(WHOLE) } };
  expect(body).toMatchObject({ choices: [{ message: { tool_calls: [call] } }] });
});

test('responses: the call comes back as the client declared it', async () => {
  const { status, body } = await ask('/v1/responses', {
    model: MODEL,
    input: PROMPT,
    tools: [{ type: 'function', name: 'w', parameters: schema }],
  });
  expect(status).toBe(200);
  expect(JSON.stringify(body)).toContain(JSON.stringify(JSON.stringify(WHOLE)));
});

test('messages: the call comes back as the client declared it', async () => {
  const { status, body } = await ask('/v1/messages', {
    model: MODEL,
    max_tokens: 2000,
    messages: [{ role: 'user', content: PROMPT }],
    tools: [{ name: 'w', input_schema: schema }],
  });
  expect(status).toBe(200);
  const content = isJsonObject(body) ? body.content : undefined;
  expect(content).toContainEqual(expect.objectContaining({ type: 'tool_use', input: WHOLE }));
});

test.each(['parameters', 'parametersJsonSchema'])('generate: %s are carried', async (key) => {
  const { status } = await ask(`/v1beta/models/${MODEL}:generateContent`, {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    tools: [{ functionDeclarations: [{ name: 'w', [key]: schema }] }],
  });
  expect(status).toBe(200);
});

test('the form of an answer is carried in every protocol', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const format = { type: 'json_schema', name: 'f', schema };
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  const json = { responseMimeType: 'application/json' };
  const native = `/v1beta/models/${MODEL}:generateContent`;
  const asked: [string, JsonObject][] = [
    [
      '/v1/chat/completions',
      { messages, response_format: { type: 'json_schema', json_schema: { name: 'f', schema } } },
    ],
    ['/v1/responses', { input: 'Hi', text: { format } }],
    [
      '/v1/messages',
      { messages, max_tokens: 100, output_config: { format: { type: 'json_schema', schema } } },
    ],
    [native, { contents, generationConfig: { ...json, responseSchema: schema } }],
    [native, { contents, generationConfig: { ...json, responseJsonSchema: schema } }],
  ];
  for (const [path, body] of asked) {
    const answer = await ask(path, path === native ? body : { model: MODEL, ...body });
    expect([path, answer.status]).toEqual([path, 200]);
  }
});
