import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { GatewayError } from '../canonical/error.ts';
import type { GenerateAnswer } from '../dispatch/dispatcher.ts';
import { keeping } from './fake-protocols.test-support.ts';
import { holdStream, stable } from './held-stream.test-support.ts';
import { arrival, openRaw, type RawConnection, rawPost } from './raw-socket.test-support.ts';
import {
  chunksOf,
  startEdge,
  type TestEdge,
  type TestEdgeOptions,
} from './start-edge.test-support.ts';

const running: TestEdge[] = [];
const STREAM = '{"model":"m","stream":true}';

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.close()));
});

/** Starts an edge on a fake clock; the returned promise `called` settles when dispatch was reached. */
async function start(options: TestEdgeOptions) {
  const clock = createFakeClock();
  const called = Promise.withResolvers<AbortSignal>();
  const { generate } = options;
  const edge = await startEdge({
    ...options,
    settings: { authMode: 'off', ...options.settings },
    clock,
    generate: (call, context) => {
      called.resolve(context.signal);
      return generate?.(call, context) ?? Promise.reject(new Error('no answer set'));
    },
  });
  running.push(edge);
  return { edge, clock, called: called.promise };
}

function ask(edge: TestEdge, path = '/v1/messages', body = STREAM): RawConnection {
  const connection = openRaw(edge.port);
  connection.write(rawPost(path, body, [`X-Api-Key: k`]));
  return connection;
}

function streamOf(chunks: AsyncGenerator<string>): GenerateAnswer {
  return { kind: 'stream', chunks };
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    const settle = (): void => resolve(signal.reason);
    if (signal.aborted) settle();
    else signal.addEventListener('abort', settle, { once: true });
  });
}

const failure = new GatewayError({
  kind: 'quota-exhausted',
  source: 'upstream',
  message: 'Nothing left.',
  retryAfterMs: 5000,
});

