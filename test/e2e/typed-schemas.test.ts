// Values of which no member is declared: in their own types where the upstream takes JSON Schema, else as texts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import {
  frameOf,
  type ScriptedCall,
  type ScriptedReply,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.ts';

const MODEL = 'alpha-3-flash';
const PROFILES = ['sandbox', 'generic'] as const;
type Profile = (typeof PROFILES)[number];

const MEMBERS: JsonObject = {
  type: 'object',
  properties: {
    scores: { type: 'object', additionalProperties: { type: 'number' } },
    any: {},
    level: { type: 'integer', enum: [1, 2] },
  },
  required: ['scores', 'any', 'level'],
  additionalProperties: false,
};
const MAP: JsonObject = { type: 'object', additionalProperties: {} };

/** What the model means, and how it writes that where it has only texts for it. `any` is a text here. */
const MEANT = { scores: { a: 1.5 }, any: '5', level: 2 };
const IN_TEXTS = { scores: '{"a":1.5}', any: '"5"', level: '2' };
const MAP_MEANT = { entries: '{"a":1}' };

interface Wish {
  readonly kind: 'call' | 'answer';
  readonly schema: JsonObject;
  readonly stream: boolean;
}

interface Surface {
  readonly path: string;
  body(wish: Wish): JsonObject;
  /** The text or the arguments, of a whole answer or of all events of a stream. */
  read(shown: JsonValue, kind: Wish['kind']): string;
}

const SURFACES: Readonly<Record<string, Surface>> = {
  chat: {
    path: '/v1/chat/completions',
    body: ({ kind, schema }) => ({
      messages: [{ role: 'user', content: 'Go' }],
      ...(kind === 'call'
        ? { tools: [{ type: 'function', function: { name: 'w', parameters: schema } }] }
        : { response_format: { type: 'json_schema', json_schema: { name: 'f', schema } } }),
    }),
    read: (shown, kind) => valuesOf(shown, kind === 'call' ? 'arguments' : 'content'),
  },
  responses: {
    path: '/v1/responses',
    body: ({ kind, schema }) => ({
      input: 'Go',
      ...(kind === 'call'
        ? { tools: [{ type: 'function', name: 'w', parameters: schema }] }
        : { text: { format: { type: 'json_schema', name: 'f', schema } } }),
    }),
    read: (shown, kind) => {
      const deltas = eventsOf(shown, /(output_text|arguments)\.delta$/);
      if (deltas !== undefined) return valuesOf(deltas, 'delta');
      const output = isJsonObject(shown) ? (shown.output ?? null) : null;
      return valuesOf(output, kind === 'call' ? 'arguments' : 'text');
    },
  },
  messages: {
    path: '/v1/messages',
    body: ({ kind, schema }) => ({
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Go' }],
      ...(kind === 'call'
        ? { tools: [{ name: 'w', input_schema: schema }] }
        : { output_config: { format: { type: 'json_schema', schema } } }),
    }),
    read: (shown, kind) => {
      const deltas = eventsOf(shown, /^content_block_delta$/);
      if (deltas !== undefined) return valuesOf(deltas, kind === 'call' ? 'partial_json' : 'text');
      if (kind === 'answer') return valuesOf(shown, 'text');
      const content = isJsonObject(shown) && Array.isArray(shown.content) ? shown.content : [];
      const call = content.find((block) => isJsonObject(block) && block.type === 'tool_use');
      return JSON.stringify(isJsonObject(call) ? call.input : null);
    },
  },
};

let upstream: ScriptedUpstream;
const apps = new Map<Profile, Omit<TestApp, 'sandbox'>>();
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  for (const profile of PROFILES) {
    const environment = {
      UPSTREAM_PROFILE: profile,
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'key.a',
    };
    apps.set(profile, await startGateway({ environment }));
  }
  upstream.script({ model: play });
});
afterAll(async () => {
  for (const app of apps.values()) await app.close();
  await upstream.close();
});

