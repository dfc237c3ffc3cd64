import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { GenerateAnswer } from '../dispatch/dispatcher.ts';
import { holdStream } from './held-stream.test-support.ts';
import { arrival, openRaw, type RawConnection, rawPost } from './raw-socket.test-support.ts';
import { chunksOf, startEdge } from './start-edge.test-support.ts';

const STREAM = rawPost('/v1/messages', '{"model":"m","stream":true}');
const UNARY = rawPost('/v1/messages', '{"model":"m"}');

/** A connection that is kept open behind an answer. */
async function openIdle(port: number): Promise<RawConnection> {
  const connection = openRaw(port);
  connection.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.until((text) => text.endsWith('}'));
  return connection;
}

/** An edge with one stream under way, which goes on when it is let go. */
async function startBusy() {
  const held = holdStream();
  const { server, port } = await startEdge({
    settings: { authMode: 'off', allowedHosts: ['a'] },
    generate: async () => ({ kind: 'stream', chunks: held.chunks }),
  });
  const busy = openRaw(port);
  busy.write(STREAM);
  await busy.until((text) => text.includes('data: 1'));
  return { held, server, port, busy };
}

test('closing lets a stream finish, then closes its connection at once', async () => {
  const { held, server, port, busy } = await startBusy();
  const idle = await openIdle(port);
  const closing = server.close();
  await idle.closed();
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
  held.release();
  const received = await busy.closed();
  expect(received).toContain('data: 2\n\n');
  expect(received.endsWith('0\r\n\r\n')).toBe(true);
  await closing;
});

test('a connection whose stream has ended closes while others still run, and asks nothing more', async () => {
  const [short, long] = [holdStream(), holdStream()];
  const held = [short, long];
  const { server, port } = await startEdge({
    settings: { authMode: 'off', allowedHosts: ['a'] },
    generate: async () => ({ kind: 'stream', chunks: held.shift()?.chunks ?? short.chunks }),
  });
  const [first, second] = [openRaw(port), openRaw(port)];
  for (const connection of [first, second]) {
    connection.write(STREAM);
    await connection.until((text) => text.includes('data: 1'));
  }
  const idle = await openIdle(port);
  const closing = server.close();
  await idle.closed();
  short.release();
  expect((await first.closed()).endsWith('0\r\n\r\n')).toBe(true);
  expect(second.received).not.toContain('data: 2');
  long.release();
  expect(await second.closed()).toContain('data: 2');
  await closing;
});

test('a request whose head was coming is answered while draining, and its connection closed', async () => {
  const { held, server, port, busy } = await startBusy();
  const accepted: Socket[] = [];
  server.http.on('connection', (socket) => accepted.push(socket));
  const heads = ['GET /health', 'OPTIONS /v1/models', 'GET /v1/models'];
  const late = heads.map((line) => {
    const connection = openRaw(port);
    connection.write(`${line} HTTP/1.1\r\nHost: a\r\n`);
    return connection;
  });
  await expect
    .poll(() => accepted.map(({ bytesRead }) => bytesRead > 0), { interval: 1 })
    .toEqual([true, true, true]);
  const closing = server.close();
  const answers = await Promise.all(
    late.map((connection) => {
      connection.write('\r\n');
      return connection.closed();
    }),
  );
  expect(answers.map((text) => text.slice(9, 12))).toEqual(['503', '204', '200']);
  expect(answers[0]).toContain('"status":"draining"');
  for (const text of answers) expect(text.toLowerCase()).toContain('connection: close');
  held.release();
  await busy.closed();
  await closing;
});

