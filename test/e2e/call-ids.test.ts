// Ids of tool calls that the gateway makes up look like those the client's own service gives.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';

/** One call without an id, one with an id no client could carry, one with an id of its own. */
const parts = [undefined, 'a b', 'own_1'].map((id) => ({
  functionCall: { name: 'f', args: {}, ...(id === undefined ? {} : { id }) },
}));
const ANSWER = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };

let upstream: ScriptedUpstream;
let gateway: PoolApp;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.script({ model: () => ({ kind: 'frames', frames: [ANSWER] }) });
  gateway = await startPoolApp({
    environment: { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'key.a' },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const messages = [{ role: 'user', content: 'go' }];
const parameters = { type: 'object', properties: {} };
const SURFACES: readonly (readonly [string, string, JsonObject])[] = [
  [
    'toolu_',
    '/v1/messages',
    { max_tokens: 9, messages, tools: [{ name: 'f', input_schema: parameters }] },
  ],
  [
    'call_',
    '/v1/chat/completions',
    { messages, tools: [{ type: 'function', function: { name: 'f', parameters } }] },
  ],
  ['call_', '/v1/responses', { input: 'go', tools: [{ type: 'function', name: 'f', parameters }] }],
];

test.each(
  SURFACES.flatMap((surface) => [false, true].map((stream) => [...surface, stream] as const)),
)('calls get ids that begin with %s in %s', async (prefix, path, fields, stream) => {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'alpha-3-flash', stream, ...fields }),
  });
  const text = await answer.text();
  const ids = new Set([...text.matchAll(/"(?:toolu|call|own)_[\w-]+"/g)].map(([id]) => id));
  ids.delete('"call_id"');
  expect([...ids]).toEqual([
    expect.stringMatching(`^"${prefix}[\\w-]{24}"$`),
    expect.stringMatching(`^"${prefix}[\\w-]{24}"$`),
    '"own_1"',
  ]);
});

test.each([['{}'], ['{"a":1}']])(
  'calls of %s that a client numbers alike in every conversation go back with their signatures',
  async (json) => {
    const sign = (thoughtSignature: string) => {
      const part = { functionCall: { name: 'f', args: JSON.parse(json) }, thoughtSignature };
      const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }];
      upstream.script({ model: () => ({ kind: 'frames', frames: [{ candidates }] }) });
    };
    const call = { type: 'function', function: { name: 'f', arguments: json } };
    const step = (id: string, content: string): JsonObject[] => [
      { role: 'assistant', content: null, tool_calls: [{ ...call, id }] },
      { role: 'tool', tool_call_id: id, content },
    ];
    const ask = async (signature: string, ...more: JsonObject[]) => {
      sign(signature);
      const [, path, fields] = SURFACES[1] ?? [];
      const body = { model: 'alpha-3-flash', ...fields, messages: [...messages, ...more] };
      const headers = { 'content-type': 'application/json' };
      await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      const sent = JSON.stringify(upstream.calls.at(-1)?.body);
      return [...sent.matchAll(/"thoughtSignature":"(\w+)"/g)].map(([, found]) => found);
    };
    const [ones, twos] = [step('c0', 'one'), step('c0', 'two')];
    await ask('AAA1');
    await ask('BBB1');
    expect(await ask('AAA2', ...ones)).toEqual(['BBB1']);
    expect(await ask('BBB2', ...twos)).toEqual(['BBB1']);
    const next = step('c1', 'done');
    expect(await ask('AAA3', ...ones, ...next)).toEqual(['BBB1', 'AAA2']);
    expect(await ask('BBB3', ...twos, ...next)).toEqual(['BBB1', 'BBB2']);
  },
);