/** Answers as the body asks for it; a stream comes in two pieces. */
function play({ body, stream }: ScriptedCall): ScriptedReply {
  const asked = JSON.stringify(body.tools ?? body.generationConfig);
  const isTyped = asked.includes('JsonSchema');
  const isMap = !asked.includes('scores');
  if (body.tools !== undefined) {
    const wrapped = { entries: JSON.stringify(MAP_MEANT) };
    const args = isMap ? (isTyped ? MAP_MEANT : wrapped) : isTyped ? MEANT : IN_TEXTS;
    const frame = frameOf('', 'STOP');
    const content = { role: 'model', parts: [{ functionCall: { name: 'w', args } }] };
    return {
      kind: 'frames',
      frames: [{ ...frame, candidates: [{ index: 0, content, finishReason: 'STOP' }] }],
    };
  }
  const text = JSON.stringify(isMap ? MAP_MEANT : isTyped ? MEANT : IN_TEXTS);
  if (!stream) return { kind: 'frames', frames: [frameOf(text, 'STOP')] };
  return { kind: 'frames', frames: [frameOf(text.slice(0, 9)), frameOf(text.slice(9), 'STOP')] };
}

async function ask(profile: Profile, surface: Surface, wish: Wish) {
  const answer = await fetch(`${apps.get(profile)?.url}${surface.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, stream: wish.stream, ...surface.body(wish) }),
  });
  const text = await answer.text();
  const shown = wish.stream ? readEvents(text) : parseJson(text);
  return {
    value: parseJson(surface.read(shown, wish.kind)),
    receipt: answer.headers.get('x-isthmus-receipt'),
    sent: upstream.calls.at(-1)?.body ?? {},
    text,
  };
}

function readEvents(text: string): JsonValue[] {
  const events = text.split('\n').filter((line) => /^data: ?\{/.test(line));
  return events.map((line) => parseJson(line.slice(line.indexOf('{'))));
}

/** The events of a stream whose type is so; undefined for a whole answer. */
function eventsOf(shown: JsonValue, type: RegExp): JsonValue[] | undefined {
  if (!Array.isArray(shown)) return undefined;
  return shown.filter((event) => isJsonObject(event) && type.test(String(event.type)));
}

/** All texts under a key, at any depth, joined. */
function valuesOf(value: JsonValue, key: string): string {
  if (Array.isArray(value)) return value.map((item) => valuesOf(item, key)).join('');
  if (!isJsonObject(value)) return '';
  const own = value[key];
  if (typeof own === 'string') return own;
  return Object.values(value)
    .map((item) => valuesOf(item, key))
    .join('');
}

const cases = Object.keys(SURFACES).flatMap((name) =>
  (['call', 'answer'] as const).flatMap((kind) =>
    [false, true].map((stream) => ({ name, kind, stream })),
  ),
);

describe.each(PROFILES)('over an upstream of the profile %s', (profile) => {
  const isTyped = profile === 'sandbox';

  test.each(cases)('$name: a $kind has its own types (streamed: $stream)', async (each) => {
    const surface = SURFACES[each.name];
    if (surface === undefined) throw new Error('no such surface');
    const members = await ask(profile, surface, { ...each, schema: MEMBERS });
    expect(members.value).toEqual(MEANT);
    expect(JSON.stringify(members.sent).includes('JsonSchema')).toBe(isTyped);
    expect(members.receipt === null).toBe(isTyped);
    const map = await ask(profile, surface, { ...each, schema: MAP });
    expect(map.value).toEqual(MAP_MEANT);
    expect(JSON.stringify(map.sent).includes('JsonSchema')).toBe(isTyped);
    expect(map.receipt === null).toBe(isTyped);
  });
});

test('an answer in its own types is passed on piece by piece', async () => {
  const { chat } = SURFACES;
  if (chat === undefined) throw new Error('no such surface');
  const wish: Wish = { kind: 'answer', schema: MEMBERS, stream: true };
  const pieces = (text: string): number => text.match(/"content":"[^"]/g)?.length ?? 0;
  expect(pieces((await ask('sandbox', chat, wish)).text)).toBe(2);
  expect(pieces((await ask('generic', chat, wish)).text)).toBe(1);
});

test('one tool may be declared in one form and the next in the other', async () => {
  const plain = { type: 'object', properties: { c: { type: 'string' } } };
  const tool = (name: string, input_schema: JsonObject) => ({ name, input_schema });
  const answer = await fetch(`${apps.get('sandbox')?.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: MODEL,
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'w', input: { a: 1 } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
      ],
      tools: [tool('plain', plain), tool('w', MAP)],
    }),
  });
  expect(answer.status).toBe(200);
  const body = upstream.calls.at(-1)?.body;
  expect(body).toMatchObject({
    tools: [
      {
        functionDeclarations: [
          { name: 'plain', parameters: plain },
          { name: 'w', parametersJsonSchema: { type: 'object', additionalProperties: true } },
        ],
      },
    ],
    contents: [{}, { parts: [{ functionCall: { name: 'w', args: { a: 1 } } }] }, {}],
  });
});
