import { describe, expect, test } from 'vitest';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { canonical, notes } from './reading.test-support.ts';

describe('reasoning', () => {
  type Case = [JsonObject, CanonicalRequest['reasoning']];
  const cases: Case[] = [
    [{}, { amount: { kind: 'unset' } }],
    [{ reasoning_effort: 'default' }, { amount: { kind: 'unset' } }],
    [{ reasoning_effort: 'none' }, { amount: { kind: 'off' }, showThoughts: false }],
    [
      { reasoning_effort: 'xhigh' },
      { amount: { kind: 'effort', effort: 'xhigh' }, showThoughts: true },
    ],
    [
      { reasoning: { max_tokens: 5 } },
      { amount: { kind: 'budget', tokens: 5 }, showThoughts: true },
    ],
    [{ reasoning: { enabled: true } }, { amount: { kind: 'adaptive' }, showThoughts: true }],
    [{ reasoning: { enabled: false } }, { amount: { kind: 'off' }, showThoughts: false }],
    [
      { reasoning: { effort: 'low', exclude: true } },
      { amount: { kind: 'effort', effort: 'low' }, showThoughts: false },
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2048 } },
      { amount: { kind: 'budget', tokens: 2048 }, showThoughts: true },
    ],
    [
      { thinking: { type: 'enabled', budgetTokens: 2048 } },
      { amount: { kind: 'budget', tokens: 2048 }, showThoughts: true },
    ],
    ...['budget', 'thinkingBudget', 'maxTokens'].map(
      (key): Case => [
        { thinking: { type: 'enabled', [key]: 2048 } },
        { amount: { kind: 'budget', tokens: 2048 }, showThoughts: true },
      ],
    ),
    [
      { reasoning: { budget_tokens: 4000 } },
      { amount: { kind: 'budget', tokens: 4000 }, showThoughts: true },
    ],
    [
      { thinking: { type: 'enabled', thinkingLevel: 'low' } },
      { amount: { kind: 'effort', effort: 'low' }, showThoughts: true },
    ],
    [{ thinking: { type: 'disabled' } }, { amount: { kind: 'off' }, showThoughts: false }],
    [{ enable_thinking: true }, { amount: { kind: 'adaptive' }, showThoughts: true }],
    [{ enable_thinking: false }, { amount: { kind: 'off' }, showThoughts: false }],
    [
      { chat_template_kwargs: { enable_thinking: false } },
      { amount: { kind: 'off' }, showThoughts: false },
    ],
    [
      { chat_template_kwargs: { thinking: true } },
      { amount: { kind: 'adaptive' }, showThoughts: true },
    ],
    [
      { google: { thinking_config: { thinking_budget: 0 } } },
      { amount: { kind: 'off' }, showThoughts: false },
    ],
    [
      { extra_body: { vendora: { thinking_config: { thinking_level: 'HIGH' } } } },
      { amount: { kind: 'effort', effort: 'high' }, showThoughts: true },
    ],
    [
      { thinking_config: { thinking_budget: 3000 } },
      { amount: { kind: 'budget', tokens: 3000 }, showThoughts: true },
    ],
    [
      { thinkingConfig: { thinkingLevel: 'low' } },
      { amount: { kind: 'effort', effort: 'low' }, showThoughts: true },
    ],
    [
      { reasoningEffort: 'minimal' },
      { amount: { kind: 'effort', effort: 'minimal' }, showThoughts: true },
    ],
    [
      { google: { thinking_config: { include_thoughts: true } } },
      { amount: { kind: 'unset' }, showThoughts: true },
    ],
  ];
  test.each(cases)('P021 %j', (fields, expected) => {
    expect(canonical(fields).reasoning).toEqual(expected);
    expect(notes(fields)).toEqual([]);
  });
  test('the official field wins over a dialect, and the receipt says so', () => {
    const fields = { reasoning_effort: 'low', thinking: { type: 'disabled' } };
    expect(canonical(fields).reasoning.amount).toEqual({ kind: 'effort', effort: 'low' });
    expect(notes(fields)).toEqual(['dropped thinking']);
  });
  test.each([
    [{ reasoning: { effort: 'low', max_tokens: 5000 } }, 'dropped reasoning.effort'],
    [{ thinking: { type: 'enabled', budgetTokens: 5000, level: 'low' } }, 'dropped thinking.level'],
    [{ thinking: { type: 'auto', budget_tokens: 5000 } }, 'dropped thinking.budget_tokens'],
    [{ thinking: { type: 'adaptive', effort: 'low', budget: 5000 } }, 'dropped thinking.budget'],
  ])('of a number and a word in one object the one that loses is told: %j', (fields, note) => {
    expect(notes(fields)).toEqual([note]);
  });
  test('a number and a word that say the same are no loss', () => {
    expect(notes({ reasoning: { effort: 'none', max_tokens: 0 } })).toEqual([]);
  });
  test('what loses is named by its own field', () => {
    expect(notes({ reasoning_effort: 'low', thinking_budget: 900 })).toEqual([
      'dropped thinking_budget',
    ]);
    expect(notes({ extra_body: { tone: 'dry' } })).toEqual(['dropped extra_body.tone']);
    const template = { enable_thinking: false, add_generation_prompt: true };
    expect(notes({ reasoning_effort: 'low', chat_template_kwargs: template })).toEqual([
      'dropped chat_template_kwargs.add_generation_prompt',
      'dropped chat_template_kwargs.enable_thinking',
    ]);
  });
});

test.each<[JsonObject, JsonObject]>([
  [{ include_thoughts: true }, { amount: { kind: 'unset' }, showThoughts: true }],
  [{ includeThoughts: false }, { amount: { kind: 'unset' }, showThoughts: false }],
  [
    { thinking_budget: 512, include_thoughts: false },
    { amount: { kind: 'budget', tokens: 512 }, showThoughts: false },
  ],
  [{ type: 'adaptive', include_thoughts: false }, { showThoughts: false }],
])('C7: thinking %j needs no type', (thinking, expected) => {
  expect(canonical({ thinking }).reasoning).toMatchObject(expected);
  expect(notes({ thinking })).toEqual([]);
});
