// Usage, searches and their citations.

import type { JsonObject } from '../../../src/lib/json.ts';
import { type AnswerRow, end, parts, reply, textPart } from '../answer.ts';

const GROUNDING = {
  webSearchQueries: ['wetter'],
  groundingChunks: [
    { web: { uri: 'https://a.example/1', title: 'A' } },
    { web: { uri: 'https://b.example/2', title: 'B' } },
  ],
  groundingSupports: [
    {
      segment: { startIndex: 3, endIndex: 14, text: '☂ Regen.' },
      groundingChunkIndices: [0],
    },
    {
      segment: { startIndex: 3, endIndex: 14, text: '☂ Regen.' },
      groundingChunkIndices: [1],
    },
  ],
};
const SEARCH = {
  chat: { web_search_options: {} },
  responses: { tools: [{ type: 'web_search' }], include: ['web_search_call.action.sources'] },
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  generate: ({ search }: { search: string }) => ({ tools: [{ [search]: {} }] }),
};
const usageOf = (usageMetadata: JsonObject) => [
  { ...parts(textPart('Hi')), usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } },
  { candidates: [{ index: 0, finishReason: 'STOP' }], usageMetadata },
];
const citation = (url: string, title: string) => ({
  type: 'url_citation',
  start_index: 2,
  end_index: 10,
  url,
  title,
});
const nested = (url: string, title: string) => {
  const { type, ...url_citation } = citation(url, title);
  return { type, url_citation };
};
const located = (url: string, title: string) => ({
  type: 'web_search_result_location',
  url,
  title,
  cited_text: '☂ Regen.',
});

export const FIGURE_ROWS: readonly AnswerRow[] = [
  {
    name: 'all tokens of an answer, the latest figures counting alone',
    frames: usageOf({
      promptTokenCount: 100,
      toolUsePromptTokenCount: 7,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 157,
    }),
    told: {
      chat: reply({
        usage: {
          prompt_tokens: 107,
          completion_tokens: 50,
          total_tokens: 157,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 30 },
        },
      }),
      responses: reply({
        usage: {
          input_tokens: 107,
          input_tokens_details: { cached_tokens: 60, cache_write_tokens: 0 },
          output_tokens: 50,
          output_tokens_details: { reasoning_tokens: 30 },
          total_tokens: 157,
        },
      }),
      messages: reply({
        usage: {
          input_tokens: 47,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 0,
          output_tokens: 50,
          output_tokens_details: { thinking_tokens: 30 },
        },
      }),
      generate: reply({
        usageMetadata: {
          promptTokenCount: 100,
          toolUsePromptTokenCount: 7,
          cachedContentTokenCount: 60,
          candidatesTokenCount: 20,
          thoughtsTokenCount: 30,
          totalTokenCount: 157,
        },
      }),
    },
  },
  {
    name: 'figures written as text',
    frames: usageOf({ promptTokenCount: '12', candidatesTokenCount: '3', totalTokenCount: '15' }),
    told: {
      chat: reply({ usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } }),
      responses: reply({ usage: { input_tokens: 12, output_tokens: 3, total_tokens: 15 } }),
      messages: reply({ usage: { input_tokens: 12, output_tokens: 3 } }),
      generate: reply({ usageMetadata: { promptTokenCount: 12, totalTokenCount: 15 } }),
    },
  },
  {
    name: 'no figures',
    frames: [parts(textPart('Hi')), { candidates: [{ index: 0, finishReason: 'STOP' }] }],
    told: {
      chat: reply({ usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }),
      responses: reply({ usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } }),
      messages: reply({ usage: { input_tokens: 0, output_tokens: 0 } }),
      generate: reply({ usageMetadata: { promptTokenCount: 0, totalTokenCount: 0 } }),
    },
  },
  {
    name: 'a search, its sources and what they support, in positions of the client’s own text',
    frames: [
      parts(textPart('🌧')),
      parts(textPart('☂ Regen.')),
      end('STOP', { groundingMetadata: shifted() }),
    ],
    ask: SEARCH,
    told: {
      chat: reply({
        choices: [
          {
            message: {
              content: '🌧☂ Regen.',
              annotations: [nested('https://a.example/1', 'A'), nested('https://b.example/2', 'B')],
            },
          },
        ],
      }),
      responses: reply({
        output: [
          {
            type: 'web_search_call',
            status: 'completed',
            action: {
              type: 'search',
              query: 'wetter',
              queries: ['wetter'],
              sources: [
                { type: 'url', url: 'https://a.example/1' },
                { type: 'url', url: 'https://b.example/2' },
              ],
            },
          },
          {
            type: 'message',
            content: [
              {
                text: '🌧☂ Regen.',
                annotations: [
                  citation('https://a.example/1', 'A'),
                  citation('https://b.example/2', 'B'),
                ],
              },
            ],
          },
        ],
      }),
      messages: reply({
        content: [
          { type: 'text', text: '🌧☂ Regen.' },
          { type: 'server_tool_use', name: 'web_search', input: { query: 'wetter' } },
          {
            type: 'web_search_tool_result',
            content: [
              {
                type: 'web_search_result',
                url: 'https://a.example/1',
                title: 'A',
                encrypted_content: '',
                page_age: null,
              },
              { type: 'web_search_result', url: 'https://b.example/2' },
            ],
          },
          {
            type: 'text',
            citations: [located('https://a.example/1', 'A'), located('https://b.example/2', 'B')],
          },
        ],
        usage: { server_tool_use: { web_search_requests: 1 } },
      }),
      generate: reply({
        candidates: [
          {
            groundingMetadata: {
              webSearchQueries: ['wetter'],
              groundingChunks: GROUNDING.groundingChunks,
            },
          },
        ],
      }),
    },
  },
];

/** The offsets are bytes: the first sign has four, the second three. */
function shifted(): JsonObject {
  const segment = { startIndex: 4, endIndex: 14, text: '☂ Regen.' };
  return {
    ...GROUNDING,
    groundingSupports: GROUNDING.groundingSupports.map((support) => ({ ...support, segment })),
  };
}
