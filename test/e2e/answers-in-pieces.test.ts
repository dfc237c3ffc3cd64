// Upstreams that stream what was asked for whole, or answer a stream at once: clients of the same wire get what they asked for.

import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/app.ts';
import { listen } from '../support/listen.ts';

interface Wire {
  readonly profile: string;
  readonly version: string;
  readonly model: string;
  readonly models: JsonObject;
  readonly path: string;
  readonly events: readonly JsonObject[];
  readonly expected: JsonObject;
}

const chunk = (choice: JsonObject): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4.1',
  choices: [{ index: 0, finish_reason: null, ...choice }],
});

const CHAT: Wire = {
  profile: 'openai-compatible',
  version: '/v1',
  model: 'gpt-4.1',
  models: { object: 'list', data: [{ id: 'gpt-4.1', object: 'model' }] },
  path: '/v1/chat/completions',
  events: [
    chunk({ delta: { role: 'assistant', content: 'Good ' } }),
    chunk({ delta: { content: 'answer.' } }),
    chunk({ delta: {}, finish_reason: 'stop' }),
  ],
  expected: {
    object: 'chat.completion',
    choices: [{ message: { role: 'assistant', content: 'Good answer.' }, finish_reason: 'stop' }],
  },
};

const MESSAGES: Wire = {
  profile: 'messages',
  version: '',
  model: 'claude-sonnet-4-6',
  models: { data: [{ type: 'model', id: 'claude-sonnet-4-6' }], has_more: false },
  path: '/v1/messages',
  events: [
    {
      type: 'message_start',
      message: {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6' },
        ...{ content: [], stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Good ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'answer.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ],
  expected: {
    type: 'message',
    content: [{ type: 'text', text: 'Good answer.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 2 },
  },
};

const WIRES: readonly (readonly [string, Wire])[] = [
  ['Chat', CHAT],
  ['Messages', MESSAGES],
];

test.each(WIRES)('%s: an answer that is streamed unasked is whole', async (_name, wire) => {
  const frames = wire.events.map(
    (event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  const { status, text } = await ask(wire, false, 'text/event-stream', frames.join(''));
  expect(JSON.parse(text)).toMatchObject(wire.expected);
  expect(status).toBe(200);
});

test.each(WIRES)(
  '%s: an answer that comes whole where a stream was asked for is streamed',
  async (_name, wire) => {
    const whole = JSON.stringify({
      id: 'x',
      model: wire.model,
      role: 'assistant',
      ...wire.expected,
    });
    const { status, text } = await ask(wire, true, 'application/json', whole);
    expect(status).toBe(200);
    const data = text
      .split('\n')
      .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
    const events = data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one));
    const said = events.map(
      (event) => event.choices?.[0]?.delta?.content ?? event.delta?.text ?? '',
    );
    expect(said.join('')).toBe('Good answer.');
    const ends = events.map(
      (event) => event.choices?.[0]?.finish_reason ?? event.delta?.stop_reason,
    );
    expect(ends.filter(Boolean)).toEqual([wire === CHAT ? 'stop' : 'end_turn']);
    expect(data.at(-1)).toContain(wire === CHAT ? '[DONE]' : 'message_stop');
  },
);

async function ask(wire: Wire, stream: boolean, type: string, body: string) {
  const upstream = createServer((request, response) => {
    if (request.method === 'GET') send(response, 'application/json', JSON.stringify(wire.models));
    else send(response, type, body);
  });
  const port = await listen(upstream);
  const app = await startGateway({
    environment: {
      UPSTREAM_PROFILE: wire.profile,
      UPSTREAM_BASE_URL: `http://127.0.0.1:${port}${wire.version}`,
      UPSTREAM_API_KEYS: 'k',
    },
  });
  try {
    const answer = await fetch(app.url + wire.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({
        ...{ model: wire.model, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
        ...(stream && { stream }),
      }),
    });
    return { status: answer.status, text: await answer.text() };
  } finally {
    await app.close();
  }
}

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { 'content-type': type, connection: 'close' }).end(body);
}
