import { expect, test } from 'vitest';
import { requestOf } from '../../test/support/canonical.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { FunctionTool } from '../canonical/request.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { HeldMemory } from '../stream/held-memory.ts';
import { createAnswerRules } from '../transforms/answer/index.ts';
import { TranslatedText, translateReply } from './lanes.ts';
import { StreamObserver, TokenEstimator } from './stream-observer.ts';

const SIGNATURE = { value: 'S', family: 'alpha', on: 'tool-call' } as const;
const TOOL: FunctionTool = {
  kind: 'function',
  name: 'Count',
  parameters: { type: 'object', properties: { to: { type: 'integer' } } },
};

const USAGE = { ...NO_USAGE, promptTokens: 1, answerTokens: 1 };

/** An answer of one call, by a near name, with an id no client should see and a number as text. */
const ANSWER: readonly CanonicalEvent[] = [
  { kind: 'start' },
  {
    kind: 'block-start',
    index: 0,
    choice: 0,
    block: { kind: 'tool-call', id: 'odd id', name: 'count', signature: SIGNATURE },
  },
  { kind: 'block-delta', index: 0, delta: { kind: 'arguments', json: '{"to":"3"}' } },
  { kind: 'block-end', index: 0 },
];
const ENDING: readonly CanonicalEvent[] = [
  { kind: 'usage', usage: USAGE },
  { kind: 'finish', choices: [{ choice: 0, reason: 'tool-calls' }] },
];

function inputOf() {
  const keeper = new SignatureCache({ clock: createFakeClock() });
  const receipt = createReceipt();
  const decoder = { push: () => [...ANSWER], end: () => [...ENDING], usage: USAGE };
  const estimator = new TokenEstimator();
  const watch = new StreamObserver({ keeper, scope: 'key', estimator, estimatePrompt: () => 0 });
  watch.decoder = decoder;
  const { transform } = createAnswerRules({
    request: requestOf({ tools: [TOOL] }),
    receipt,
    createId: (prefix) => `${prefix}1`,
  });
  const memory = new HeldMemory(undefined);
  const input = { frames: oneFrame(), decoder, watch, memory };
  return { input, rules: { transform }, keeper, receipt };
}

async function* oneFrame() {
  yield [{ text: '{}', value: {} }];
}

test('a reply holds the repaired call, and what was remembered is what the client sees', async () => {
  const { input, rules, keeper, receipt } = inputOf();
  const reply = await translateReply(input, rules);
  expect(reply.choices[0]?.blocks).toMatchObject([
    { kind: 'tool-call', id: 'call_1', name: 'Count', input: { to: 3 } },
  ]);
  expect(keeper.lookup('key', { kind: 'call', id: 'call_1', name: 'Count' })).toMatchObject({
    signature: SIGNATURE,
  });
  expect(keeper.lookup('key', { kind: 'call', id: 'odd id', name: 'count' })).toBeUndefined();
  expect(receipt.entries.map(({ path }) => path)).toEqual([
    'tool_calls.Count',
    'tool_calls.Count.to',
  ]);
});

test('a stream writes the repaired call, and its opening is the commit point', async () => {
  const { input, rules, keeper } = inputOf();
  const written: CanonicalEvent[] = [];
  const chunks = new TranslatedText(input, rules, {
    contentType: 'text/event-stream',
    keepAlive: () => '',
    write: (event) => {
      written.push(event);
      return event.kind;
    },
  });
  for await (const chunk of chunks) expect(chunk).not.toBe('');
  expect(written[1]).toMatchObject({ block: { id: 'call_1', name: 'Count' } });
  expect(written[2]).toMatchObject({ delta: { json: '{"to":3}' } });
  expect(written.map((event) => event.kind)).toEqual([
    'start',
    'block-start',
    'block-delta',
    'block-end',
    'usage',
    'finish',
  ]);
  expect(keeper.lookup('key', { kind: 'call', id: 'call_1', name: 'Count' })).toMatchObject({
    signature: SIGNATURE,
  });
});