test.each([
  ['a whole answer', UNARY],
  ['a stream', STREAM],
])('%s that is on its way arrives whole, however slowly it is read', async (_what, request) => {
  const text = '~'.repeat(30_000_000);
  const { server, port } = await startEdge({
    settings: { authMode: 'off', allowedHosts: ['a'] },
    generate: async ({ stream }) =>
      stream
        ? { kind: 'stream', chunks: chunksOf(`data: ${text}\n\n`) }
        : { kind: 'reply', body: { text } },
  });
  const slow = openRaw(port);
  slow.write(request);
  await slow.until((received) => received.includes('~~~'));
  slow.socket.pause();
  // Its end is written by then, and waits for the client.
  await arrival();
  const idle = await openIdle(port);
  const closing = server.close();
  await idle.closed();
  slow.socket.resume();
  const received = await slow.closed();
  expect(received.split('~').length - 1).toBe(text.length);
  await closing;
});

test('a request on a kept connection is still served while draining, and says it was the last', async () => {
  const answers = [
    Promise.withResolvers<GenerateAnswer>(),
    Promise.withResolvers<GenerateAnswer>(),
  ];
  const called = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const { server, port } = await startEdge({
    settings: { authMode: 'off', allowedHosts: ['a'] },
    generate: () => {
      const index = count++;
      called[index]?.resolve();
      return answers[index]?.promise ?? Promise.reject(new Error('too many'));
    },
  });
  const first = openRaw(port);
  const second = openRaw(port);
  first.write(UNARY);
  await called[0]?.promise;
  second.write(UNARY);
  await called[1]?.promise;
  const closing = server.close();
  answers[0]?.resolve({ kind: 'reply', body: { ok: 1 } });
  expect((await first.closed()).toLowerCase()).toContain('connection: close');
  answers[1]?.resolve({ kind: 'reply', body: { ok: 2 } });
  expect(await second.closed()).toContain('{"ok":2}');
  await closing;
});

test('a pipelined request that runs already is answered before its connection closes', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const both = Promise.withResolvers<void>();
  let count = 0;
  async function* chunks(index: number): AsyncGenerator<string> {
    yield `data: ${index} begins\n\n`;
    await gates[index]?.promise;
    yield `data: ${index} ends\n\n`;
  }
  const { server, port } = await startEdge({
    settings: { authMode: 'off', allowedHosts: ['a'] },
    generate: async () => {
      const index = count++;
      if (index === 1) both.resolve();
      return { kind: 'stream', chunks: chunks(index) };
    },
  });
  const connection = openRaw(port);
  connection.write(STREAM + STREAM);
  await both.promise;
  await connection.until((text) => text.includes('data: 0 begins'));
  const idle = await openIdle(port);
  const closing = server.close();
  await idle.closed();
  gates[0]?.resolve();
  await connection.until((text) => text.includes('data: 0 ends'));
  await connection.until((text) => text.includes('data: 1 begins'));
  gates[1]?.resolve();
  const received = await connection.closed();
  expect(received).toContain('data: 1 ends');
  expect(received.endsWith('0\r\n\r\n')).toBe(true);
  await closing;
});

test('what outlives the grace is ended with an error: in the stream, or as a 503', async () => {
  const clock = createFakeClock();
  async function* endless(): AsyncGenerator<string> {
    yield 'data: 1\n\n';
    await new Promise(() => {});
  }
  const called = Promise.withResolvers<void>();
  const { server, port } = await startEdge({
    clock,
    settings: { authMode: 'off', allowedHosts: ['a'], shutdownGraceMs: 30_000 },
    generate: (call) => {
      if (call.stream) return Promise.resolve({ kind: 'stream', chunks: endless() });
      called.resolve();
      return new Promise(() => {});
    },
  });
  const stream = openRaw(port);
  stream.write(STREAM);
  await stream.until((text) => text.includes('data: 1'));
  const unary = openRaw(port);
  unary.write(UNARY);
  await called.promise;
  const closing = server.close();
  await clock.advance(29_999);
  await arrival();
  expect(stream.received).not.toContain('overloaded');
  await clock.advance(1);
  const received = await stream.closed();
  expect(received).toContain('data: {"error":"overloaded","in":"messages"}\n\n');
  expect(received.endsWith('0\r\n\r\n')).toBe(true);
  const refused = await unary.closed();
  expect(refused).toMatch(/^HTTP\/1\.1 503 /);
  expect(refused).toContain('retry-after: 1\r\n');
  await closing;
});

