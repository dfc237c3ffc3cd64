// An upstream that takes a call with the arguments it signed and with no others, and no stand-in.

import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import {
  errorBody,
  frameOf,
  type ScriptedCall,
  type ScriptedReply,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.ts';

/** One that searches beside functions, and tells what it searched. */
const MODEL = 'gemini-3-flash-preview';
const SIGNATURE = 'c2lnbmF0dXJl';
const ARGS = { command: 'cd /repo && make' };
/** What the upstream searched before the call. */
const FOUND = [
  { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', id: 's1', args: { queries: ['make'] } } },
  { toolResponse: { toolType: 'GOOGLE_SEARCH_WEB', id: 's1', response: {} } },
];
const PROMPT = { role: 'user', content: 'Build it.' };
const SCHEMA = { type: 'object', properties: { command: { type: 'string' } } };
const TOOLS = [
  { name: 'Bash', input_schema: SCHEMA },
  { type: 'web_search_20250305', name: 'web_search' },
];

let upstream: ScriptedUpstream;
let gateway: PoolApp;
beforeAll(async () => {
  upstream = await startScriptedUpstream([MODEL]);
  gateway = await startPoolApp({
    environment: {
      UPSTREAM_PROFILE: 'generic',
      ISTHMUS_UPSTREAM_VOCABULARY: 'real',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'key.one',
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.script({ model: answer }));

/** Calls the tool; once that is done says so, where the call came back as it was signed. */
function answer({ body }: ScriptedCall): ScriptedReply {
  const calls = callsOf(body);
  if (calls.length === 0) {
    const call = { functionCall: { id: 'u1', name: 'Bash', args: ARGS } };
    return { kind: 'frames', frames: [said([...FOUND, { ...call, thoughtSignature: SIGNATURE }])] };
  }
  const isGenuine = calls.every(
    (part) =>
      part.thoughtSignature === SIGNATURE &&
      isDeepStrictEqual(Object(part.functionCall).args, ARGS),
  );
  if (isGenuine) return { kind: 'answer' };
  return { kind: 'status', status: 400, body: errorBody(400, 'Corrupted thought signature.') };
}

function said(parts: JsonObject[]): JsonObject {
  const frame = frameOf('', 'STOP');
  const candidates = [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts } }];
  return { ...frame, candidates };
}

function partsOf({ contents }: JsonObject): JsonObject[] {
  const turns = Array.isArray(contents) ? contents.filter(isJsonObject) : [];
  return turns.flatMap(({ parts }) => (Array.isArray(parts) ? parts.filter(isJsonObject) : []));
}

function callsOf(body: JsonObject): JsonObject[] {
  return partsOf(body).filter(({ functionCall }) => functionCall !== undefined);
}

async function ask(path: string, fields: JsonObject) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  const body: JsonObject = Object(await response.json());
  const { status, headers } = response;
  const receipt = headers.get('x-isthmus-receipt') ?? '';
  return { status, body, receipt, attempts: headers.get('x-isthmus-attempts') };
}

/** The second request of a tool loop by Messages, with these arguments in place of those the call came with. */
async function goOn(input: JsonObject, betweenTurns = async () => undefined as unknown) {
  const fields = { model: MODEL, max_tokens: 4000, tools: TOOLS };
  const first = await ask('/v1/messages', { ...fields, messages: [PROMPT] });
  await betweenTurns();
  const blocks: JsonValue[] = Array.isArray(first.body.content) ? first.body.content : [];
  const returned = blocks.filter(isJsonObject).map((block) => {
    const { signature, ...unsigned } = block;
    return block.type === 'tool_use' ? { ...unsigned, input } : block;
  });
  const results = returned.flatMap(({ type, id = '' }) =>
    type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'made' }] : [],
  );
  const turns = [
    { role: 'assistant', content: returned },
    { role: 'user', content: results },
  ];
  return ask('/v1/messages', { ...fields, messages: [PROMPT, ...turns] });
}

test('a call its client returns with other arguments goes back as it was issued, once nothing else is taken', async () => {
  const next = await goOn({ command: 'make' });
  expect([next.status, next.attempts]).toEqual([200, '3']);
  expect(next.receipt).toContain('approximated=');
  const sent = upstream.calls.slice(1).map(({ body }) => callsOf(body)[0]);
  expect(sent.map((part) => Object(part?.functionCall).args)).toEqual([
    { command: 'make' },
    { command: 'make' },
    ARGS,
  ]);
});

test('a refusal of what came back as it was issued stays one', async () => {
  upstream.script({
    model: (call) =>
      callsOf(call.body).length === 0
        ? answer(call)
        : { kind: 'status', status: 400, body: errorBody(400, 'Corrupted thought signature.') },
  });
  const next = await goOn(ARGS);
  expect([next.status, next.attempts]).toEqual([400, '2']);
});

test('what the upstream did before a call goes back with it after a restart', async () => {
  const next = await goOn(ARGS, () => gateway.restart());
  expect(next.status).toBe(200);
  const [request] = upstream.calls.slice(-1);
  const sent = partsOf(request?.body ?? {}).filter((part) => part.text === undefined);
  expect(sent.slice(0, 3)).toMatchObject([...FOUND, { thoughtSignature: SIGNATURE }]);
});

test('arguments are forgotten with a restart: those the client returns go up, and a refusal is told', async () => {
  const next = await goOn({ command: 'make' }, () => gateway.restart());
  expect([next.status, next.attempts]).toEqual([400, '2']);
  expect(JSON.stringify(next.body)).toContain('refused a thought signature');
  const sent = upstream.calls.slice(1).map(({ body }) => callsOf(body)[0]);
  expect(sent.map((part) => Object(part?.functionCall).args)).toEqual([
    { command: 'make' },
    { command: 'make' },
  ]);
});

test('what the upstream did before a call goes back for Chat clients, that return no signature, too', async () => {
  const fields = {
    model: MODEL,
    tools: [{ type: 'function', function: { name: 'Bash', parameters: SCHEMA } }],
    web_search_options: {},
  };
  const path = '/v1/chat/completions';
  await ask(path, { ...fields, messages: [PROMPT] });
  await gateway.restart();
  const call = { name: 'Bash', arguments: JSON.stringify(ARGS) };
  const turns = [
    { role: 'assistant', tool_calls: [{ id: 'u1', type: 'function', function: call }] },
    { role: 'tool', tool_call_id: 'u1', content: 'made' },
  ];
  const next = await ask(path, { ...fields, messages: [PROMPT, ...turns] });
  expect(next.status).toBe(200);
  const [request] = upstream.calls.slice(-1);
  const sent = partsOf(request?.body ?? {}).filter((part) => part.text === undefined);
  expect(sent.slice(0, 3)).toMatchObject([...FOUND, { thoughtSignature: SIGNATURE }]);
});

test('a call of a native client goes back as it was issued, too', async () => {
  const path = `/v1beta/models/${MODEL}:generateContent`;
  const question = { role: 'user', parts: [{ text: 'Build it.' }] };
  await ask(path, { contents: [question] });
  const functionCall = { id: 'u1', name: 'Bash', args: { command: 'make' } };
  const functionResponse = { id: 'u1', name: 'Bash', response: { output: 'made' } };
  const next = await ask(path, {
    contents: [
      question,
      { role: 'model', parts: [{ functionCall, thoughtSignature: SIGNATURE }] },
      { role: 'user', parts: [{ functionResponse }] },
    ],
  });
  expect(next.status).toBe(200);
  const [request] = upstream.calls.slice(-1);
  expect(callsOf(request?.body ?? {})).toEqual([
    { functionCall: { ...functionCall, args: ARGS }, thoughtSignature: SIGNATURE },
  ]);
});
