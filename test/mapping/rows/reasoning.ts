// How much a model thinks, and what of it is shown.

import type { JsonObject } from '../../../src/lib/json.ts';
import { carried, type Entry, noted, type RequestRow, refused, unsaid } from '../row.ts';
import type { Words } from '../words.ts';

/** What goes upstream: a level to models with levels, a budget to those with budgets. */
interface Amount {
  readonly level: string | undefined;
  readonly budget: number | undefined;
  /** Undefined when thoughts are neither wanted nor refused. */
  readonly shows?: boolean;
}

const thinking =
  ({ level, budget, shows }: Amount) =>
  ({ vocabulary }: Words): JsonObject => ({
    generationConfig: {
      thinkingConfig: {
        ...(vocabulary === 'real'
          ? defined('thinkingLevel', level)
          : defined('thinkingBudget', budget)),
        ...(shows === undefined ? {} : { includeThoughts: shows }),
      },
    },
  });

const native = (fields: JsonObject) => ({ generationConfig: { thinkingConfig: fields } });
const messages = (fields: JsonObject) => ({ max_tokens: 60_000, ...fields });
const summary = { summary: 'auto' };

const PLAIN = {
  contents: [
    { role: 'user', parts: [{ text: 'a' }] },
    { role: 'model', parts: [{ text: 'b' }] },
    { role: 'user', parts: [{ text: 'c' }] },
  ],
};

