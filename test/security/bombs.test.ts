// Bodies made to be dear: refused for little processor time, whatever stands in them.

import { once } from 'node:events';
import { request } from 'node:http';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEdge, type TestEdge } from '../../src/server/testing/start-edge.ts';
import { countOf, threadMsOf } from './measure.ts';

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

function post(body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = {
      ...{ port: edge.port, host: '127.0.0.1', path: '/v1/messages', method: 'POST' },
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
  ['keys that are all different', manyKeys, 'JSON tokens|nested|Field required'],
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
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)(
  'a body in %s is refused unread, whatever it would become',
  async (coding, compress) => {
    const body = compress(Buffer.alloc(SIZE));
    const before = process.memoryUsage().arrayBuffers;
    const spentMs = await threadMsOf(async () => {
      for (let count = 0; count < 20; count += 1) {
        const reply = await post(body, { 'content-encoding': coding });
        expect(reply.status).toBe(415);
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
