// Bodies made to be dear: refused for little processor time, whatever stands in them.

import { once } from 'node:events';
import { request } from 'node:http';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEdge, type TestEdge } from '../../src/server/start-edge.test-support.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { countOf } from '../support/counts.ts';
import { threadMsOf } from './measure.ts';

/** Just below the usual limit of a body, or a twelfth of it. */
const SIZE = countOf({ slow: 99_000_000, everyday: 8_000_000 });
/** Half a second where the machine is at rest, as the slow suite wants it; a busy one may need three times as long. */
const MOST_MS = countOf({ slow: 500, everyday: 1500 });

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge({ settings: { authMode: 'off' } });
});
afterAll(() => edge.server.close());

interface Reply {
  readonly status: number;
  readonly text: string;
}

interface Target {
  readonly port: number;
  readonly path: string;
}

function post(
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
  target: Target = { port: edge.port, path: '/v1/messages' },
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = {
      ...{ ...target, host: '127.0.0.1', method: 'POST' },
      headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
    };
    const sent = request(options, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(body);
  });
}

/** `start`, as often `piece` as there is room for, `end`. */
function fill(start: string, piece: string, end: string): Buffer {
  const count = Math.floor((SIZE - start.length - end.length) / piece.length);
  const middle = Buffer.alloc(count * piece.length, piece);
  return Buffer.concat([Buffer.from(start), middle, Buffer.from(end)]);
}

function manyKeys(): Buffer {
  const pieces = Array.from({ length: Math.floor(SIZE / 16) }, (_, at) =>
    `"k${String(at).padStart(9, '0')}":1`.padEnd(15),
  );
  return Buffer.from(`{${pieces.join(',')}}`);
}

test.each([
  ['empty objects', () => fill('[', '{},', '{}]'), 'JSON tokens'],
  ['nested lists', () => fill('', '[', ''), 'nested deeper'],
  ['nested objects', () => fill('', '{"a":', ''), 'nested deeper'],
  ['keys that are all different', manyKeys, 'different keys'],
  ['short numbers', () => fill('{"a":[', '1,', '1]}'), 'JSON tokens|Field required'],
  ['one key', () => fill('{"', 'k', '":1}'), 'object key longer'],
] as const)(
  '%s by the million are refused for little processor time',
  async (_what, make, words) => {
    const body = make();
    let reply: Reply | undefined;
    const spentMs = await threadMsOf(async () => {
      reply = await post(body);
    });
    expect(reply).toMatchObject({ text: expect.stringMatching(words) });
    expect(reply?.status).toBe(400);
    expect(spentMs).toBeLessThan(MOST_MS);
  },
  60_000,
);

test.each([
  ['of a declared size', { 'content-length': '99000000' }, ['[', '{},']],
  ['in chunks', { 'transfer-encoding': 'chunked' }, ['[', '{},']],
  ['that is one key', { 'content-length': '99000000' }, ['{"a":1,"', 'key']],
] as const)(
  'a bomb %s is refused before most of it was sent',
  async (_what, framing, [start, piece]) => {
    const sent = request({
      ...{ port: edge.port, host: '127.0.0.1', path: '/v1/messages', method: 'POST' },
      headers: { 'content-type': 'application/json', ...framing },
    });
    const answered = once(sent, 'response');
    sent.write(start);
    sent.write(Buffer.alloc(6_000_000, piece));
    const [answer] = await answered;
    expect(answer.statusCode).toBe(400);
    expect(answer.headers.connection).toBe('close');
    sent.on('error', () => undefined).destroy();
  },
);

test.each([
  ['gzip', 'unread', gzipSync, 415],
  ['br', 'unread', brotliCompressSync, 415],
  ['zstd', 'after its first megabyte', zstdCompressSync, 413],
] as const)(
  'a body in %s is refused %s, whatever it would become',
  async (coding, _when, compress, status) => {
    const body = compress(Buffer.alloc(SIZE));
    const before = process.memoryUsage().arrayBuffers;
    const spentMs = await threadMsOf(async () => {
      for (let count = 0; count < 20; count += 1) {
        const reply = await post(body, { 'content-encoding': coding });
        expect(reply.status).toBe(status);
      }
    });
    expect(spentMs).toBeLessThan(MOST_MS);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  },
  60_000,
);

test('a body that is declared larger than the limit is refused before it is sent', async () => {
  const reply = await post(Buffer.alloc(0), { 'content-length': '104857601' }).catch(
    () => undefined,
  );
  expect(reply?.status).toBe(413);
});

