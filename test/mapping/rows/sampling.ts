// Sampling, limits, stops, several answers, and hints about service.

import type { JsonObject } from '../../../src/lib/json.ts';
import { carried, type Entry, noted, type RequestRow, refused, silent, unsaid } from '../row.ts';

const config = (fields: JsonObject) => ({ generationConfig: fields });
const same = (fields: JsonObject) => carried(config(fields), config(fields));
const SIX = ['1', '2', '3', '4', '5', '6'];

export const SAMPLING_ROWS: readonly RequestRow[] = [
  {
    name: 'the length of an answer',
    entries: {
      chat: carried({ max_completion_tokens: 50 }, config({ maxOutputTokens: 50 })),
      responses: carried({ max_output_tokens: 50 }, config({ maxOutputTokens: 50 })),
      messages: carried({ max_tokens: 50 }, config({ maxOutputTokens: 50 })),
      generate: same({ maxOutputTokens: 50 }),
    },
  },
  {
    name: 'the length under its older name',
    entries: {
      chat: carried({ max_tokens: 50 }, config({ maxOutputTokens: 50 })),
      responses: unsaid('There is one name for it.'),
      messages: unsaid('There is one name for it.'),
      generate: carried(
        { generation_config: { max_output_tokens: 50 } },
        config({ maxOutputTokens: 50 }),
      ),
    },
  },
  {
    name: 'a length above the model’s own',
    entries: {
      chat: capped({ max_completion_tokens: 900_000 }, 'max_completion_tokens'),
      responses: capped({ max_output_tokens: 900_000 }, 'max_output_tokens'),
      messages: capped({ max_tokens: 900_000 }, 'max_tokens'),
      generate: capped(config({ maxOutputTokens: 900_000 }), 'generationConfig.maxOutputTokens'),
    },
  },
  {
    name: 'temperature',
    entries: {
      chat: carried({ temperature: 0.7 }, config({ temperature: 0.7 })),
      responses: carried({ temperature: 0.7 }, config({ temperature: 0.7 })),
      messages: carried({ temperature: 0.7 }, config({ temperature: 0.7 })),
      generate: same({ temperature: 0.7 }),
    },
  },
  {
    name: 'the share and the number of candidates for a token',
    entries: {
      chat: carried({ top_p: 0.9, top_k: 40 }, config({ topP: 0.9, topK: 40 })),
      responses: carried({ top_p: 0.9 }, config({ topP: 0.9 })),
      messages: carried({ top_p: 0.9, top_k: 40 }, config({ topP: 0.9, topK: 40 })),
      generate: same({ topP: 0.9, topK: 40 }),
    },
  },
  {
    name: 'a seed',
    entries: {
      chat: carried({ seed: 7 }, config({ seed: 7 })),
      responses: unsaid('The surface has none.'),
      messages: unsaid('The protocol has none.'),
      generate: same({ seed: 7 }),
    },
  },
  {
    name: 'penalties, which the real model refuses',
    entries: {
      chat: {
        kind: 'written',
        ask: { presence_penalty: 0.5, frequency_penalty: 0.25 },
        expected: {
          fields: ({ vocabulary }) =>
            vocabulary === 'real' ? {} : config({ presencePenalty: 0.5, frequencyPenalty: 0.25 }),
        },
        noted: ({ vocabulary }) =>
          vocabulary === 'real'
            ? [
                ['dropped', 'presence_penalty'],
                ['dropped', 'frequency_penalty'],
              ]
            : [],
      },
      responses: unsaid('The surface has none.'),
      messages: unsaid('The protocol has none.'),
      generate: same({ presencePenalty: 0.5, frequencyPenalty: 0.25 }),
    },
  },
  {
    name: 'stop sequences',
    entries: {
      chat: carried({ stop: ['END', 'FIN'] }, config({ stopSequences: ['END', 'FIN'] })),
      responses: unsaid('The surface has none.'),
      messages: carried(
        { stop_sequences: ['END', 'FIN'] },
        config({ stopSequences: ['END', 'FIN'] }),
      ),
      generate: same({ stopSequences: ['END', 'FIN'] }),
    },
  },
  {
    name: 'more stop sequences than the upstream takes',
    entries: {
      chat: refused({ stop: SIX }, 'stop'),
      responses: unsaid('The surface has none.'),
      messages: noted(
        { stop_sequences: SIX },
        { fields: config({ stopSequences: SIX.slice(0, 5) }) },
        ['approximated', 'stop_sequences'],
      ),
      generate: carried(config({ stopSequences: SIX }), config({ stopSequences: SIX })),
    },
  },
  {
    name: 'log-probabilities',
    entries: {
      chat: carried(
        { logprobs: true, top_logprobs: 3 },
        config({ responseLogprobs: true, logprobs: 3 }),
      ),
      responses: carried(
        { top_logprobs: 3, include: ['message.output_text.logprobs'] },
        config({ responseLogprobs: true, logprobs: 3 }),
      ),
      messages: unsaid('The protocol has none.'),
      generate: same({ responseLogprobs: true, logprobs: 3 }),
    },
  },
  {
    name: 'log-probabilities of a model that gives none',
    entries: {
      chat: refused({ model: 'alpha-3-pro-image', logprobs: true }, 'logprobs'),
      responses: refused({ model: 'alpha-3-pro-image', top_logprobs: 2 }, 'top_logprobs'),
      messages: unsaid('The protocol has none.'),
      generate: unsaid('A native request is the upstream’s to judge.'),
    },
  },
  {
    name: 'several answers',
    entries: {
      chat: carried({ n: 2 }, config({ candidateCount: 2 })),
      responses: unsaid('A response is one answer.'),
      messages: unsaid('A message is one answer.'),
      generate: same({ candidateCount: 2 }),
    },
  },
  {
    name: 'biases and predictions',
    entries: {
      chat: noted(
        { logit_bias: { '50256': -100 }, prediction: { type: 'content', content: 'x' } },
        { without: ['generationConfig'] },
        ['dropped', 'logit_bias'],
        ['dropped', 'prediction'],
      ),
      responses: unsaid('The surface has none.'),
      messages: unsaid('The protocol has none.'),
      generate: unsaid('The protocol has none.'),
    },
  },
  {
    name: 'verbosity',
    entries: {
      chat: noted({ verbosity: 'low' }, { without: ['generationConfig'] }, [
        'dropped',
        'verbosity',
      ]),
      responses: noted({ text: { verbosity: 'low' } }, { without: ['generationConfig'] }, [
        'dropped',
        'text.verbosity',
      ]),
      messages: unsaid('The protocol has none.'),
      generate: unsaid('The protocol has none.'),
    },
  },
  {
    name: 'who asks, and bookkeeping',
    entries: {
      chat: silent(
        {
          user: 'u',
          metadata: { a: 'b' },
          prompt_cache_key: 'k',
          safety_identifier: 's',
        },
        ['metadata', 'store', 'labels'],
      ),
      responses: silent(
        { user: 'u', metadata: { a: 'b' }, prompt_cache_key: 'k', client_metadata: { c: 'd' } },
        ['metadata', 'store', 'labels'],
      ),
      messages: silent({ metadata: { user_id: '{"session_id":"s"}' } }, ['metadata', 'labels']),
      generate: noted({ labels: { a: 'b' } }, { without: ['labels'] }, ['dropped', 'labels']),
    },
  },
  {
    name: 'a tier of service',
    entries: {
      chat: tier({ service_tier: 'flex' }, 'flex'),
      responses: tier({ service_tier: 'flex' }, 'flex'),
      messages: tier({ service_tier: 'standard_only' }, 'standard'),
      generate: unsaid('Forwarded where the upstream documents it.'),
    },
  },
  {
    name: 'hints for the prompt cache',
    entries: {
      chat: silent({ prompt_cache_retention: '24h' }, ['cachedContent']),
      responses: silent({ prompt_cache_retention: '24h' }, ['cachedContent']),
      messages: silent(
        {
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } },
              ],
            },
          ],
        },
        ['cachedContent'],
      ),
      generate: unsaid('The protocol has a cache of its own.'),
    },
  },
];

/** Only the real upstream documents tiers. */
function tier(ask: JsonObject, word: string): Entry {
  return {
    kind: 'written',
    ask,
    expected: { fields: ({ vocabulary }) => (vocabulary === 'real' ? { serviceTier: word } : {}) },
    noted: ({ vocabulary }) => (vocabulary === 'real' ? [] : [['dropped', 'service_tier']]),
  };
}

function capped(ask: JsonObject, path: string): Entry {
  return noted(ask, { fields: config({ maxOutputTokens: 65_536 }) }, ['capped', path]);
}
