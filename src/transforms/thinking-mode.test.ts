import { expect, test } from 'vitest';
import { capabilitiesOf, contextOf, requestOf, user } from '../../test/support/canonical.ts';
import type { ReasoningAmount, ThinkingCapability, ThinkingMode } from '../canonical/effort.ts';
import { receiptInClientNames } from '../canonical/receipt.ts';
import { applyTransforms } from './index.ts';

const BUDGET = { kind: 'budget', minTokens: 2048, maxTokens: 24_576, canDisable: true } as const;
const LEVEL = { kind: 'level', levels: ['LOW', 'HIGH'] } as const;

const CUSTOM: ThinkingMode = { kind: 'custom', tokens: 4096 };
const PASSTHROUGH: ThinkingMode = { kind: 'passthrough' };
const ADAPTIVE: ThinkingMode = { kind: 'adaptive' };

const budget = (tokens: number): ReasoningAmount => ({ kind: 'budget', tokens });
const HIGH: ReasoningAmount = { kind: 'effort', effort: 'high' };

function decide(
  amount: ReasoningAmount,
  thinkingMode: ThinkingMode,
  thinking: ThinkingCapability = BUDGET,
) {
  const context = contextOf({ thinkingMode, capabilities: capabilitiesOf({ thinking }) });
  const request = requestOf({ turns: [user('hi')], reasoning: { amount } });
  const done = applyTransforms(request, context);
  return { amount: done.reasoning.amount, entries: context.receipt.entries };
}

test.each<[ThinkingMode]>([[{ kind: 'auto' }], [PASSTHROUGH], [CUSTOM], [ADAPTIVE]])(
  'the mode %j touches only a request that asks for thinking',
  (mode) => {
    for (const amount of [{ kind: 'unset' }, { kind: 'off' }] as const) {
      expect(decide(amount, mode)).toEqual({ amount, entries: [] });
    }
  },
);

test.each([40_000, 100])('passthrough neither caps nor raises a budget of %i', (tokens) => {
  expect(decide(budget(tokens), PASSTHROUGH)).toEqual({
    amount: { kind: 'budget', tokens, isVerbatim: true },
    entries: [],
  });
});

test('passthrough fits everything but budgets to the model', () => {
  expect(decide(HIGH, PASSTHROUGH).amount).toEqual(budget(24_576));
  expect(decide(HIGH, PASSTHROUGH, LEVEL).amount).toEqual(HIGH);
});

test('passthrough does not lower a budget that leaves no room for an answer', () => {
  const capabilities = capabilitiesOf({ thinking: BUDGET, outputTokenLimit: 8192 });
  const reasoning = { amount: budget(10_000) };
  const request = requestOf({ turns: [user('hi')], reasoning, maxOutputTokens: 100 });
  const done = applyTransforms(request, contextOf({ thinkingMode: PASSTHROUGH, capabilities }));
  expect(done).toMatchObject({ maxOutputTokens: 8192, reasoning });
});

test.each<[ReasoningAmount]>([[budget(100)], [HIGH], [{ kind: 'adaptive' }]])(
  "custom puts the operator's budget in place of %j, and the receipt says so",
  (amount) => {
    expect(decide(amount, CUSTOM)).toMatchObject({
      amount: budget(4096),
      entries: [{ action: 'approximated', path: 'thinking' }],
    });
  },
);

test("P015 custom is capped by the model; it is no loss where the client's amount is the same", () => {
  const most: ThinkingMode = { kind: 'custom', tokens: 1_000_000 };
  expect(decide(budget(100), most)).toMatchObject({
    amount: budget(24_576),
    entries: [{ action: 'approximated', reason: { text: expect.stringContaining('24576') } }],
  });
  expect(decide(HIGH, most)).toEqual({ amount: budget(24_576), entries: [] });
});

test("receipts of the mode are under the client's own field", () => {
  const context = contextOf({ thinkingMode: CUSTOM });
  const request = requestOf({ turns: [user('hi')], reasoning: { amount: HIGH } });
  const receipt = receiptInClientNames({ thinking: 'reasoning_effort' }, context.receipt);
  applyTransforms(request, { ...context, receipt });
  expect(context.receipt.entries).toMatchObject([
    { action: 'approximated', path: 'reasoning_effort' },
  ]);
});

test('adaptive treats every amount as one the model decides', () => {
  expect(decide(budget(3000), ADAPTIVE)).toMatchObject({
    amount: budget(24_576),
    entries: [{ action: 'approximated', path: 'thinking' }],
  });
  expect(decide(HIGH, ADAPTIVE, LEVEL).amount).toEqual({ kind: 'unset' });
  expect(decide({ kind: 'adaptive' }, ADAPTIVE).entries).toEqual([]);
});

test('no mode makes a model think that cannot', () => {
  for (const mode of [PASSTHROUGH, CUSTOM, ADAPTIVE]) {
    expect(decide(HIGH, mode, { kind: 'none' }).amount).toEqual({ kind: 'unset' });
  }
});

test.each<[ThinkingCapability, ReasoningAmount, string[]]>([
  [{ ...BUDGET, isOptIn: true }, budget(24_576), []],
  [{ ...LEVEL, isAdaptive: true, isOptIn: true }, { kind: 'adaptive' }, []],
  [BUDGET, { kind: 'unset' }, []],
  [LEVEL, { kind: 'unset' }, []],
  [{ kind: 'none' }, { kind: 'unset' }, ['dropped thinking']],
])(
  'thoughts that are to be shown, of no amount, are those of the model itself: %j',
  (thinking, amount, notes) => {
    const context = contextOf({ capabilities: capabilitiesOf({ thinking }) });
    const reasoning = { amount: { kind: 'unset' }, showThoughts: true } as const;
    const done = applyTransforms(requestOf({ turns: [user('hi')], reasoning }), context);
    expect(done.reasoning.amount).toEqual(amount);
    expect(context.receipt.entries.map(({ action, path }) => `${action} ${path}`)).toEqual(notes);
  },
);