describe('A1: JSON inside a string', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ environment: { AUTH_MODE: 'off' } });
  });
  afterAll(() => app.close());

  const model = 'alpha-3-flash';
  /** For each place where JSON stands in a string: its path, the body but for the string, and the field's name. */
  const PLACES: readonly (readonly [string, (text: string) => object, string])[] = [
    [
      '/v1/chat/completions',
      (text) => chatWith({ tool_calls: [functionCall('{}'), functionCall(text)] }),
      'messages[1].tool_calls[1].function.arguments',
    ],
    [
      '/v1/chat/completions',
      (text) => chatWith({ function_call: { name: 'f', arguments: text } }),
      'messages[1].function_call.arguments',
    ],
    [
      '/v1/responses',
      (text) => ({
        model,
        input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: text }],
      }),
      'input[0].arguments',
    ],
    [
      '/v1/responses',
      (text) => ({
        model,
        input: [{ type: 'tool_search_call', call_id: 'c', arguments: text }],
      }),
      'input[0].arguments',
    ],
    [
      '/v1/messages',
      (text) => ({
        ...{ model, max_tokens: 10, messages: [{ role: 'user', content: 'x' }] },
        metadata: { user_id: text },
      }),
      'metadata.user_id',
    ],
  ];

  function chatWith(turn: object): object {
    return {
      model,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, ...turn },
        { role: 'user', content: 'x' },
      ],
    };
  }

  function functionCall(text: string): object {
    return { id: 'c', type: 'function', function: { name: 'f', arguments: text } };
  }

  /** A body with `text`, without a second copy of it in memory. */
  function bodyAround(make: (text: string) => object, text: Buffer): Buffer {
    const [start = '', end = ''] = JSON.stringify(make('{"PLACE')).split('\\"PLACE');
    return Buffer.concat([Buffer.from(start), text, Buffer.from(end)]);
  }

  const BOMBS = [
    ['nested lists', () => fill('\\"a\\":', '[', ''), /deeper than 200/],
    ['empty objects', () => fill('\\"a\\":[', '{},', '{}]}'), /2000000 JSON tokens/],
    ['one key', () => fill('\\"', 'k', '\\":1}'), /key longer than 1024/],
  ] as const;

  test.each(
    PLACES.flatMap(([path, make, field]) =>
      BOMBS.map(([what, text, words]) => [what, path, field, { make, text, words }] as const),
    ),
  )(
    '%s in %s %s are refused as in a body',
    async (_what, path, field, { make, text, words }) => {
      const body = bodyAround(make, text());
      let reply: Reply | undefined;
      const spentMs = await threadMsOf(async () => {
        reply = await post(body, {}, { port: app.port, path });
      });
      expect(reply?.text).toMatch(words);
      expect(reply?.text).toContain(field);
      expect(reply?.status).toBe(400);
      expect(spentMs).toBeLessThan(MOST_MS);
    },
    60_000,
  );

  test('many strings that are allowed one by one are one bomb together', async () => {
    const text = `{"a":[${'[],'.repeat(6_600)}0]}`;
    const calls = Array.from({ length: 150 }, () => functionCall(text));
    const body = Buffer.from(JSON.stringify(chatWith({ tool_calls: calls })));
    const reply = await post(body, {}, { port: app.port, path: '/v1/chat/completions' });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('messages[1].tool_calls[100].function.arguments');
  });

  test('arguments that are nested less are taken', async () => {
    const text = `{"a":${'['.repeat(40)}${']'.repeat(40)}}`;
    const body = Buffer.from(JSON.stringify(chatWith({ tool_calls: [functionCall(text)] })));
    const reply = await post(body, {}, { port: app.port, path: '/v1/chat/completions' });
    expect(reply.text).toMatch(/"finish_reason":"stop"/);
  });
});

describe('schemas of functions', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ environment: { AUTH_MODE: 'off' } });
  });
  afterAll(() => app.close());

  const LEVELS = 14;

  /** Few characters that its references make thousands of schemas of. */
  function unfolding(title: string): object {
    const pair = (level: number) => ({
      type: 'object',
      properties: { a: { $ref: `#/$defs/d${level}` }, b: { $ref: `#/$defs/d${level}` } },
    });
    const inner = Array.from({ length: LEVELS }, (_, level) => [
      `d${level}`,
      level === LEVELS - 1 ? { type: 'string' } : pair(level + 1),
    ]);
    return { ...pair(0), title, $defs: Object.fromEntries(inner) };
  }

  const schemas = Array.from({ length: 400 }, (_, index) => unfolding(`t${index}`));
  const messages = [{ role: 'user', content: 'Hi' }];
  const model = 'alpha-3-flash';
  test.each([
    [
      '/v1/chat/completions',
      {
        ...{ model, messages },
        tools: schemas.map((parameters, index) => ({
          type: 'function',
          function: { name: `f${index}`, parameters },
        })),
      },
    ],
    [
      '/v1/messages',
      {
        ...{ model, messages, max_tokens: 10 },
        tools: schemas.map((input_schema, index) => ({ name: `f${index}`, input_schema })),
      },
    ],
    [
      `/v1beta/models/${model}:generateContent`,
      {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        tools: [
          {
            functionDeclarations: schemas.map((parameters, index) => ({
              name: `f${index}`,
              parameters,
            })),
          },
        ],
      },
    ],
  ])('that unfold far together are refused for little processor time at %s', async (path, body) => {
    let reply: Reply | undefined;
    const spentMs = await threadMsOf(async () => {
      reply = await post(Buffer.from(JSON.stringify(body)), {}, { port: app.port, path });
    });
    expect(reply?.text).toContain('unfold too far');
    expect(reply?.status).toBe(400);
    expect(spentMs).toBeLessThan(2 * MOST_MS);
  });

  test('one of them is taken', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: schemas[0] } }];
    const body = Buffer.from(JSON.stringify({ model, messages, tools }));
    const reply = await post(body, {}, { port: app.port, path: '/v1/chat/completions' });
    expect(reply.status).toBe(200);
  });
});