test('a stream goes out chunk by chunk with the headers proxies need', async () => {
  const { edge } = await start({
    generate: async () => streamOf(chunksOf('data: a\n\n', '', 'data: ü\n\n')),
  });
  const response = await fetch(`${edge.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: STREAM,
  });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  expect(response.headers.get('content-encoding')).toBeNull();
  expect(await response.text()).toBe('data: a\n\ndata: ü\n\n');
});

test('P080: a failure before the first event keeps its own status', async () => {
  const { edge } = await start({ generate: () => Promise.reject(failure) });
  const received = await ask(edge).until((text) => text.includes('Nothing left.'));
  expect(received).toMatch(/^HTTP\/1\.1 429 /);
  expect(received).toContain('retry-after: 5\r\n');
});

test('P080: headers wait for the first event up to the hold, then come with keep-alives', async () => {
  const answer = Promise.withResolvers<GenerateAnswer>();
  const { edge, clock, called } = await start({ generate: () => answer.promise });
  const connection = ask(edge);
  await called;
  await clock.advance(9_999);
  await arrival();
  expect(connection.received).toBe('');
  await clock.advance(1);
  const held = await connection.until((text) => text.includes('keep-alive\n\n'));
  expect(held).toMatch(/^HTTP\/1\.1 200 OK/);
  await clock.advance(15_000);
  await connection.until((text) => text.split(': keep-alive\n').length === 3);
  answer.resolve(streamOf(chunksOf('data: late\n\n')));
  expect(await connection.until((text) => text.endsWith('0\r\n\r\n'))).toContain('data: late\n\n');
  expect(clock.pendingTimers).toBe(0);
});

test('P081: a failure after the hold is an error in the stream, of the protocol of the path', async () => {
  const answer = Promise.withResolvers<GenerateAnswer>();
  const { edge, clock, called } = await start({ generate: () => answer.promise });
  const connection = ask(edge);
  await called;
  await clock.advance(10_000);
  answer.reject(failure);
  const received = await connection.until((text) => text.endsWith('0\r\n\r\n'));
  expect(received).toContain('data: {"error":"quota-exhausted","in":"messages"}\n\n');
});

test.each([
  ['a stream', STREAM, 'data: 2\n\n'],
  ['a whole answer', '{"model":"m"}', '"whole"'],
  ['that one is made in the background', '{"model":"m","background":true}', '"queued":true'],
])('%s is told when what it keeps is stored', async (_what, body, last) => {
  const stored = Promise.withResolvers<void>();
  async function* chunks(): AsyncGenerator<string> {
    yield 'data: 1\n\n';
    keeping.until = stored.promise;
    yield 'data: 2\n\n';
  }
  const { edge, called } = await start({
    generate: async ({ stream }) => {
      if (stream) return streamOf(chunks());
      keeping.until = stored.promise;
      return { kind: 'reply', body: { whole: true } };
    },
  });
  keeping.until = body.includes('background') ? stored.promise : undefined;
  try {
    const connection = ask(edge, '/v1/messages', body);
    await called;
    for (let turns = 0; turns < 20; turns += 1) await arrival();
    expect(connection.received).not.toContain(last);
    stored.resolve();
    await connection.until((text) => text.includes(last));
  } finally {
    keeping.until = undefined;
  }
});

test('P082: silence between chunks is filled with keep-alives, talk is not', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  async function* slowly(): AsyncGenerator<string> {
    yield 'data: 1\n\n';
    await gates[0]?.promise;
    yield 'data: 2\n\n';
    await gates[1]?.promise;
  }
  const { edge, clock } = await start({ generate: async () => streamOf(slowly()) });
  const connection = ask(edge);
  await connection.until((text) => text.includes('data: 1'));
  await clock.advance(14_000);
  gates[0]?.resolve();
  await connection.until((text) => text.includes('data: 2'));
  await clock.advance(14_000);
  await arrival();
  expect(connection.received).not.toContain(': keep-alive\n');
  await clock.advance(1_000);
  await connection.until((text) => text.includes(': keep-alive\n'));
  gates[1]?.resolve();
  await connection.until((text) => text.endsWith('0\r\n\r\n'));
});

test('an answer without any event is a 500, never an empty 200', async () => {
  const { edge } = await start({ generate: async () => streamOf(chunksOf()) });
  expect(await ask(edge).until((text) => text.includes('"internal"'))).toMatch(/^HTTP\/1\.1 500 /);
});

test('chunks that break off against the contract still end in an error', async () => {
  async function* broken(): AsyncGenerator<string> {
    yield 'data: 1\n\n';
    throw new Error('secret');
  }
  const { edge } = await start({ generate: async () => streamOf(broken()) });
  const received = await ask(edge).until((text) => text.endsWith('0\r\n\r\n'));
  expect(received).toContain('"error":"internal"');
  expect(received).not.toContain('secret');
  expect(edge.lines.some(({ level }) => level === 'error')).toBe(true);
});

test('no first event within the limit is a timeout: in the stream once its headers are out', async () => {
  const { edge, clock, called } = await start({ generate: () => new Promise(() => {}) });
  const connection = ask(edge);
  const signal = await called;
  await clock.advance(300_000);
  const received = await connection.until((text) => text.endsWith('0\r\n\r\n'));
  expect(received).toContain('data: {"error":"timeout","in":"messages"}\n\n');
  expect(signal.reason).toMatchObject({ kind: 'timeout' });
});

test('no first event within a limit below the hold is a 504', async () => {
  const { edge, clock, called } = await start({
    settings: { requestTimeoutMs: 5_000 },
    generate: () => new Promise(() => {}),
  });
  const connection = ask(edge);
  await called;
  await clock.advance(5_000);
  expect(await connection.until((text) => text.includes('"timeout"'))).toMatch(/^HTTP\/1\.1 504 /);
});

test('a stream that has begun has no total limit', async () => {
  const held = holdStream();
  const { edge, clock } = await start({ generate: async () => streamOf(held.chunks) });
  const connection = ask(edge);
  await connection.until((text) => text.includes('data: 1'));
  await clock.advance(1_000_000);
  held.release();
  expect(await connection.until((text) => text.endsWith('0\r\n\r\n'))).toContain('data: 2');
});

test('a unary answer that takes too long is a 504, and the work behind it is aborted', async () => {
  const { edge, clock, called } = await start({ generate: () => new Promise(() => {}) });
  const connection = ask(edge, '/v1/messages', '{"model":"m"}');
  const signal = await called;
  await clock.advance(300_000);
  expect(await connection.until((text) => text.includes('"timeout"'))).toMatch(/^HTTP\/1\.1 504 /);
  expect(signal.aborted).toBe(true);
});

test.each([
  ['before the answer began', '{"model":"m"}', () => new Promise<GenerateAnswer>(() => {})],
  ['while a stream was held', STREAM, () => new Promise<GenerateAnswer>(() => {})],
  ['in the middle of a stream', STREAM, async () => streamOf(endless())],
])('P090: a client leaving %s aborts the work at once', async (_when, body, generate) => {
  const { edge, called } = await start({ generate });
  const ended = edge.nextEnd();
  const connection = ask(edge, '/v1/messages', body);
  const signal = await called;
  if (generate.name === 'AsyncFunction') await connection.until((text) => text.includes('data:'));
  connection.socket.destroy();
  expect(await aborted(signal)).toMatchObject({ kind: 'client-gone' });
  expect((await ended).fields).toMatchObject({ status: 499 });
});

test('a client that only closes its writing side has left too', async () => {
  const { edge, called } = await start({ generate: () => new Promise(() => {}) });
  const connection = ask(edge);
  const signal = await called;
  connection.socket.end();
  expect(await aborted(signal)).toMatchObject({ kind: 'client-gone' });
});

test('what breaks because its client left is no fault of the gateway', async () => {
  let called = Promise.withResolvers<void>();
  const { edge } = await start({
    generate: (_call, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new TypeError('nobody reads on')));
        called.resolve();
      }),
  });
  for (const body of [STREAM, '{"model":"m"}']) {
    called = Promise.withResolvers();
    const ended = edge.nextEnd();
    const connection = ask(edge);
    connection.write(rawPost('/v1/messages', body));
    await called.promise;
    connection.socket.destroy();
    expect((await ended).fields).toMatchObject({ status: 499, error: 'client-gone' });
    await connection.closed();
  }
  await edge.server.close();
  expect(edge.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a pipelined request whose client leaves is aborted although its turn never came', async () => {
  const signals: AbortSignal[] = [];
  const both = Promise.withResolvers<void>();
  const { edge } = await start({
    generate: (_call, { signal }) => {
      signals.push(signal);
      if (signals.length === 2) both.resolve();
      return new Promise(() => {});
    },
  });
  const ends = [edge.nextEnd(), edge.nextEnd()];
  const connection = ask(edge);
  connection.write(rawPost('/v1/messages', STREAM));
  await both.promise;
  connection.socket.destroy();
  await Promise.all(ends);
  expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
});

test('many pipelined streams that wait for their turn leave node nothing to warn of', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): number => warnings.push(warning);
  process.on('warning', onWarning);
  const held = holdStream();
  const large = `data: ${'~'.repeat(60_000)}\n\n`;
  let calls = 0;
  const { edge } = await start({
    generate: async () => streamOf(++calls === 1 ? held.chunks : chunksOf(large, large)),
  });
  const connection = ask(edge);
  await connection.until((text) => text.includes('data: 1'));
  for (let more = 0; more < 15; more += 1) connection.write(rawPost('/v1/messages', STREAM));
  await waitUntil(() => calls === 16);
  await stable(() => calls);
  held.release();
  await connection.until((text) => text.split('\r\n0\r\n\r\n').length === 17);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

test('a pipelined stream that waits for its turn gives its source up when the client leaves', async () => {
  let produced = 0;
  let stopped = 0;
  async function* fast(): AsyncGenerator<string> {
    try {
      for (; ; produced += 1) yield `data: ${'x'.repeat(30_000)}\n\n`;
    } finally {
      stopped += 1;
    }
  }
  let calls = 0;
  const { edge, clock } = await start({
    generate: async () => streamOf(++calls === 1 ? endless() : fast()),
  });
  const ends = [edge.nextEnd(), edge.nextEnd()];
  const connection = ask(edge);
  connection.write(rawPost('/v1/messages', STREAM));
  await connection.until((text) => text.includes('data: 1'));
  await waitUntil(() => produced > 0);
  expect(await stable(() => produced)).toBeLessThan(20);
  connection.socket.destroy();
  await Promise.all(ends);
  await waitUntil(() => stopped === 1);
  await waitUntil(() => clock.pendingTimers === 0);
});

test('no more of very many pipelined requests is read than a few hundred that wait', async () => {
  const held = holdStream();
  const { edge } = await start({ generate: async () => streamOf(held.chunks) });
  const connection = ask(edge);
  await connection.until((text) => text.includes('data: 1'));
  const padded = `GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Padding: ${'x'.repeat(15_000)}\r\n\r\n`;
  connection.write(padded.repeat(2_000));
  const unsent = await stable(() => connection.socket.writableLength);
  expect(unsent).toBeGreaterThan(10_000_000);
  held.release();
  const received = await connection.until((text) => text.split('HTTP/1.1 200 ').length === 2_002);
  expect(received).toContain('data: 2');
});

test('a pipelined stream is not cut off for waiting until the one before it has ended', async () => {
  const held = holdStream();
  const second = `data: ${'~'.repeat(60_000)}\n\n`;
  let calls = 0;
  const { edge, clock } = await start({
    generate: async () => streamOf(++calls === 1 ? held.chunks : chunksOf(second, second)),
  });
  const connection = ask(edge);
  connection.write(rawPost('/v1/messages', STREAM));
  await connection.until((text) => text.includes('data: 1'));
  await waitUntil(() => calls === 2);
  await clock.advance(1_000_000);
  held.release();
  const received = await connection.until((text) => text.split('\r\n0\r\n\r\n').length === 3);
  expect(received.match(/~/g)).toHaveLength(120_000);
});

test('a slow reader holds the source back', async () => {
  const chunk = `data: ${'x'.repeat(60_000)}\n\n`;
  let produced = 0;
  let stopped = false;
  async function* fast(): AsyncGenerator<string> {
    try {
      for (; produced < 10_000; produced++) yield chunk;
    } finally {
      stopped = true;
    }
  }
  const { edge, clock } = await start({ generate: async () => streamOf(fast()) });
  const ended = edge.nextEnd();
  const connection = ask(edge);
  await connection.until((text) => text.includes('data:'));
  connection.socket.pause();
  // The stall timer beside the keep-alive timer says that the writer waits.
  await waitUntil(() => clock.pendingTimers === 2 && !connection.socket.readableFlowing);
  const held = await stable(() => produced);
  expect(held).toBeLessThan(1_000);
  await clock.advance(120_000);
  expect((await ended).fields).toMatchObject({ status: 499 });
  await waitUntil(() => stopped);
  expect(produced).toBeLessThan(1_000);
});

test('one large chunk arrives whole', async () => {
  const text = `data: ${'ü😀'.repeat(100_000)}\n\n`;
  const { edge } = await start({ generate: async () => streamOf(chunksOf(text, 'data: end\n\n')) });
  const response = await fetch(`${edge.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: STREAM,
  });
  expect(await response.text()).toBe(`${text}data: end\n\n`);
});

async function* endless(): AsyncGenerator<string> {
  yield 'data: 1\n\n';
  await new Promise(() => {});
}

/** Gives input and output their turns until the condition holds. */
async function waitUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
