// The client's own limit on an answer whose limit upstream was raised for thinking, on every surface.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { checkStreamText } from '../support/stream-grammar/check-stream-text.ts';

const MODEL = 'gemini-2.5-pro';
const ASKED = [{ role: 'user', content: 'Say something' }];
const WORDS = 5000;
const PIECE = 25;

let upstream: ScriptedUpstream;
let app: Omit<TestApp, 'sandbox'>;
beforeAll(async () => {
  upstream = await startScriptedUpstream([MODEL]);
  app = await startGateway({
    environment: { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'key.a' },
  });
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const usageOf = (words: number): JsonObject => ({
  promptTokenCount: 3,
  candidatesTokenCount: words,
  thoughtsTokenCount: 20,
  totalTokenCount: words + 23,
});

/** So many words of one token each, after a thought. */
function framesOf(words: number, each: number, counts = true): JsonObject[] {
  const frames: JsonObject[] = [
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Hm.', thought: true }] } }] },
  ];
  for (let sent = 0; sent < words; sent += each) {
    const size = Math.min(each, words - sent);
    const isLast = sent + size === words;
    const parts = [{ text: 'word '.repeat(size) }];
    frames.push({
      candidates: [
        { content: { role: 'model', parts }, ...(isLast ? { finishReason: 'STOP' } : {}) },
      ],
      ...(counts || isLast ? { usageMetadata: usageOf(sent + size) } : {}),
    });
  }
  return frames;
}

function whole(words: number): JsonObject {
  const parts = [{ text: 'Hm.', thought: true }, { text: 'word '.repeat(words) }];
  const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP' }];
  return { candidates, usageMetadata: usageOf(words) };
}

const SURFACES = [
  {
    name: 'messages',
    path: '/v1/messages',
    body: { max_tokens: 50, thinking: { type: 'adaptive' }, messages: ASKED },
    ended: '"stop_reason":"max_tokens"',
  },
  {
    name: 'chat',
    path: '/v1/chat/completions',
    body: { max_tokens: 50, reasoning_effort: 'high', messages: ASKED },
    ended: '"finish_reason":"length"',
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: { max_output_tokens: 50, reasoning: { effort: 'high' }, input: 'Say something' },
    ended: '"incomplete_details":{"reason":"max_output_tokens"}',
  },
  {
    name: 'completions',
    path: '/v1/completions',
    body: { max_tokens: 50, prompt: 'Say something' },
    ended: '"finish_reason":"length"',
  },
] as const;

async function ask(surface: (typeof SURFACES)[number], stream: boolean): Promise<string> {
  const streamed = stream && surface.name !== 'responses' && surface.name !== 'messages';
  const answer = await fetch(`${app.url}${surface.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...surface.body,
      ...{ model: MODEL, stream },
      ...(streamed ? { stream_options: { include_usage: true } } : {}),
    }),
  });
  expect(answer.status).toBe(200);
  return answer.text();
}

/** Of a Responses stream the last event alone, which holds the whole text again. */
function wordsIn(surface: (typeof SURFACES)[number], text: string): number {
  const last = Math.max(0, text.lastIndexOf('event: '));
  const told = surface.name === 'responses' ? text.slice(last) : text;
  return told.split('word ').length - 1;
}

describe.each(SURFACES)('C8: $name', (surface) => {
  test.each([
    ['whole', false, true],
    ['streamed', true, true],
    ['streamed and counted at its end', true, false],
  ])('an answer of 5,000 tokens ends at 50: %s', async (_, stream, counts) => {
    const frames = stream ? framesOf(WORDS, PIECE, counts) : [whole(WORDS)];
    upstream.script({ model: () => ({ kind: 'frames', frames }) });
    const text = await ask(surface, stream);
    expect(text).toContain(surface.ended);
    expect(wordsIn(surface, text)).toBe(counts ? 50 : 80);
    if (stream) expect(checkStreamText(surface.name, text)).toBe('success');
    if (!counts || !stream) expect(text).toMatch(/"(?:output|completion)_tokens":5020/);
  });

  test.each([false, true])('one of 50 tokens is whole (stream %s)', async (stream) => {
    const frames = stream ? framesOf(50, PIECE) : [whole(50)];
    upstream.script({ model: () => ({ kind: 'frames', frames }) });
    const text = await ask(surface, stream);
    expect(text).not.toContain(surface.ended);
    expect(wordsIn(surface, text)).toBe(50);
  });
});
