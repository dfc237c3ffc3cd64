import { expect, test } from 'vitest';
import { MINIMAL, read, readCall } from '../../../test/support/messages.ts';
import type { JsonObject } from '../../lib/json.ts';

const effort = (word: string) => ({ kind: 'effort', effort: word });

const cases: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ['nothing', {}, { amount: { kind: 'unset' } }],
  [
    'V028 a budget',
    { thinking: { type: 'enabled', budget_tokens: 8192 } },
    { amount: { kind: 'budget', tokens: 8192 }, showThoughts: true },
  ],
  [
    'P021 a budget in the spelling of another SDK',
    { thinking: { type: 'enabled', budgetTokens: 4096 } },
    { amount: { kind: 'budget', tokens: 4096 }, showThoughts: true },
  ],
  [
    'P021 a budget in the word of a client library',
    { thinking: { type: 'enabled', thinkingBudget: 5000 } },
    { amount: { kind: 'budget', tokens: 5000 }, showThoughts: true },
  ],
  [
    'P021 a level instead of a budget',
    { thinking: { type: 'enabled', thinkingLevel: 'LOW' } },
    { amount: effort('low'), showThoughts: true },
  ],
  [
    'V031 adaptive',
    { thinking: { type: 'adaptive' } },
    { amount: { kind: 'adaptive' }, showThoughts: true },
  ],
  [
    'V027 disabled, over any effort',
    { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
    { amount: { kind: 'off' }, showThoughts: false },
  ],
  ['V032 effort low', { output_config: { effort: 'low' } }, { amount: effort('low') }],
  ['V032 effort medium', { output_config: { effort: 'medium' } }, { amount: effort('medium') }],
  ['V032 effort high', { output_config: { effort: 'high' } }, { amount: effort('high') }],
  [
    'adaptive with effort',
    { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'xhigh' } },
    { amount: effort('xhigh'), showThoughts: true },
  ],
  [
    'a budget over an effort',
    { thinking: { type: 'enabled', budget_tokens: 2048 }, output_config: { effort: 'max' } },
    { amount: { kind: 'budget', tokens: 2048 }, showThoughts: true },
  ],
  [
    'the extension thinking.effort',
    { thinking: { type: 'enabled', effort: 'max' } },
    { amount: effort('max'), showThoughts: true },
  ],
  [
    'output_config.effort over thinking.effort',
    { thinking: { type: 'adaptive', effort: 'low' }, output_config: { effort: 'high' } },
    { amount: effort('high'), showThoughts: true },
  ],
];

test.each(cases)('%s is read as asked', (_name, fields, expected) => {
  expect(read(fields).request.reasoning).toEqual(expected);
});

test.each([
  ['adaptive', 'budget_tokens'],
  ['adaptive', 'thinkingBudget'],
  ['between_tools', 'budget_tokens'],
])('with %s a budget (%s) does not count, and the receipt says so', (type, key) => {
  const { request, receipt } = read({ thinking: { type, [key]: 5000 } });
  expect(request.reasoning.amount).toEqual({ kind: 'adaptive' });
  expect(receipt).toContain(`dropped thinking.${key}`);
});

test.each([
  [
    'an effort beside a budget',
    { thinking: { type: 'enabled', budget_tokens: 2048 }, output_config: { effort: 'max' } },
    'output_config.effort',
  ],
  [
    'an effort of the thinking itself beside its budget',
    { thinking: { type: 'enabled', budget_tokens: 2048, effort: 'low' } },
    'thinking.effort',
  ],
  [
    'an effort beside thinking that is off',
    { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
    'output_config.effort',
  ],
  [
    'an effort that another field overrules',
    { thinking: { type: 'adaptive', effort: 'low' }, output_config: { effort: 'high' } },
    'thinking.effort',
  ],
  [
    'a level that another field overrules',
    { thinking: { type: 'adaptive', level: 'low' }, output_config: { effort: 'high' } },
    'thinking.level',
  ],
])('%s does not count, and the receipt says so', (_name, fields, path) => {
  expect(read(fields).receipt).toEqual([`dropped ${path}`]);
});

test('fields that say the same effort overrule nothing', () => {
  const thinking = { type: 'adaptive', effort: 'high' };
  expect(read({ thinking, output_config: { effort: 'high' } }).receipt).toEqual([]);
});

test('between_tools is approximated by letting the model decide', () => {
  const { request, receipt } = read({ thinking: { type: 'between_tools' } });
  expect(request.reasoning.amount).toEqual({ kind: 'adaptive' });
  expect(receipt).toEqual(['approximated thinking.type']);
});

test.each(['adaptive', 'enabled'])(
  'a display that newer clients ask for refuses no %s thinking',
  (type) => {
    const { request, receipt } = read({ thinking: { type, display: 'updates' } });
    expect(request.reasoning).toEqual({ amount: { kind: 'adaptive' }, showThoughts: true });
    expect(receipt).toEqual(['approximated thinking.display']);
  },
);

test('the effort of a system message counts until the next user text', () => {
  const system = { role: 'system', content: 'S', output_config: { effort: 'low' } };
  const user = { role: 'user', content: 'U' };
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] };
  const fields = { output_config: { effort: 'high' } };
  const amount = (messages: JsonObject[]) => read({ ...fields, messages }).request.reasoning.amount;
  expect(amount([user, system])).toEqual(effort('low'));
  expect(amount([user, system, result])).toEqual(effort('low'));
  expect(amount([user, system, user])).toEqual(effort('high'));
});

test.each([
  [{ thinking: { type: 'enabled', budget_tokens: 1023 } }, 'thinking.budget_tokens: Input'],
  [{ thinking: { type: 'enabled', budget_tokens: 'x' } }, 'thinking.budget_tokens: Input'],
  [{ thinking: { type: 'enabled', budgetTokens: 5 } }, 'thinking.budgetTokens: Input'],
  [{ thinking: { type: 'sometimes' } }, 'thinking.type: Input tag'],
  [{ thinking: {} }, 'thinking.type: Field required'],
  [{ thinking: { type: 'adaptive', display: 1 } }, 'thinking.display: Input'],
  [{ thinking: { type: 'adaptive', effort: 'huge' } }, 'thinking.effort: Input'],
  [{ output_config: { effort: 'minimal' } }, "output_config.effort: Input should be 'low'"],
  [{ output_config: { format: { type: 'xml' } } }, 'output_config.format.type: Input tag'],
  [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format.schema: Field'],
])('%j is refused naming the field', (fields, message) => {
  expect(() => readCall({ ...MINIMAL, ...fields }).request).toThrow(message);
});

test('structured output is read from output_config.format and from output_format', () => {
  const format = { type: 'json_schema', schema: { type: 'object' } };
  const expected = { kind: 'json-schema', schema: { type: 'object' } };
  expect(read({ output_config: { format } }).request.outputFormat).toEqual(expected);
  expect(read({ output_format: format }).request.outputFormat).toEqual(expected);
});

test('of two formats that differ the newer field wins, and the receipt says so', () => {
  const format = { type: 'json_schema', schema: { type: 'object' } };
  const both = { output_config: { format }, output_format: { ...format, schema: {} } };
  expect(read(both).receipt).toEqual(['dropped output_format']);
  expect(read({ ...both, output_format: format }).receipt).toEqual([]);
});
