// Accepted translations of thinking in Messages requests: budgets, history and signatures.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeCarrier } from '../../src/canonical/signatures.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { translate } from '../support/translate.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const GO = { role: 'user', content: 'go' };
const GO_UPSTREAM = { role: 'user', parts: [{ text: 'go' }] };
const ENABLED = { type: 'enabled', budget_tokens: 1024 };
const SIGNATURE = 'EpQBCpEBAUyWqh3QWm5xWm5xWm5xWm5xWm5xWm5xWm5xWm5xWm5xWm5xZw==';
const TEXT = { type: 'text', text: 'x' };
const PLAIN_HISTORY = [GO_UPSTREAM, { role: 'model', parts: [{ text: 'x' }] }, GO_UPSTREAM];

/** Models of both vocabularies, the neutral name of each and whose signatures it takes. */
const MODELS = [
  ['alpha-3-flash', 'alpha'],
  ['gemini-3-flash', 'alpha'],
  ['beta-opus-4-6-thinking', 'beta'],
  ['claude-opus-4-6-thinking', 'beta'],
] as const;

describe.each(MODELS)('%s', (model, family) => {
  const signature = writeCarrier({ value: SIGNATURE, family, on: 'thinking' });
  const thought = { type: 'thinking', thinking: 'hm', signature };

  /** What is sent upstream for history with these blocks in the assistant's turn. */
  const replay = (content: JsonObject[], thinking: JsonObject) => {
    const messages = [GO, { role: 'assistant', content }, GO];
    return send({ model, max_tokens: 5000, messages, thinking });
  };

  test('V022 a signed thought goes back with its signature', async () => {
    const { body, receipt } = await replay([thought, TEXT], ENABLED);
    const parts = [{ text: 'hm', thought: true, thoughtSignature: SIGNATURE }, { text: 'x' }];
    expect(body.contents).toEqual([GO_UPSTREAM, { role: 'model', parts }, GO_UPSTREAM]);
    expect(receipt).toEqual([]);
  });

  test.each([
    ['with a signature', { type: 'thinking', thinking: '', signature }],
    ['without a signature', { type: 'thinking', thinking: '', signature: '' }],
    ['whose text the client left out (P011)', { type: 'thinking', signature }],
  ])('V025 an empty thought %s is not sent', async (_kind, empty) => {
    const { body } = await replay([empty, TEXT], ENABLED);
    expect(body.contents).toEqual(PLAIN_HISTORY);
  });

  test('V026 redacted thinking is left out, and the receipt says so', async () => {
    const { body, receipt } = await replay(
      [{ type: 'redacted_thinking', data: 'zz' }, TEXT],
      ENABLED,
    );
    expect(body.contents).toEqual(PLAIN_HISTORY);
    expect(receipt).toEqual([
      {
        path: 'messages',
        action: 'dropped',
        reason: expect.objectContaining({ text: expect.stringContaining('redacted') }),
      },
    ]);
  });

  test('V027 with thinking disabled history is text alone', async () => {
    const { body } = await replay([thought, TEXT], { type: 'disabled' });
    expect(body).toEqual({ contents: PLAIN_HISTORY, generationConfig: { maxOutputTokens: 5000 } });
  });

  test('V028 a budget goes on as it is, beside the limit', async () => {
    const thinking = { type: 'enabled', budget_tokens: 8192 };
    const { body, receipt } = await send({ model, max_tokens: 20_000, messages: [GO], thinking });
    expect(body).toEqual({
      contents: [GO_UPSTREAM],
      generationConfig: {
        thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
        maxOutputTokens: 20_000,
      },
    });
    expect(receipt).toEqual([]);
  });

  test.each([
    ['low', 8192],
    ['medium', 16_384],
    ['high', 24_576],
  ])('V032 effort %s is a budget of %i', async (effort, thinkingBudget) => {
    const fields = { model, max_tokens: 30_000, messages: [GO], output_config: { effort } };
    const { body } = await send(fields);
    expect(body.generationConfig).toEqual({
      thinkingConfig: { includeThoughts: true, thinkingBudget },
      maxOutputTokens: 30_000,
    });
    const adaptive = await send({ ...fields, thinking: { type: 'adaptive' } });
    expect(adaptive.body).toEqual(body);
  });

  test('V042 unsigned tool history with the stand-in keeps thinking on', async () => {
    const call = { type: 'tool_use', id: 't1', name: 'get', input: {} };
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'ok' };
    const messages = [
      GO,
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ];
    const { body } = await send({ model, max_tokens: 5000, messages, thinking: ENABLED });
    expect(body.generationConfig).toEqual({
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
      maxOutputTokens: 5000,
    });
    expect(body.contents).toContainEqual({
      role: 'model',
      parts: [
        {
          functionCall: { id: 't1', name: 'get', args: {} },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ],
    });
  });
});

test.each(['alpha-3-flash', 'gemini-3-flash'])(
  'V029 a budget above the cap of %s is the cap, and the receipt says so',
  async (model) => {
    const thinking = { type: 'enabled', budget_tokens: 40_000 };
    const { body, receipt } = await send({ model, max_tokens: 60_000, messages: [GO], thinking });
    expect(body.generationConfig).toEqual({
      thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 },
      maxOutputTokens: 60_000,
    });
    expect(receipt).toEqual([
      {
        path: 'thinking',
        action: 'capped',
        reason: expect.objectContaining({ text: expect.any(String) }),
      },
    ]);
  },
);

test.each(['alpha-3-pro-high', 'gemini-3-pro-high'])(
  'V031 adaptive thinking of %s is a fixed budget and no level',
  async (model) => {
    const thinking = { type: 'adaptive' };
    const { body } = await send({ model, max_tokens: 30_000, messages: [GO], thinking });
    expect(body.generationConfig).toEqual({
      thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 },
      maxOutputTokens: 30_000,
    });
  },
);

test.each(['alpha-3-pro-image', 'gemini-3-pro-image'])(
  'V033 adaptive thinking of %s, which does not think, is left out',
  async (model) => {
    const thinking = { type: 'adaptive' };
    const { body, receipt } = await send({ model, max_tokens: 50, messages: [GO], thinking });
    expect(body).toEqual({ contents: [GO_UPSTREAM], generationConfig: { maxOutputTokens: 50 } });
    expect(receipt).toEqual([
      {
        path: 'thinking',
        action: 'dropped',
        reason: expect.objectContaining({ text: expect.any(String) }),
      },
    ]);
  },
);

function send(body: JsonObject) {
  return translate(app.url, { protocol: 'messages', body });
}
