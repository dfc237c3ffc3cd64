// One client of each protocol, as small as can be: what it sends, and what it understands of the answer.

import type { JsonObject, JsonValue } from '../../src/lib/json.ts';
import { objectOf, objectsOf, textOf } from '../sessions/client.ts';

export interface WireQuestion {
  readonly model: string;
  /** In the protocol's own form. */
  readonly items: readonly JsonObject[];
  readonly thinks?: boolean;
  readonly hasTools?: boolean;
  readonly schema?: JsonObject;
  readonly stream?: boolean;
}

interface UnderstoodAnswer {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly city: string }[];
  readonly thought: string;
}

export interface WireClient {
  readonly name: string;
  path(question: WireQuestion): string;
  body(question: WireQuestion): JsonObject;
  user(text: string, png?: string): JsonObject;
  /** The answer and results of its calls, as the next turns. */
  goOn(answer: JsonObject, results: readonly string[]): readonly JsonObject[];
  read(answer: JsonObject): UnderstoodAnswer;
}

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const NAME = 'get_weather';
const DESCRIPTION = 'The weather of a city.';
const MAX_TOKENS = 8000;

function argumentsOf(text: JsonValue | undefined): string {
  return textOf(objectOf(JSON.parse(textOf(text))).city);
}

function joined(parts: readonly JsonObject[], field: string): string {
  return parts.map((part) => textOf(part[field])).join('');
}

const messages: WireClient = {
  name: 'messages',
  path: () => '/v1/messages',
  body: ({ model, items, thinks, hasTools, schema, stream }) => ({
    ...{ model, max_tokens: MAX_TOKENS, messages: [...items], stream: stream === true },
    ...(thinks === true && { thinking: { type: 'enabled', budget_tokens: 2048 } }),
    ...(hasTools === true && {
      tools: [{ name: NAME, description: DESCRIPTION, input_schema: PARAMETERS }],
    }),
    ...(schema !== undefined && { output_config: { format: { type: 'json_schema', schema } } }),
  }),
  user: (text, png) => ({
    role: 'user',
    content: [
      ...(png === undefined
        ? []
        : [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }]),
      { type: 'text', text },
    ],
  }),
  goOn: ({ content = [] }, results) => [
    { role: 'assistant', content },
    {
      role: 'user',
      content: objectsOf(content)
        .filter(({ type }) => type === 'tool_use')
        .map(({ id = '' }, index) => ({
          ...{ type: 'tool_result', tool_use_id: id, content: results[index] ?? '' },
        })),
    },
  ],
  read: ({ content }) => {
    const blocks = objectsOf(content);
    return {
      text: joined(blocks, 'text'),
      thought: joined(blocks, 'thinking'),
      calls: blocks
        .filter(({ type }) => type === 'tool_use')
        .map(({ id, input }) => ({ id: textOf(id), city: textOf(objectOf(input).city) })),
    };
  },
};

const chatMessage = ({ choices }: JsonObject): JsonObject =>
  objectOf(objectsOf(choices)[0]?.message);

const chat: WireClient = {
  name: 'chat',
  path: () => '/v1/chat/completions',
  body: ({ model, items, thinks, hasTools, schema, stream }) => ({
    ...{ model, messages: [...items], stream: stream === true },
    ...(thinks === true && { reasoning_effort: 'low' }),
    ...(hasTools === true && {
      tools: [
        {
          type: 'function',
          function: { name: NAME, description: DESCRIPTION, parameters: PARAMETERS },
        },
      ],
    }),
    ...(schema !== undefined && {
      response_format: { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } },
    }),
  }),
  user: (text, png) => ({
    role: 'user',
    content: [
      ...(png === undefined
        ? []
        : [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }]),
      { type: 'text', text },
    ],
  }),
  goOn: (answer, results) => {
    const message = chatMessage(answer);
    return [
      message,
      ...objectsOf(message.tool_calls).map(({ id = '' }, index) => ({
        ...{ role: 'tool', tool_call_id: id, content: results[index] ?? '' },
      })),
    ];
  },
  read: (answer) => {
    const { content, reasoning_content: thought, tool_calls: calls } = chatMessage(answer);
    return {
      text: textOf(content),
      thought: textOf(thought),
      calls: objectsOf(calls).map(({ id, function: named }) => ({
        ...{ id: textOf(id), city: argumentsOf(objectOf(named).arguments) },
      })),
    };
  },
};

