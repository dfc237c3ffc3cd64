// A WebSocket's messages under the limits of requests: slow readers, slow senders, memory, order.

import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { openWebSocket } from '../../test/support/web-socket-client.ts';
import { createBodyBudget } from './gates/body.ts';
import { stable } from './held-stream.test-support.ts';
import { openRaw } from './raw-socket.test-support.ts';
import {
  type Generate,
  startEdge,
  type TestEdge,
  type TestEdgeOptions,
} from './start-edge.test-support.ts';

const MEGABYTE = 1_048_576;
const edges: TestEdge[] = [];

afterEach(async () => {
  await Promise.all(edges.splice(0).map(({ server }) => server.close()));
});

async function start(options: TestEdgeOptions = {}) {
  const clock = createFakeClock();
  const edge = await startEdge({ clock, ...options });
  edges.push(edge);
  return { edge, clock };
}

const ASK = { model: 'm' };

async function* streamed(...events: readonly string[]): AsyncGenerator<string> {
  for (const event of events) yield `event: said\ndata: {"said":"${event}"}\n\n`;
}

const answering = (chunks: () => AsyncGenerator<string>): Generate => {
  const contentType = 'text/event-stream';
  return async () => ({ kind: 'stream', contentType, chunks: chunks() });
};

test('events that were cut in pieces are whole messages', async () => {
  async function* cut(): AsyncGenerator<string> {
    yield 'event: said\ndata: {"sa';
    yield 'id":"a"}\n';
    yield '\nevent: said\ndata: {"said":"b"}\n\nevent: said\nda';
    yield 'ta: {"said":"c"}\n\n';
  }
  const { edge } = await start({ generate: answering(cut) });
  const client = await openWebSocket(`${edge.url}/v1/talk`);
  client.send(ASK);
  const said = [await client.next(), await client.next(), await client.next()];
  expect(said).toEqual([{ said: 'a' }, { said: 'b' }, { said: 'c' }]);
  client.close();
});

test('a long event goes out in pieces of its message before it has ended', async () => {
  const [beginning, end] = ['x'.repeat(100_000), 'ü'.repeat(10)];
  const held = Promise.withResolvers<void>();
  async function* long(): AsyncGenerator<string> {
    yield `event: said\ndata: {"said":"${beginning.slice(0, 50_000)}`;
    yield beginning.slice(50_000);
    await held.promise;
    yield `${end}"}\n`;
    yield '\n';
    yield* streamed('b');
  }
  const { edge } = await start({ generate: answering(long) });
  const client = await openWebSocket(`${edge.url}/v1/talk`);
  let came = 0;
  const all = Promise.withResolvers<void>();
  client.socket.on('data', (bytes) => {
    came += bytes.length;
    if (came > 100_000) all.resolve();
  });
  client.send(ASK);
  await all.promise;
  held.resolve();
  expect(await client.next()).toEqual({ said: beginning + end });
  expect(await client.next()).toEqual({ said: 'b' });
  client.close();
});

test('a slow reader holds the source back, and is cut off when it takes nothing more', async () => {
  const chunk = `data: {"said":"${'x'.repeat(60_000)}"}\n\n`;
  let produced = 0;
  const stopped = Promise.withResolvers<void>();
  async function* fast(): AsyncGenerator<string> {
    try {
      for (; produced < 10_000; produced++) yield chunk;
    } finally {
      stopped.resolve();
    }
  }
  const { edge, clock } = await start({ generate: answering(fast) });
  const client = await openWebSocket(`${edge.url}/v1/talk`);
  client.send(ASK);
  await client.next();
  client.webSocket.pause();
  const held = await stable(() => produced);
  expect(held).toBeLessThan(1_000);
  const ended = edge.nextEnd();
  await clock.advance(121_000);
  expect((await ended).fields).toMatchObject({ status: 499 });
  await stopped.promise;
  client.webSocket.terminate();
});

