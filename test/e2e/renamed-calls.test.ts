// Calls under names that no tool was declared by, on the native surface.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';

const MODEL = 'gemini-3-flash-preview';
const DECLARED = 'mcp__fs__read_file';
const ARGS = { path: '/etc/motd', mcp__fs__readFile: 'fs__read_file' };

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

const QUESTION = { role: 'user', parts: [{ text: 'Read it.' }] };

function ask(method: string, contents: readonly JsonObject[]): Promise<Response> {
  return fetch(`${gateway.url}/v1beta/models/${MODEL}:${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      contents,
      tools: [{ functionDeclarations: [{ name: DECLARED }, { name: 'mcp__fs__write_file' }] }],
    }),
  });
}

function answerWith(name: string): void {
  const call = { functionCall: { id: 'c1', name, args: ARGS }, thoughtSignature: 'c2lnbmF0dXJl' };
  upstream.script({
    model: () => ({
      kind: 'frames',
      frames: [
        {
          candidates: [
            { index: 0, content: { role: 'model', parts: [call] }, finishReason: 'STOP' },
          ],
        },
      ],
    }),
  });
}

function callIn(answer: unknown): JsonValue | undefined {
  const text = JSON.stringify(answer);
  const [candidate] =
    isJsonObject(answer) && Array.isArray(answer.candidates) ? answer.candidates : [];
  const content =
    isJsonObject(candidate) && isJsonObject(candidate.content) ? candidate.content : {};
  const [part] = Array.isArray(content.parts) ? content.parts : [];
  expect(isJsonObject(part), text).toBe(true);
  return part;
}

test.each([
  'fs__read_file',
  'mcp__fs__readFile',
  'mcp__fs__read_a_file',
  'fs.read_file',
  'read_file',
])(
  'C5: a native call of %s reaches the declared tool, whole and streamed, arguments untouched',
  async (name) => {
    answerWith(name);
    const whole = await ask('generateContent', [QUESTION]);
    expect(whole.headers.get('x-isthmus-receipt')).toBe('dropped=0;approximated=0;repaired=1');
    const part = callIn(await whole.json());
    expect(part).toMatchObject({ functionCall: { id: 'c1', name: DECLARED, args: ARGS } });
    const stream = await (await ask('streamGenerateContent?alt=sse', [QUESTION])).text();
    expect(callIn(JSON.parse(stream.replace(/^data: /, '')))).toEqual(part);
  },
);

test('C5: the call goes back under the name it was given, with its signature', async () => {
  answerWith('fs__read_file');
  const answer = await (await ask('generateContent', [QUESTION])).json();
  const part = callIn(answer);
  const { thoughtSignature, ...bare } = isJsonObject(part) ? part : {};
  const response = { functionResponse: { id: 'c1', name: DECLARED, response: { ok: true } } };
  const history = [QUESTION, { role: 'model', parts: [bare] }, { role: 'user', parts: [response] }];
  expect((await ask('generateContent', history)).status).toBe(200);
  const sent = upstream.calls.at(-1)?.body.contents;
  const turn = Array.isArray(sent) ? sent[1] : undefined;
  expect(turn).toMatchObject({
    parts: [{ functionCall: { id: 'c1', name: DECLARED, args: ARGS }, thoughtSignature }],
  });
});

test('C5: names that fit none or two, and declared ones, stay as they came', async () => {
  for (const name of [DECLARED, 'mcp__fs__delete_file', 'web__read_file', 'file']) {
    answerWith(name);
    const answer = await ask('generateContent', [QUESTION]);
    expect(answer.headers.get('x-isthmus-receipt')).toBeNull();
    expect(callIn(await answer.json())).toMatchObject({ functionCall: { name } });
  }
});
