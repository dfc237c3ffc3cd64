// The form of the answer, search in the request, and what has no counterpart.

import type { JsonObject } from '../../../src/lib/json.ts';
import { carried, type Entry, noted, type RequestRow, refused, silent, unsaid } from '../row.ts';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const SHAPE = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const json = (more = {}) => ({
  generationConfig: { responseMimeType: 'application/json', ...more },
});
const functions = [{ functionDeclarations: [{ name: 'w' }] }];
const DOMAINS = ['example.com'];
const ONLY = {
  systemInstruction: {
    parts: [{ text: 'When you search the web, use only pages of these domains: example.com.' }],
  },
};
const HI = { role: 'user', content: 'Hi' };

export const OUTPUT_ROWS: readonly RequestRow[] = [
  {
    name: 'any JSON object',
    entries: {
      chat: carried({ response_format: { type: 'json_object' } }, json()),
      responses: carried({ text: { format: { type: 'json_object' } } }, json()),
      messages: unsaid('A form is always a schema.'),
      generate: carried(json(), json()),
    },
  },
  {
    name: 'JSON by a schema',
    entries: {
      chat: carried(
        { response_format: { type: 'json_schema', json_schema: { name: 'c', schema: SCHEMA } } },
        json({ responseSchema: SHAPE }),
      ),
      responses: carried(
        { text: { format: { type: 'json_schema', name: 'c', schema: SCHEMA } } },
        json({ responseSchema: SHAPE }),
      ),
      messages: carried(
        { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
        json({ responseSchema: SHAPE }),
      ),
      generate: carried(json({ responseSchema: SHAPE }), json({ responseSchema: SHAPE })),
    },
  },
  {
    name: 'a schema beside tools',
    entries: {
      chat: carried(
        {
          tools: [{ type: 'function', function: { name: 'w' } }],
          response_format: { type: 'json_schema', json_schema: { name: 'c', schema: SCHEMA } },
        },
        { ...json({ responseSchema: SHAPE }), tools: functions },
      ),
      responses: carried(
        {
          tools: [{ type: 'function', name: 'w' }],
          text: { format: { type: 'json_schema', name: 'c', schema: SCHEMA } },
        },
        { ...json({ responseSchema: SHAPE }), tools: functions },
      ),
      messages: carried(
        {
          tools: [{ name: 'w', input_schema: { type: 'object' } }],
          output_config: { format: { type: 'json_schema', schema: SCHEMA } },
        },
        { ...json({ responseSchema: SHAPE }), tools: functions },
      ),
      generate: carried(
        { ...json({ responseSchema: SHAPE }), tools: functions },
        { ...json({ responseSchema: SHAPE }), tools: functions },
      ),
    },
  },
  {
    name: 'a schema beside tools, where the model takes either',
    entries: {
      chat: inWordsAlone(
        {
          tools: [{ type: 'function', function: { name: 'w' } }],
          response_format: { type: 'json_schema', json_schema: { name: 'c', schema: SCHEMA } },
        },
        'response_format',
      ),
      responses: inWordsAlone(
        {
          tools: [{ type: 'function', name: 'w' }],
          text: { format: { type: 'json_schema', name: 'c', schema: SCHEMA } },
        },
        'text.format',
      ),
      messages: inWordsAlone(
        {
          tools: [{ name: 'w', input_schema: { type: 'object' } }],
          output_config: { format: { type: 'json_schema', schema: SCHEMA } },
        },
        'output_config.format',
      ),
      generate: unsaid('A native request is the upstream’s to judge.'),
    },
  },
  {
    name: 'a refusal in the history',
    entries: {
      chat: carried(
        { messages: [HI, { role: 'assistant', content: null, refusal: 'No.' }, HI] },
        refusedBefore(),
      ),
      responses: carried(
        {
          input: [
            HI,
            { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
            HI,
          ],
        },
        refusedBefore(),
      ),
      messages: unsaid('A refusal is a stop reason of an answer.'),
      generate: unsaid('A refusal is a finish reason of an answer.'),
    },
  },
  {
    name: 'a search within domains',
    entries: {
      chat: noted(
        { web_search_options: { search_context_size: 'low' } },
        { fields: ({ search }) => ({ tools: [{ [search]: {} }] }) },
        ['dropped', 'web_search_options.search_context_size'],
      ),
      responses: noted(
        { tools: [{ type: 'web_search', filters: { allowed_domains: DOMAINS } }] },
        { fields: ({ search }) => ({ ...ONLY, tools: [{ [search]: {} }] }) },
        ['approximated', 'tools[0]'],
      ),
      messages: noted(
        {
          tools: [
            {
              type: 'web_search_20250305',
              name: 'web_search',
              allowed_domains: DOMAINS,
              max_uses: 2,
            },
          ],
        },
        { fields: ({ search }) => ({ ...ONLY, tools: [{ [search]: {} }] }) },
        ['dropped', 'tools[0].max_uses'],
        ['approximated', 'tools[0]'],
      ),
      generate: noted(
        ({ search }) => ({ tools: [{ [search]: { excludeDomains: DOMAINS } }] }),
        { fields: ({ search }) => ({ tools: [{ [search]: {} }] }) },
        ['dropped', 'tools[0].googleSearch.excludeDomains'],
      ),
    },
  },
  {
    name: 'a search that is demanded goes alone',
    entries: {
      chat: unsaid('A search cannot be demanded by name.'),
      responses: noted(
        { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
        { fields: ({ search }) => ({ tools: [{ [search]: {} }] }) },
        ['approximated', 'tool_choice'],
      ),
      messages: carried(
        {
          tools: [{ type: 'web_search_20250305', name: 'web_search' }],
          tool_choice: { type: 'tool', name: 'web_search' },
        },
        ({ search }) => ({ tools: [{ [search]: {} }] }),
      ),
      generate: unsaid('A search cannot be demanded by name.'),
    },
  },
  {
    name: 'thinking only its issuer can read',
    entries: {
      chat: unsaid('The protocol has none.'),
      responses: noted(
        {
          input: [
            HI,
            { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'foreign' },
            { role: 'assistant', content: 'a' },
            HI,
          ],
        },
        { fields: answered() },
        ['dropped', 'input'],
      ),
      messages: noted(
        {
          messages: [
            HI,
            {
              role: 'assistant',
              content: [
                { type: 'redacted_thinking', data: 'zz' },
                { type: 'text', text: 'a' },
              ],
            },
            HI,
          ],
        },
        { fields: answered() },
        ['dropped', 'messages'],
      ),
      generate: unsaid('The protocol has none.'),
    },
  },
  {
    name: 'conversations, prompts and servers kept elsewhere',
    entries: {
      chat: unsaid('The protocol keeps nothing.'),
      responses: refused({ prompt: { id: 'pmpt_1' } }, 'prompt'),
      messages: refused(
        { mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] },
        'mcp_servers',
      ),
      generate: refused({ cachedContent: 'cachedContents/1' }, 'cachedContent'),
    },
  },
  {
    name: 'a hosted tool that is demanded',
    entries: {
      chat: unsaid('Only functions can be demanded.'),
      responses: refused(
        {
          tools: [{ type: 'file_search', vector_store_ids: ['v'] }],
          tool_choice: { type: 'file_search' },
        },
        'tool_choice',
      ),
      messages: refused(
        { tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] },
        'tools[0].type',
      ),
      generate: unsaid('A built-in tool cannot be demanded.'),
    },
  },
  {
    name: 'what only the original service edits or shows',
    entries: {
      chat: unsaid('The protocol has none.'),
      responses: unsaid('The surface has none.'),
      messages: silent(
        {
          context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
        },
        ['contextManagement'],
      ),
      generate: unsaid('The protocol has none.'),
    },
  },
  {
    name: 'safety settings',
    entries: {
      chat: unsaid('The protocol has none.'),
      responses: unsaid('The surface has none.'),
      messages: unsaid('The protocol has none.'),
      generate: carried(safety(), safety()),
    },
  },
  {
    name: 'leave to drop the oldest turns',
    entries: {
      chat: unsaid('The protocol has no such word.'),
      responses: silent({ truncation: 'auto' }, ['truncation']),
      messages: unsaid('The protocol has no such word.'),
      generate: unsaid('The protocol has no such word.'),
    },
  },
];

/** Models before the third generation; the neutral ones take both. */
function inWordsAlone(ask: JsonObject, path: string): Entry {
  const text = `When you answer, answer with one JSON value and nothing else around it. It must follow this JSON Schema:\n${JSON.stringify(SCHEMA)}`;
  return {
    kind: 'written',
    ask: ({ vocabulary }) => (vocabulary === 'real' ? { ...ask, model: 'gemini-2.5-flash' } : ask),
    expected: {
      fields: ({ vocabulary }) =>
        vocabulary === 'real'
          ? { systemInstruction: { parts: [{ text }] }, tools: functions }
          : { ...json({ responseSchema: SHAPE }), tools: functions },
    },
    noted: ({ vocabulary }) => (vocabulary === 'real' ? [['approximated', path]] : []),
  };
}

function refusedBefore(): JsonObject {
  return turns('No.');
}

function answered(): JsonObject {
  return turns('a');
}

function turns(answer: string): JsonObject {
  return {
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: answer }] },
      { role: 'user', parts: [{ text: 'Hi' }] },
    ],
  };
}

function safety(): JsonObject {
  return {
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  };
}