test('a message that needs more memory than there is is told so, and the connection closes', async () => {
  const memory = { limit: 64 * MEGABYTE, heapLimit: 64 * MEGABYTE };
  const { edge, clock } = await start({ memory });
  const client = await openWebSocket(`${edge.url}/v1/talk`);
  client.send({ ...ASK, text: 'x'.repeat(20 * MEGABYTE) });
  expect(await client.next()).toMatchObject({ status: 413, kind: 'too-large' });
  await clock.advance(1_000);
  await client.closed;
  const other = await openWebSocket(`${edge.url}/v1/talk`);
  other.close();
});

test('what came of a refused message counts until its connection is closed', async () => {
  const clock = createFakeClock();
  const bodies = createBodyBudget(clock, { limit: 64 * MEGABYTE, heapLimit: 64 * MEGABYTE });
  const holder = { clientKeyId: '', clientAddress: '127.0.0.1', heldBytes: 0 };
  const another = { bytes: 4.4 * MEGABYTE, isAscii: true, tokens: 0 };
  const { edge } = await start({ clock, bodies });
  const client = await openWebSocket(`${edge.url}/v1/talk`);
  bodies.check(holder, another);
  client.send({ ...ASK, text: 'x'.repeat(20 * MEGABYTE) });
  expect(await client.next()).toMatchObject({ status: 413 });
  expect(() => bodies.check(holder, another)).toThrow('too many large requests');
  await clock.advance(1_000);
  await client.closed;
  await stable(() => clock.pendingTimers);
  bodies.check(holder, another);
});

test('a message that comes too slowly is told so', async () => {
  const { edge, clock } = await start();
  const slow = openRaw(edge.port);
  const lines = [
    'GET /v1/talk HTTP/1.1',
    `Host: 127.0.0.1:${edge.port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  slow.write(`${lines.join('\r\n')}\r\n\r\n`);
  await slow.until((text) => text.includes('\r\n\r\n'));
  // A masked text of 16 MB, of which a hundredth comes (RFC 6455, 5.2).
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
  slow.write(Buffer.concat([head, Buffer.alloc(160_000, 0x20)]));
  await stable(() => clock.pendingTimers);
  await clock.advance(15_000);
  expect(await slow.until((text) => text.includes('too slowly'))).toContain('"kind":"timeout"');
  await clock.advance(1_000);
  await slow.closed();
});

test('no more is read while many requests wait, and all are answered', async () => {
  const first = Promise.withResolvers<void>();
  let asked = 0;
  async function* held(): AsyncGenerator<string> {
    asked += 1;
    const number = asked;
    if (number === 1) await first.promise;
    yield* streamed(String(number));
  }
  const { edge } = await start({ generate: answering(held) });
  const client = await openWebSocket(`${edge.url}/v1/talk`);
  const numbers = Array.from({ length: 30 }, (_none, index) => String(index + 1));
  for (const _number of numbers) client.send(ASK);
  await stable(() => asked);
  expect(asked).toBe(1);
  first.resolve();
  const said: unknown[] = [];
  for (const _number of numbers) said.push((await client.next()).said);
  expect(said).toEqual(numbers);
  client.close();
});

test('a message asks nothing where its protocol takes it for a note', async () => {
  const { edge } = await start({ generate: answering(() => streamed('a')) });
  const client = await openWebSocket(`${edge.url}/v1/talk`);
  client.send('"heard"');
  client.send(ASK);
  expect(await client.next()).toEqual({ said: 'a' });
  client.close();
});

test('a broken frame closes the connection and harms nobody', async () => {
  const { edge, clock } = await start({ generate: answering(() => streamed('a')) });
  const client = await openWebSocket(`${edge.url}/v1/talk`);
  client.webSocket.send(Buffer.from([0xff, 0xfe]), { binary: false });
  expect(await client.closed).toBe(1007);
  await clock.advance(1_000);
  const other = await openWebSocket(`${edge.url}/v1/talk`);
  other.send(ASK);
  expect(await other.next()).toEqual({ said: 'a' });
  other.close();
});
