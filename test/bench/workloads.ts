// What the bench asks for: each workload in the three dialects, its load and its budget.

import type { BenchRequest } from './load.ts';
import {
  BURST,
  EVENTS_PER_STREAM,
  OTHER_BURST,
  OTHER_PACED,
  PACED,
  type PlayedModel,
} from './models.ts';

export const GATEWAY_KEY = 'bench-gateway-key';

export type Dialect = 'chat' | 'messages' | 'native';

/** Wires of upstreams beside the one that most rows are measured with. */
export const OTHER_WIRES = ['messages', 'chat'] as const;
export type OtherWire = (typeof OTHER_WIRES)[number];

export interface Workload {
  readonly name: string;
  /** The wire of the upstream, where it is another one. */
  readonly upstream?: OtherWire;
  /** The dialects it is asked in; its own where it is not said, which is relayed. */
  readonly lanes?: readonly OtherWire[];
  readonly requests: Readonly<Record<Dialect, BenchRequest>>;
  readonly connections: number;
  /** Length of one run; a paced workload lasts as long as its streams. */
  readonly seconds: number;
  /** Many short runs say more than few long ones: what else the machine does then hits all alike. */
  readonly rounds: number;
  readonly unit: 'request' | 'event';
  readonly unitsPerRequest: number;
  /** The gateway's CPU time per unit, at most, as a multiple of the bare pass-through's. */
  readonly mostOfBare: number;
  /** What Portkey adds to the bare pass-through's CPU time, at least, as a multiple of what the gateway adds. */
  readonly leastAddedByPortkey?: number;
}

export const SHORT_PROMPT = 'Say something about the weather in Oslo.';
const LARGE_PROMPT = 'lorem ipsum dolor sit amet '.repeat(11_400);

export const UNARY: Workload = {
  name: 'unary',
  requests: unaryRequests(BURST, SHORT_PROMPT),
  connections: 16,
  seconds: 0.4,
  rounds: 9,
  unit: 'request',
  unitsPerRequest: 1,
  mostOfBare: 2,
  leastAddedByPortkey: 6,
};

export const BURST_STREAM: Workload = {
  name: `burst of ${EVENTS_PER_STREAM} events`,
  requests: streamRequests(BURST, SHORT_PROMPT),
  connections: 16,
  seconds: 0.4,
  rounds: 9,
  unit: 'request',
  unitsPerRequest: 1,
  mostOfBare: 3,
  leastAddedByPortkey: 8,
};

export const PACED_STREAMS: Workload = {
  name: `200 paced streams, ${1000 / PACED.paceMs} events/s each`,
  requests: streamRequests(PACED, SHORT_PROMPT),
  connections: 200,
  seconds: 0,
  rounds: 4,
  unit: 'event',
  unitsPerRequest: EVENTS_PER_STREAM,
  mostOfBare: 1.5,
};

const LARGE_BODY: Workload = {
  name: '300 KB body',
  requests: unaryRequests(BURST, LARGE_PROMPT),
  connections: 8,
  seconds: 0.4,
  rounds: 9,
  unit: 'request',
  unitsPerRequest: 1,
  mostOfBare: 2.2,
};

const MANY_TOOLS: Workload = {
  name: '30 tools',
  requests: toolRequests(BURST, SHORT_PROMPT),
  connections: 8,
  seconds: 0.4,
  rounds: 9,
  unit: 'request',
  unitsPerRequest: 1,
  mostOfBare: 8,
};

/** Together they run every line of code the others need. */
export const WARM_UP_WORKLOADS: readonly Workload[] = [UNARY, BURST_STREAM, LARGE_BODY, MANY_TOOLS];

const OTHER_UNARY: Workload = { ...UNARY, requests: unaryRequests(OTHER_BURST, SHORT_PROMPT) };
const OTHER_BURST_STREAM: Workload = {
  ...BURST_STREAM,
  requests: streamRequests(OTHER_BURST, SHORT_PROMPT),
};

export const OTHER_PACED_STREAMS: Workload = {
  ...PACED_STREAMS,
  requests: streamRequests(OTHER_PACED, SHORT_PROMPT),
};

export const OTHER_WARM_UP_WORKLOADS: readonly Workload[] = [OTHER_UNARY, OTHER_BURST_STREAM];

export const WORKLOADS: readonly Workload[] = [
  UNARY,
  BURST_STREAM,
  PACED_STREAMS,
  LARGE_BODY,
  MANY_TOOLS,
];

