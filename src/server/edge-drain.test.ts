import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { GenerateAnswer } from '../dispatch/dispatcher.ts';
import { holdStream } from './testing/held-stream.ts';
import { openRaw, type RawConnection, rawPost } from './testing/raw-socket.ts';
import { startEdge } from './testing/start-edge.ts';

const STREAM = rawPost('/v1/messages', '{"model":"m","stream":true}');
const UNARY = rawPost('/v1/messages', '{"model":"m"}');

/** A connection that is kept open behind an answer. */
async function openIdle(port: number): Promise<RawConnection> {
  const connection = openRaw(port);
  connection.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.until((text) => text.endsWith('}'));
  return connection;
}

test('closing lets a stream finish, then closes its connection at once', async () => {
  const held = holdStream();
  const { server, port } = await startEdge({
    settings: { authMode: 'off' },
    generate: async () => ({ kind: 'stream', chunks: held.chunks }),
  });
  const busy = openRaw(port);
  busy.write(STREAM);
  await busy.until((text) => text.includes('data: 1'));
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

test('a request on a kept connection is still served while draining, and says it was the last', async () => {
  const answers = [
    Promise.withResolvers<GenerateAnswer>(),
    Promise.withResolvers<GenerateAnswer>(),
  ];
  const called = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const { server, port } = await startEdge({
    settings: { authMode: 'off' },
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
    settings: { authMode: 'off' },
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
    settings: { authMode: 'off', shutdownGraceMs: 30_000 },
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

test('a connection that never asked anything does not hold the close up', async () => {
  const { server, port } = await startEdge();
  const silent = openRaw(port);
  await new Promise((resolve) => silent.socket.once('connect', resolve));
  await server.close();
  await silent.closed();
  await server.close();
});
