import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import { SocketWriter } from './stream-response.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Line {
  readonly writer: SocketWriter;
  readonly response: ServerResponse;
  readonly client: Socket;
  readonly clock: FakeClock;
}

/** A writer whose headers are sent, and the socket of its client, which reads nothing by itself. */
async function open(version = '1.1'): Promise<Line> {
  const clock = createFakeClock();
  const answered = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => answered.resolve(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const client = connect({ port, host: '127.0.0.1' });
  closers.push(() => {
    client.destroy();
    server.close();
  });
  client.write(`GET / HTTP/${version}\r\nhost: x\r\n\r\n`);
  const response = await answered.promise;
  response.writeHead(200, ['content-type', 'text/plain']);
  return { writer: new SocketWriter(response, clock), response, client, clock };
}

async function bodyUntil(client: Socket, ending: string): Promise<string> {
  let received = '';
  for await (const chunk of client.setEncoding('utf8')) {
    received += chunk;
    if (received.endsWith(ending)) break;
  }
  return received.slice(received.indexOf('\r\n\r\n') + 4);
}

/** What the chunks of a body hold; it throws where their sizes are wrong. */
function withoutChunks(body: string): string {
  const bytes = Buffer.from(body);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = bytes.indexOf('\r\n', at) + 2;
    const end = start + Number.parseInt(bytes.subarray(at, start).toString(), 16);
    expect(bytes.subarray(end, end + 2).toString()).toBe('\r\n');
    pieces.push(bytes.subarray(start, end));
    at = end + 2;
  }
  return Buffer.concat(pieces).toString();
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('texts of one turn are one chunk, and the end goes with them', async () => {
  const { writer, client } = await open();
  writer.write('first');
  await turn();
  writer.write('a');
  writer.write('ü€😀');
  await turn();
  writer.write('last');
  writer.end();
  expect(await bodyUntil(client, '\r\n0\r\n\r\n')).toBe(
    '5\r\nfirst\r\na\r\naü€😀\r\n4\r\nlast\r\n0\r\n\r\n',
  );
});

test('a whole answer of one turn needs no turn more', async () => {
  const { writer, client } = await open();
  writer.write('all');
  writer.end();
  expect(writer.isOpen).toBe(false);
  expect(await bodyUntil(client, '0\r\n\r\n')).toBe('3\r\nall\r\n0\r\n\r\n');
});

test('HTTP/1.0 clients get the text without chunks', async () => {
  const { writer, client } = await open('1.0');
  writer.write('one ');
  await turn();
  writer.write('two');
  writer.end();
  expect(await bodyUntil(client, 'two')).toBe('one two');
});

test('a client that is behind is waited for, and what it missed arrives in order', async () => {
  const { writer, client } = await open();
  const piece = 'x'.repeat(60_000);
  let count = 0;
  let behind: Promise<void> | undefined;
  while (behind === undefined) {
    behind = writer.write(piece);
    count += 1;
    await turn();
  }
  let hasCaughtUp = false;
  const caughtUp = behind.then(() => {
    hasCaughtUp = true;
  });
  expect(writer.isBehind).toBe(true);
  await turn();
  expect(hasCaughtUp).toBe(false);
  const body = bodyUntil(client, '\r\n0\r\n\r\n');
  await caughtUp;
  writer.end();
  expect(await body).toBe(`${`ea60\r\n${piece}\r\n`.repeat(count)}0\r\n\r\n`);
});

test('an end that cannot wait for a client that is behind comes after all that was written', async () => {
  const { writer, client } = await open();
  const large = 'x😀'.repeat(2_000_000);
  const behind = writer.write(large);
  await turn();
  writer.write('the error');
  writer.end();
  const body = bodyUntil(client, '\r\n0\r\n\r\n');
  await behind;
  const received = withoutChunks(await body);
  expect(received.length).toBe(large.length + 'the error'.length);
  expect(received.startsWith(large)).toBe(true);
  expect(received.endsWith('the error')).toBe(true);
});

test('a client that takes nothing for two minutes is cut off', async () => {
  const { writer, response, clock } = await open();
  const behind = writer.write('x'.repeat(20_000_000));
  await turn();
  await clock.advance(120_000);
  await behind;
  expect(response.destroyed).toBe(true);
  expect(writer.isOpen).toBe(false);
  expect(clock.pendingTimers).toBe(0);
});
