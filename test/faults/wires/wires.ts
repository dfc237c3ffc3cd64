// The three upstream wires as raw bytes: a good answer, its events, and the ways in which each tells an error.

import type { JsonObject } from '../../../src/lib/json.ts';
import type { ProtocolCall } from '../../support/protocol-calls.ts';

export interface Wire {
  readonly name: ProtocolCall['name'];
  readonly profile: string;
  /** Below the address of the upstream. */
  readonly base: string;
  readonly models: JsonObject;
  /** The answer to what was asked for whole. */
  readonly whole: JsonObject;
  /** The same as a stream, event by event. */
  readonly events: readonly string[];
  /** How many events come before the first that has text, and how many it takes until the end is named. */
  readonly beforeText: number;
  readonly untilEnd: number;
  /** True where the last event can be nothing else. */
  readonly hasLastEvent: boolean;
  /** Events that tell of a fault. */
  readonly errors: Readonly<Record<string, string>>;
}

export const MODEL = 'alpha-3-flash';
const TEXT = 'Good answer.';

const data = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: JsonObject): string =>
  `event: ${String(value.type)}\ndata: ${JSON.stringify(value)}\n\n`;

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const chunk = (choice: JsonObject): string =>
  data({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: MODEL },
    choices: [{ index: 0, finish_reason: null, ...choice }],
  });

const CHAT: Wire = {
  name: 'chat',
  profile: 'openai-compatible',
  base: '/v1',
  models: { object: 'list', data: [{ id: MODEL, object: 'model' }] },
  whole: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: MODEL, usage: USAGE },
    choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
  },
  events: [
    chunk({ delta: { role: 'assistant', content: '' } }),
    chunk({ delta: { content: 'Good ' } }),
    chunk({ delta: { content: 'answer.' } }),
    chunk({ delta: {}, finish_reason: 'stop' }),
    data({
      ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: MODEL },
      ...{ choices: [], usage: USAGE },
    }),
    'data: [DONE]\n\n',
  ],
  beforeText: 1,
  untilEnd: 4,
  hasLastEvent: true,
  errors: {
    'an object': data({ error: { message: 'Overloaded.', type: 'server_error', code: 503 } }),
    'a text': data({ error: 'Overloaded.' }),
    'an event of this name': event({ type: 'error', error: { message: 'Overloaded.' } }),
    'an object that calls itself one': data({
      ...{ object: 'error', message: 'Overloaded.', type: 'InternalServerError', code: 500 },
    }),
    'a choice that ends in one': data({
      error: { message: 'Provider disconnected.', code: 502 },
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    }),
    'a line of JSON': '{"error":{"message":"Overloaded.","type":"server_error"}}\n',
  },
};

const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL };

const MESSAGES: Wire = {
  name: 'messages',
  profile: 'messages',
  base: '',
  models: { data: [{ type: 'model', id: MODEL }], has_more: false },
  whole: {
    ...{ ...MESSAGE, content: [{ type: 'text', text: TEXT }], stop_reason: 'end_turn' },
    usage: { input_tokens: 3, output_tokens: 2 },
  },
  events: [
    event({
      type: 'message_start',
      message: { ...MESSAGE, content: [], usage: { input_tokens: 3, output_tokens: 1 } },
    }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...['Good ', 'answer.'].map((text) =>
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
    event({ type: 'content_block_stop', index: 0 }),
    event({
      type: 'message_delta',
      ...{ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    }),
    event({ type: 'message_stop' }),
  ],
  beforeText: 2,
  untilEnd: 7,
  hasLastEvent: true,
  errors: {
    'an event': event({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    }),
    'an event without its name': data({
      ...{ type: 'error', error: { type: 'api_error', message: 'Internal.' } },
    }),
    'a line of JSON': '{"type":"error","error":{"type":"api_error","message":"Internal."}}\n',
  },
};

const piece = (text: string, rest: JsonObject = {}): string =>
  data({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...rest }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
  });
const GOOGLE_ERROR = { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } };

const GENERATE: Wire = {
  name: 'generate',
  profile: 'generic',
  base: '',
  models: { models: [{ name: `models/${MODEL}` }] },
  whole: {
    candidates: [
      { content: { role: 'model', parts: [{ text: TEXT }] }, finishReason: 'STOP', index: 0 },
    ],
  },
  events: [piece('Good '), piece('answer.', { finishReason: 'STOP' })],
  beforeText: 0,
  untilEnd: 2,
  hasLastEvent: false,
  errors: {
    'an object': data(GOOGLE_ERROR),
    'an array': `data: ${JSON.stringify([GOOGLE_ERROR])}\n\n`,
    'an event of this name': `event: error\n${data(GOOGLE_ERROR)}`,
    'a text': data({ error: 'Overloaded.' }),
    'a line of JSON': `${JSON.stringify(GOOGLE_ERROR)}\n`,
  },
};

export const WIRES: readonly Wire[] = [CHAT, MESSAGES, GENERATE];