test('a client that takes nothing holds the close up no longer than it takes to say the last words', async () => {
  const clock = createFakeClock();
  async function* flood(): AsyncGenerator<string> {
    for (;;) yield `data: ${'x'.repeat(60_000)}\n\n`;
  }
  const { server, port } = await startEdge({
    clock,
    settings: { authMode: 'off', allowedHosts: ['a'], shutdownGraceMs: 30_000 },
    generate: async () => ({ kind: 'stream', chunks: flood() }),
  });
  const stalled = openRaw(port);
  stalled.write(STREAM);
  await stalled.until((text) => text.includes('data: x'));
  stalled.socket.pause();
  const idle = await openIdle(port);
  let isClosed = false;
  const closing = server.close().then(() => {
    isClosed = true;
  });
  await idle.closed();
  await clock.advance(31_999);
  await arrival();
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closing;
  stalled.socket.destroy();
});

test('for the drain delay it says that it wants no more requests, and serves those that come', async () => {
  const clock = createFakeClock();
  const { server, port, url } = await startEdge({
    clock,
    settings: { authMode: 'off', allowedHosts: ['a'], drainDelayMs: 5_000 },
  });
  const kept = await openIdle(port);
  const idle = await openIdle(port);
  let isClosed = false;
  const closing = server.close().then(() => {
    isClosed = true;
  });
  for (const [path, status] of [
    ['/readyz', 503],
    ['/health', 503],
    ['/livez', 200],
  ] as const) {
    expect([path, (await fetch(url + path)).status]).toEqual([path, status]);
  }
  const late = openRaw(port);
  late.write(UNARY);
  expect(await late.closed()).toMatch(/^HTTP\/1\.1 200 /);
  await clock.advance(4_999);
  kept.write(UNARY);
  const [, last = ''] = (await kept.closed()).split('}HTTP/1.1 ');
  expect(last).toMatch(/^200 /);
  expect(last.toLowerCase()).toContain('connection: close');
  expect(idle.socket.closed).toBe(false);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await idle.closed();
  await closing;
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
});

test('a stream that ends within the drain delay leaves its connection to one more request', async () => {
  const clock = createFakeClock();
  const held = holdStream();
  const { server, port } = await startEdge({
    clock,
    settings: { authMode: 'off', allowedHosts: ['a'], drainDelayMs: 5_000 },
    generate: async ({ stream }) =>
      stream ? { kind: 'stream', chunks: held.chunks } : { kind: 'reply', body: { ok: 1 } },
  });
  const busy = openRaw(port);
  busy.write(STREAM);
  await busy.until((text) => text.includes('data: 1'));
  const closing = server.close();
  held.release();
  await busy.until((text) => text.endsWith('0\r\n\r\n'));
  busy.write(UNARY);
  expect(await busy.closed()).toContain('{"ok":1}');
  await clock.advance(5_000);
  await closing;
});

test('a request whose head never ends does not hold the close up', async () => {
  const { server, port } = await startEdge();
  const accepted = Promise.withResolvers<Socket>();
  server.http.on('connection', accepted.resolve);
  const half = openRaw(port);
  half.write('GET /health HTTP/1.1\r\nHost: a\r\n');
  const socket = await accepted.promise;
  await expect.poll(() => socket.bytesRead, { interval: 1 }).toBeGreaterThan(0);
  await server.close();
  // Nor is it answered once its time is over: that would be seconds later.
  expect(await half.closed()).toBe('');
});

test('a connection that never asked anything does not hold the close up', async () => {
  const { server, port } = await startEdge();
  const silent = openRaw(port);
  await new Promise((resolve) => silent.socket.once('connect', resolve));
  await server.close();
  await silent.closed();
  await server.close();
});