export const REASONING_ROWS: readonly RequestRow[] = [
  {
    name: 'thinking off',
    entries: {
      chat: off({ reasoning_effort: 'none' }, 'reasoning_effort'),
      responses: off({ reasoning: { effort: 'none' } }, 'reasoning.effort'),
      messages: off(messages({ thinking: { type: 'disabled' } }), 'thinking'),
      generate: off(
        native({ thinkingBudget: 0 }),
        'generationConfig.thinkingConfig.thinkingBudget',
      ),
    },
  },
  {
    name: 'minimal thinking',
    entries: efforts('minimal', { level: 'MINIMAL', budget: 1024, shows: true }),
  },
  { name: 'low thinking', entries: efforts('low', { level: 'LOW', budget: 8192, shows: true }) },
  {
    name: 'medium thinking',
    entries: efforts('medium', { level: 'MEDIUM', budget: 16_384, shows: true }),
  },
  {
    name: 'high thinking',
    entries: efforts('high', { level: 'HIGH', budget: 24_576, shows: true }),
  },
  {
    name: 'the most thinking',
    entries: most(),
  },
  {
    name: 'a budget of tokens',
    entries: {
      chat: near({ thinking: { type: 'enabled', budget_tokens: 5000 } }, 'thinking', {
        level: 'LOW',
        budget: 5000,
        shows: true,
      }),
      responses: unsaid('The surface has words alone.'),
      messages: near(messages({ thinking: { type: 'enabled', budget_tokens: 5000 } }), 'thinking', {
        level: 'LOW',
        budget: 5000,
        shows: true,
      }),
      generate: near(
        native({ thinkingBudget: 5000, includeThoughts: true }),
        'generationConfig.thinkingConfig.thinkingBudget',
        { level: 'LOW', budget: 5000, shows: true },
      ),
    },
  },
  {
    name: 'the model decides',
    entries: {
      chat: unsaid('The protocol has no such word.'),
      responses: unsaid('The surface has no such word.'),
      messages: carried(
        messages({ thinking: { type: 'adaptive' } }),
        thinking({ level: undefined, budget: 24_576, shows: true }),
      ),
      generate: carried(
        native({ thinkingBudget: -1, includeThoughts: true }),
        thinking({ level: undefined, budget: 24_576, shows: true }),
      ),
    },
  },
  {
    name: 'nothing said of thinking',
    entries: {
      chat: { kind: 'written', ask: {}, expected: { without: ['generationConfig'] }, noted: [] },
      responses: {
        kind: 'written',
        ask: {},
        expected: { without: ['generationConfig'] },
        noted: [],
      },
      messages: carried({}, { generationConfig: { maxOutputTokens: 4000 } }),
      generate: {
        kind: 'written',
        ask: {},
        expected: { without: ['generationConfig'] },
        noted: [],
      },
    },
  },
  {
    name: 'thoughts kept to itself',
    entries: {
      chat: unsaid('Thoughts are shown whenever thinking is asked for.'),
      responses: carried(
        { reasoning: { effort: 'low', summary: null } },
        thinking({ level: 'LOW', budget: 8192, shows: false }),
      ),
      messages: carried(
        messages({ thinking: { type: 'adaptive', display: 'omitted' } }),
        thinking({ level: undefined, budget: 24_576 }),
      ),
      generate: carried(
        native({ thinkingLevel: 'LOW', includeThoughts: false }),
        thinking({ level: 'LOW', budget: 8192, shows: false }),
      ),
    },
  },
  {
    name: 'a budget below the smallest one',
    entries: {
      chat: unsaid('A budget is clamped into the model’s range.'),
      responses: unsaid('The surface has words alone.'),
      messages: refused(
        messages({ thinking: { type: 'enabled', budget_tokens: 100 } }),
        'thinking.budget_tokens',
      ),
      generate: unsaid('A budget is clamped into the model’s range.'),
    },
  },
  {
    name: 'thoughts of the history that nobody signed',
    entries: {
      chat: noted(
        {
          messages: [
            { role: 'user', content: 'a' },
            { role: 'assistant', content: 'b', reasoning_content: 'hm' },
            { role: 'user', content: 'c' },
          ],
        },
        { fields: PLAIN },
        ['dropped', 'messages'],
      ),
      responses: noted(
        {
          input: [
            { role: 'user', content: 'a' },
            { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
            { role: 'assistant', content: 'b' },
            { role: 'user', content: 'c' },
          ],
        },
        { fields: PLAIN },
        ['dropped', 'input'],
      ),
      messages: noted(
        {
          messages: [
            { role: 'user', content: 'a' },
            {
              role: 'assistant',
              content: [
                { type: 'thinking', thinking: 'hm', signature: '' },
                { type: 'text', text: 'b' },
              ],
            },
            { role: 'user', content: 'c' },
          ],
        },
        { fields: PLAIN },
        ['dropped', 'messages'],
      ),
      generate: unsaid('Native thoughts are forwarded as they are.'),
    },
  },
];

function defined(key: string, value: string | number | undefined): JsonObject {
  return value === undefined ? {} : { [key]: value };
}

/** Models with levels think at least a little; the others are told nothing, or a budget of nothing. */
function off(ask: JsonObject, path: string): Entry {
  return {
    kind: 'written',
    ask,
    expected: {
      fields: ({ vocabulary }) =>
        vocabulary === 'real' ? native({ thinkingLevel: 'MINIMAL' }) : {},
    },
    noted: ({ vocabulary }) => (vocabulary === 'real' ? [['approximated', path]] : []),
  };
}

/** A budget, or more than a model has levels for, becomes the nearest level where there are levels. */
function near(ask: JsonObject, path: string, amount: Amount): Entry {
  return {
    kind: 'written',
    ask,
    expected: { fields: thinking(amount) },
    noted: ({ vocabulary }) => (vocabulary === 'real' ? [['approximated', path]] : []),
  };
}

function most(): RequestRow['entries'] {
  const amount = { level: 'HIGH', budget: 24_576, shows: true };
  return {
    chat: near({ reasoning_effort: 'xhigh' }, 'reasoning_effort', amount),
    responses: near({ reasoning: { effort: 'xhigh', ...summary } }, 'reasoning.effort', amount),
    messages: near(
      messages({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }),
      'thinking',
      amount,
    ),
    generate: unsaid('The protocol has no such level.'),
  };
}

function efforts(word: string, amount: Amount): RequestRow['entries'] {
  const isMessages = word !== 'minimal';
  return {
    chat: carried({ reasoning_effort: word }, thinking(amount)),
    responses: carried({ reasoning: { effort: word, ...summary } }, thinking(amount)),
    messages: isMessages
      ? carried(
          messages({ thinking: { type: 'adaptive' }, output_config: { effort: word } }),
          thinking(amount),
        )
      : unsaid('The protocol has no such effort.'),
    generate: carried(
      native({ thinkingLevel: word.toUpperCase(), includeThoughts: true }),
      thinking(amount),
    ),
  };
}