const responses: WireClient = {
  name: 'responses',
  path: () => '/v1/responses',
  body: ({ model, items, thinks, hasTools, schema, stream }) => ({
    ...{ model, input: [...items], store: false, stream: stream === true },
    ...(thinks === true && {
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    }),
    ...(hasTools === true && {
      tools: [{ type: 'function', name: NAME, description: DESCRIPTION, parameters: PARAMETERS }],
    }),
    ...(schema !== undefined && {
      text: { format: { type: 'json_schema', name: 'a', strict: true, schema } },
    }),
  }),
  user: (text, png) => ({
    role: 'user',
    content: [
      ...(png === undefined
        ? []
        : [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }]),
      { type: 'input_text', text },
    ],
  }),
  goOn: ({ output }, results) => {
    const items = objectsOf(output);
    const calls = items.filter(({ type }) => type === 'function_call');
    return [
      ...items,
      ...calls.map(({ call_id: id = '' }, index) => ({
        ...{ type: 'function_call_output', call_id: id, output: results[index] ?? '' },
      })),
    ];
  },
  read: ({ output }) => {
    const items = objectsOf(output);
    const of = (type: string): JsonObject[] => items.filter((item) => item.type === type);
    return {
      text: joined(
        of('message').flatMap(({ content }) => objectsOf(content)),
        'text',
      ),
      thought: joined(
        of('reasoning').flatMap(({ summary }) => objectsOf(summary)),
        'text',
      ),
      calls: of('function_call').map(({ call_id: id, arguments: text }) => ({
        ...{ id: textOf(id), city: argumentsOf(text) },
      })),
    };
  },
};

const nativeParts = ({ candidates }: JsonObject): JsonObject[] =>
  objectsOf(objectOf(objectsOf(candidates)[0]?.content).parts);

const generate: WireClient = {
  name: 'generate',
  path: ({ model, stream }) =>
    `/v1beta/models/${encodeURIComponent(model)}:${stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: ({ items, thinks, hasTools, schema }) => ({
    contents: [...items],
    ...(hasTools === true && {
      tools: [
        {
          functionDeclarations: [
            { name: NAME, description: DESCRIPTION, parametersJsonSchema: PARAMETERS },
          ],
        },
      ],
    }),
    generationConfig: {
      maxOutputTokens: MAX_TOKENS,
      ...(thinks === true && { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } }),
      ...(schema !== undefined && {
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
      }),
    },
  }),
  user: (text, png) => ({
    role: 'user',
    parts: [
      ...(png === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: png } }]),
      { text },
    ],
  }),
  goOn: (answer, results) => {
    const parts = nativeParts(answer);
    const calls = parts.flatMap(({ functionCall: call }) => call ?? []).map(objectOf);
    return [
      { role: 'model', parts },
      {
        role: 'user',
        parts: calls.map(({ id = '', name = '' }, index) => ({
          functionResponse: { id, name, response: { output: results[index] ?? '' } },
        })),
      },
    ];
  },
  read: (answer) => {
    const parts = nativeParts(answer);
    return {
      text: joined(
        parts.filter(({ thought }) => thought !== true),
        'text',
      ),
      thought: joined(
        parts.filter(({ thought }) => thought === true),
        'text',
      ),
      calls: parts
        .flatMap(({ functionCall: call }) => call ?? [])
        .map(objectOf)
        .map(({ id, args }) => ({ id: textOf(id), city: textOf(objectOf(args).city) })),
    };
  },
};

export const WIRE_CLIENTS: readonly WireClient[] = [messages, chat, responses, generate];
