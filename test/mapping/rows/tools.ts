// Tools, the choice among them, calls and their results.

import type { JsonObject } from '../../../src/lib/json.ts';
import { carried, type Entry, noted, type RequestRow, refused, silent, unsaid } from '../row.ts';
import type { Words } from '../words.ts';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const DECLARED = { name: 'w', description: 'Weather', parameters: SCHEMA };
const UPSTREAM_TOOLS = { tools: [{ functionDeclarations: [DECLARED] }] };

const chatTool = (more = {}) => ({ type: 'function', function: { ...DECLARED, ...more } });
const flatTool = (more = {}) => ({ type: 'function', ...DECLARED, ...more });
const messagesTool = (more = {}) => ({
  name: 'w',
  description: 'Weather',
  input_schema: SCHEMA,
  ...more,
});
const nativeTools = { tools: [{ functionDeclarations: [DECLARED] }] };
const mode = (name: string, names?: readonly string[]) => ({
  toolConfig: {
    functionCallingConfig: { mode: name, ...(names && { allowedFunctionNames: [...names] }) },
  },
});
const chat = (more: JsonObject) => ({ tools: [chatTool()], ...more });
const responses = (more: JsonObject) => ({ tools: [flatTool()], ...more });
const messages = (more: JsonObject) => ({ tools: [messagesTool()], ...more });
const native = (more: JsonObject) => ({ ...nativeTools, ...more });

const ONCE = {
  systemInstruction: {
    parts: [
      {
        text: 'Call at most one function at a time, and wait for its result before the next call.',
      },
    ],
  },
};

