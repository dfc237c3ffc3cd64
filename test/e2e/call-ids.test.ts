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
