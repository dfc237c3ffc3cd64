// Answers that end at a stop sequence before their first word, and such whose usage the upstream never told.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import {
  frameOf,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.ts';
import {
  checkStreamText,
  type StreamSurface,
} from '../support/stream-grammar/check-stream-text.ts';

const MODEL = 'alpha-3-flash';
const ASKED = [{ role: 'user', content: 'Say something' }];

let upstream: ScriptedUpstream;
let app: Omit<TestApp, 'sandbox'>;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  app = await startGateway({
    environment: { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'key.a,key.b' },
  });
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

interface Surface {
  readonly name: StreamSurface;
  path(stream: boolean): string;
  body(stops: readonly string[], stream: boolean): object;
  /** What the whole answer holds when it is empty. */
  readonly empty: object;
}

const streamed = (stream: boolean) =>
  stream ? { stream, stream_options: { include_usage: true } } : { stream };

const SURFACES: readonly Surface[] = [
  {
    name: 'chat',
    path: () => '/v1/chat/completions',
    body: (stop, stream) => ({ ...streamed(stream), model: MODEL, stop, messages: ASKED }),
    empty: { choices: [{ message: { content: '', refusal: null }, finish_reason: 'stop' }] },
  },
  {
    name: 'completions',
    path: () => '/v1/completions',
    body: (stop, stream) => ({ ...streamed(stream), model: MODEL, stop, prompt: 'Say something' }),
    empty: { choices: [{ text: '', finish_reason: 'stop' }] },
  },
  {
    name: 'messages',
    path: () => '/v1/messages',
    body: (stop_sequences, stream) => ({
      ...{ model: MODEL, stream, max_tokens: 50, messages: ASKED },
      stop_sequences,
    }),
    empty: { content: [], stop_reason: 'end_turn', stop_sequence: null },
  },
  {
    name: 'generate',
    path: (stream) =>
      `/v1beta/models/${MODEL}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (stopSequences) => ({
      contents: [{ role: 'user', parts: [{ text: 'Say something' }] }],
      generationConfig: { stopSequences },
    }),
    empty: { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }] },
  },
];

async function ask(surface: Surface, stops: readonly string[], stream: boolean) {
  const answer = await fetch(`${app.url}${surface.path(stream)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(surface.body(stops, stream)),
  });
  return { status: answer.status, text: await answer.text() };
}

function objectOf(text: string): JsonObject {
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}

describe('an answer that the upstream ended at a stop sequence before its first word', () => {
  beforeEach(() => {
    upstream.script({ model: () => ({ kind: 'frames', frames: [frameOf('', 'STOP')] }) });
  });

  test.each(SURFACES)('$name: is whole, empty and asked for once', async (surface) => {
    const { status, text } = await ask(surface, ['END'], false);
    expect(status).toBe(200);
    expect(objectOf(text)).toMatchObject(surface.empty);
    expect(upstream.calls).toHaveLength(1);
  });

  test.each(SURFACES)('$name: streams nothing and ends well', async (surface) => {
    const { status, text } = await ask(surface, ['END'], true);
    expect(status).toBe(200);
    expect(checkStreamText(surface.name, text)).toBe('success');
    expect(upstream.calls).toHaveLength(1);
  });

  test.each(SURFACES)('$name: stays an error where nothing could stop it', async (surface) => {
    expect((await ask(surface, [], false)).status).toBe(502);
    expect((await ask(surface, [], true)).status).toBe(502);
  });
});

test.each([false, true])(
  'one the gateway cut at its first word names the sequence (stream %s)',
  async (stream) => {
    const frames = stream ? [frameOf('EN'), frameOf('D more', 'STOP')] : [frameOf('END', 'STOP')];
    upstream.script({ model: () => ({ kind: 'frames', frames }) });
    const [chat, , messages] = SURFACES;
    if (chat === undefined || messages === undefined) throw new Error('No such surface.');
    const { status, text } = await ask(messages, ['END'], stream);
    expect(status).toBe(200);
    expect(text).toContain('"stop_reason":"stop_sequence","stop_sequence":"END"');
    expect(text).not.toContain('content_block');
    if (!stream) expect(objectOf(text).content).toEqual([]);
    expect((await ask(chat, ['END'], stream)).text).toContain('"finish_reason":"stop"');
    expect(upstream.calls).toHaveLength(2);
  },
);

const UNTOLD = /"(?:input|output|prompt|completion|total)_tokens":0/;
const silent = (text: string, reason?: string): JsonObject => ({
  ...frameOf(text, reason),
  usageMetadata: {},
});

describe('an answer that ends well and never tells its usage', () => {
  beforeEach(() => {
    const frames = [silent('One two three ', 'STOP')];
    upstream.script({ model: () => ({ kind: 'frames', frames }) });
  });

  test.each(SURFACES.slice(0, 3))(
    '$name: shows an estimate, whole and streamed',
    async (surface) => {
      for (const stream of [false, true]) {
        const { text } = await ask(surface, [], stream);
        const usage = text.slice(text.lastIndexOf('"usage":{'));
        expect(usage).toMatch(/(?:input|prompt)_tokens/);
        expect(usage).not.toMatch(UNTOLD);
      }
    },
  );

  test('generate: is passed on as it came', async () => {
    const native = SURFACES[3];
    if (native === undefined) throw new Error('No such surface.');
    for (const stream of [false, true]) {
      const { status, text } = await ask(native, [], stream);
      expect(status).toBe(200);
      expect(text).not.toContain('promptTokenCount');
    }
  });
});

describe('a stream the gateway ends before the upstream tells its usage', () => {
  beforeEach(() => {
    const frames = [silent('One two three '), silent('END and more')];
    upstream.script({ model: () => ({ kind: 'frames', frames }) });
  });

  test.each(SURFACES.slice(0, 3))('$name: tells an estimate', async (surface) => {
    const { text } = await ask(surface, ['END'], true);
    expect(checkStreamText(surface.name, text)).toBe('success');
    const usage = text.slice(text.lastIndexOf('"usage":{'));
    expect(usage).toMatch(/(?:input|prompt)_tokens/);
    expect(usage).not.toMatch(UNTOLD);
    expect(text).not.toContain('isEstimate');
  });

  test('messages: ends with the prompt it began with', async () => {
    const [, , messages] = SURFACES;
    if (messages === undefined) throw new Error('No such surface.');
    const { text } = await ask(messages, ['END'], true);
    const counts = [...text.matchAll(/"input_tokens":(\d+)/g)].map(([, count]) => count);
    expect(new Set(counts).size).toBe(1);
    expect(counts).toHaveLength(2);
  });
});
