// Clients that fill in what a schema declares as a default keep the signature of the call all the same.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';

let gateway: PoolApp;
beforeAll(async () => {
  gateway = await startPoolApp();
});
afterAll(() => gateway.close());

const PROMPT = { role: 'user', content: 'CALL-TOOL Edit {"path": "a"}' };
const PARAMETERS = {
  type: 'object',
  properties: { path: { type: 'string' }, replace_all: { type: 'boolean', default: false } },
  required: ['path'],
};

interface Surface {
  readonly path: string;
  readonly fields: JsonObject;
  /** The turns behind the question, with these arguments in place of those the call came with. */
  readonly next: (answer: JsonObject, args: JsonObject) => JsonObject;
}

const SURFACES: readonly Surface[] = [
  {
    path: '/v1/messages',
    fields: {
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2048 },
      tools: [{ name: 'Edit', input_schema: PARAMETERS }],
      messages: [PROMPT],
    },
    next({ content }, input) {
      const blocks = objectsIn(content).map((block) =>
        block.type === 'tool_use' ? { ...block, input } : block,
      );
      const results = blocks.flatMap(({ type, id = '' }) =>
        type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'done' }] : [],
      );
      const answer = { role: 'assistant', content: blocks };
      return { messages: [PROMPT, answer, { role: 'user', content: results }] };
    },
  },
  {
    path: '/v1/chat/completions',
    fields: {
      reasoning_effort: 'low',
      tools: [{ type: 'function', function: { name: 'Edit', parameters: PARAMETERS } }],
      messages: [PROMPT],
    },
    next({ choices }, args) {
      const [message] = objectsIn(choices).map(({ message: said }) => Object(said));
      const tool_calls = objectsIn(message.tool_calls).map(({ id = '', type = '' }) => {
        return { id, type, function: { name: 'Edit', arguments: JSON.stringify(args) } };
      });
      const results = tool_calls.map(({ id }) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'done',
      }));
      return { messages: [PROMPT, { role: 'assistant', tool_calls }, ...results] };
    },
  },
  {
    path: '/v1/responses',
    fields: {
      store: false,
      tools: [{ type: 'function', name: 'Edit', parameters: PARAMETERS }],
      input: [PROMPT],
    },
    next({ output }, args) {
      const calls = objectsIn(output).filter(({ type }) => type === 'function_call');
      const items = calls.flatMap((call) => [
        { ...call, arguments: JSON.stringify(args) },
        { type: 'function_call_output', call_id: call.call_id ?? '', output: 'done' },
      ]);
      return { input: [PROMPT, ...items] };
    },
  },
];

test.each(SURFACES)('of $path the call goes back as it was signed', async (surface) => {
  const first = await ask(surface, {});
  const next = await ask(surface, surface.next(first.body, { replace_all: false, path: 'a' }));
  expect([next.status, next.attempts]).toEqual([200, '1']);
});

test.each(SURFACES)('of $path another value is the client’s own', async (surface) => {
  const first = await ask(surface, {});
  const next = await ask(surface, surface.next(first.body, { replace_all: true, path: 'a' }));
  expect([next.status, next.attempts]).toEqual([200, '2']);
});

async function ask({ path, fields }: Surface, change: JsonObject) {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'alpha-3-flash', ...fields, ...change }),
  });
  const body: JsonObject = Object(await answer.json());
  return { status: answer.status, attempts: answer.headers.get('x-isthmus-attempts'), body };
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