/** What an upstream of another wire is measured with: its own clients relayed, and the others translated. */
export function workloadsOf(upstream: OtherWire): readonly Workload[] {
  const relayed = (workload: Workload, mostOfBare: number): Workload => ({
    ...{ ...workload, upstream, mostOfBare, rounds: Math.ceil(workload.rounds / 2) },
    name: `${upstream} relayed, ${workload.name}`,
  });
  return [
    relayed(OTHER_UNARY, 2),
    relayed(OTHER_BURST_STREAM, 2.2),
    relayed(OTHER_PACED_STREAMS, 1.5),
    {
      ...relayed(OTHER_BURST_STREAM, 3),
      name: `${upstream} translated, ${BURST_STREAM.name}`,
      lanes: [upstream === 'chat' ? 'messages' : 'chat'],
    },
  ];
}

function unaryRequests(model: PlayedModel, prompt: string): Workload['requests'] {
  return {
    chat: chatRequest({ model: model.name, messages: userMessages(prompt) }, '"stop"'),
    messages: messagesRequest({ model: model.name, messages: userMessages(prompt) }, '"end_turn"'),
    native: nativeRequest(`${model.name}:generateContent`, textBody(prompt)),
  };
}

/** The functions of a coding client, declared alike in every request. */
function toolRequests(model: PlayedModel, prompt: string): Workload['requests'] {
  const functions = Array.from({ length: 30 }, (_, index) => declareFunction(index));
  const ask = { model: model.name, messages: userMessages(prompt) };
  return {
    chat: chatRequest(
      { ...ask, tools: functions.map((declared) => ({ type: 'function', function: declared })) },
      '"stop"',
    ),
    messages: messagesRequest(
      {
        ...ask,
        tools: functions.map(({ parameters, ...named }) => ({
          ...named,
          input_schema: parameters,
        })),
      },
      '"end_turn"',
    ),
    native: nativeRequest(`${model.name}:generateContent`, {
      ...textBody(prompt),
      tools: [
        {
          functionDeclarations: functions.map(({ parameters, ...named }) => ({
            ...named,
            parametersJsonSchema: parameters,
          })),
        },
      ],
    }),
  };
}

function declareFunction(index: number) {
  const text = (description: string): object => ({ type: 'string', description });
  return {
    name: `edit_workspace_${index}`,
    description: `Edits files of the workspace, variant ${index}. ${'Read a file before it is changed. '.repeat(12)}`,
    parameters: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        path: text('The absolute path of the file to change'),
        old_text: text('The text to replace, which the file has to hold exactly once'),
        new_text: text('The text to put in its place'),
        mode: { type: 'string', enum: ['replace', 'insert', 'append'], default: 'replace' },
        limit: { type: ['integer', 'null'], minimum: 0, description: 'Lines to read at most' },
        edits: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            properties: {
              line: { type: 'number', exclusiveMinimum: 0 },
              text: text('The new line'),
              all: { type: 'boolean', default: false, description: 'Change every occurrence' },
            },
            required: ['line', 'text'],
            additionalProperties: false,
          },
        },
      },
      required: ['path', 'old_text', 'new_text'],
      additionalProperties: false,
    },
  };
}

export function streamRequests(model: PlayedModel, prompt: string): Workload['requests'] {
  const ask = { model: model.name, stream: true, messages: userMessages(prompt) };
  const isStamped = model.paceMs > 0;
  return {
    chat: { ...chatRequest(ask, '"finish_reason":"stop"'), isStamped },
    messages: { ...messagesRequest(ask, 'message_stop'), isStamped },
    native: {
      ...nativeRequest(`${model.name}:streamGenerateContent?alt=sse`, textBody(prompt)),
      isStamped,
    },
  };
}

function chatRequest(body: object, ending: string): BenchRequest {
  return {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${GATEWAY_KEY}` },
    body: JSON.stringify(body),
    ending,
  };
}

function messagesRequest(body: object, ending: string): BenchRequest {
  return {
    path: '/v1/messages',
    headers: { 'x-api-key': GATEWAY_KEY, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ max_tokens: 1000, ...body }),
    ending,
  };
}

function nativeRequest(method: string, body: object): BenchRequest {
  return {
    path: `/v1beta/models/${method}`,
    headers: { 'x-goog-api-key': GATEWAY_KEY },
    body: JSON.stringify(body),
    ending: '"STOP"',
  };
}

function textBody(text: string): object {
  return { contents: [{ role: 'user', parts: [{ text }] }] };
}

function userMessages(content: string): readonly object[] {
  return [{ role: 'user', content }];
}