export const TOOL_ROWS: readonly RequestRow[] = [
  {
    name: 'a function',
    entries: {
      chat: carried(chat({}), UPSTREAM_TOOLS),
      responses: carried(responses({}), UPSTREAM_TOOLS),
      messages: carried(messages({}), UPSTREAM_TOOLS),
      generate: carried(native({}), UPSTREAM_TOOLS),
    },
  },
  {
    name: 'a strict function',
    entries: {
      chat: strict({ tools: [chatTool({ strict: true })] }, 'tools[0].function'),
      responses: strict({ tools: [flatTool({ strict: true })] }, 'tools[0]'),
      messages: strict({ tools: [messagesTool({ strict: true })] }, 'tools[0]'),
      generate: carried(native(mode('VALIDATED')), { ...UPSTREAM_TOOLS, ...mode('VALIDATED') }),
    },
  },
  {
    name: 'a tool that takes free text',
    entries: {
      chat: carried(
        { tools: [{ type: 'custom', custom: { name: 'p', description: 'Patch' } }] },
        freeform('Patch'),
      ),
      responses: noted(
        {
          tools: [
            {
              type: 'custom',
              name: 'p',
              description: 'Patch',
              format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
            },
          ],
        },
        { fields: freeform('Patch\n\nThe input must follow this lark grammar:\nstart: "x"') },
        ['approximated', 'tools[0]'],
      ),
      messages: unsaid('The protocol has no tools that take free text.'),
      generate: unsaid('The protocol has no tools that take free text.'),
    },
  },
  {
    name: 'web search',
    entries: {
      chat: carried({ web_search_options: {} }, searchTool()),
      responses: carried({ tools: [{ type: 'web_search' }] }, searchTool()),
      messages: carried(
        { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
        searchTool(),
      ),
      generate: carried(({ search }) => ({ tools: [{ [search]: {} }] }), searchTool()),
    },
  },
  {
    name: 'reading an address',
    entries: {
      chat: unsaid('The protocol has no such tool.'),
      responses: unsaid('The protocol has no such tool.'),
      messages: carried(
        { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
        { tools: [{ urlContext: {} }] },
      ),
      generate: carried({ tools: [{ url_context: {} }] }, { tools: [{ urlContext: {} }] }),
    },
  },
  {
    name: 'running code',
    entries: {
      chat: unsaid('The protocol has no such tool.'),
      responses: carried(
        { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
        { tools: [{ codeExecution: {} }] },
      ),
      messages: carried(
        { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
        { tools: [{ codeExecution: {} }] },
      ),
      generate: carried({ tools: [{ codeExecution: {} }] }, { tools: [{ codeExecution: {} }] }),
    },
  },
  {
    name: 'running code, demanded',
    entries: {
      chat: unsaid('The protocol has no such tool.'),
      responses: refused(
        {
          tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
          tool_choice: { type: 'code_interpreter' },
        },
        'tool_choice',
      ),
      messages: carried(
        {
          tools: [{ type: 'code_execution_20250825', name: 'code_execution' }],
          tool_choice: { type: 'tool', name: 'code_execution' },
        },
        { tools: [{ codeExecution: {} }] },
      ),
      generate: unsaid('A built-in tool cannot be demanded.'),
    },
  },
  {
    name: 'the choice left to the model',
    entries: {
      chat: carried(chat({ tool_choice: 'auto' }), mode('AUTO')),
      responses: carried(responses({ tool_choice: 'auto' }), mode('AUTO')),
      messages: carried(messages({ tool_choice: { type: 'auto' } }), mode('AUTO')),
      generate: carried(native(mode('auto')), mode('AUTO')),
    },
  },
  {
    name: 'any call demanded',
    entries: {
      chat: carried(chat({ tool_choice: 'required' }), mode('ANY')),
      responses: carried(responses({ tool_choice: 'required' }), mode('ANY')),
      messages: carried(messages({ tool_choice: { type: 'any' } }), mode('ANY')),
      generate: carried(native(mode('ANY')), mode('ANY')),
    },
  },
  {
    name: 'one call demanded by name',
    entries: {
      chat: carried(
        chat({ tool_choice: { type: 'function', function: { name: 'w' } } }),
        mode('ANY', ['w']),
      ),
      responses: carried(
        responses({ tool_choice: { type: 'function', name: 'w' } }),
        mode('ANY', ['w']),
      ),
      messages: carried(messages({ tool_choice: { type: 'tool', name: 'w' } }), mode('ANY', ['w'])),
      generate: carried(native(mode('ANY', ['w'])), mode('ANY', ['w'])),
    },
  },
  {
    name: 'some of the tools allowed',
    entries: {
      chat: carried(
        {
          tools: [chatTool(), chatTool({ name: 'v' })],
          tool_choice: {
            type: 'allowed_tools',
            allowed_tools: {
              mode: 'auto',
              tools: [{ type: 'function', function: { name: 'w' } }],
            },
          },
        },
        { ...UPSTREAM_TOOLS, ...mode('AUTO') },
      ),
      responses: carried(
        {
          tools: [flatTool(), flatTool({ name: 'v' })],
          tool_choice: {
            type: 'allowed_tools',
            mode: 'required',
            tools: [{ type: 'function', name: 'w' }],
          },
        },
        mode('ANY', ['w']),
      ),
      messages: unsaid('A choice names one tool or none.'),
      generate: unsaid('Names are allowed by the demanding mode alone.'),
    },
  },
  {
    name: 'no call wanted, the tools still declared',
    entries: {
      chat: carried(chat({ tool_choice: 'none' }), { ...UPSTREAM_TOOLS, ...mode('NONE') }),
      responses: carried(responses({ tool_choice: 'none' }), {
        ...UPSTREAM_TOOLS,
        ...mode('NONE'),
      }),
      messages: carried(messages({ tool_choice: { type: 'none' } }), {
        ...UPSTREAM_TOOLS,
        ...mode('NONE'),
      }),
      generate: carried(native(mode('NONE')), { ...UPSTREAM_TOOLS, ...mode('NONE') }),
    },
  },
  {
    name: 'one call at a time',
    entries: {
      chat: noted(chat({ parallel_tool_calls: false }), { fields: ONCE }, [
        'approximated',
        'parallel_tool_calls',
      ]),
      responses: noted(responses({ parallel_tool_calls: false }), { fields: ONCE }, [
        'approximated',
        'parallel_tool_calls',
      ]),
      messages: noted(
        messages({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
        { fields: ONCE },
        ['approximated', 'tool_choice.disable_parallel_tool_use'],
      ),
      generate: unsaid('The protocol has no such switch.'),
    },
  },
  {
    name: 'hosted tools nobody has here, not demanded',
    entries: {
      chat: noted({ tools: [{ type: 'file_search' }, chatTool()] }, { fields: UPSTREAM_TOOLS }, [
        'dropped',
        'tools[0]',
      ]),
      responses: noted(
        { tools: [{ type: 'file_search', vector_store_ids: ['v'] }, flatTool()] },
        { fields: UPSTREAM_TOOLS },
        ['dropped', 'tools[0]'],
      ),
      messages: refused(
        { tools: [{ type: 'computer_20250124', name: 'computer' }] },
        'tools[0].type',
      ),
      generate: carried({ tools: [{ googleMaps: {} }] }, {}),
    },
  },
  {
    name: 'where a tool is described for caching',
    entries: {
      chat: silent({ tools: [{ ...chatTool(), cache_control: { type: 'ephemeral' } }] }, [
        'cachedContent',
      ]),
      responses: unsaid('Tools carry no such hint.'),
      messages: silent({ tools: [messagesTool({ cache_control: { type: 'ephemeral' } })] }, [
        'cachedContent',
      ]),
      generate: unsaid('Tools carry no such hint.'),
    },
  },
];

function searchTool(): (words: Words) => JsonObject {
  return ({ search }) => ({ tools: [{ [search]: {} }] });
}

/** Schemas are enforced where the model can, and only followed elsewhere. */
function strict(ask: JsonObject, path: string): Entry {
  return {
    kind: 'written',
    ask,
    expected: {
      fields: ({ vocabulary }) => ({
        ...UPSTREAM_TOOLS,
        ...mode(vocabulary === 'real' ? 'VALIDATED' : 'AUTO'),
      }),
    },
    noted: ({ vocabulary }) => (vocabulary === 'real' ? [] : [['approximated', path]]),
  };
}

function freeform(description: string): JsonObject {
  const parameters = {
    type: 'object',
    properties: { input: { type: 'string' } },
    required: ['input'],
  };
  return { tools: [{ functionDeclarations: [{ name: 'p', description, parameters }] }] };
}
