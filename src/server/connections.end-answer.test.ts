import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { readUnsentBytes } from '../lib/unsent-bytes.ts';
import { endAnswer } from './connections.ts';

const LENGTH = 20_000_000;
let server: Server | undefined;
afterEach(() => void server?.closeAllConnections());

/** A server that answers everything with a large body. */
async function start() {
  const clock = createFakeClock();
  const answered = Promise.withResolvers<ServerResponse>();
  server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': LENGTH });
    endAnswer(response, 'x'.repeat(LENGTH), clock);
    answered.resolve(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { clock, answered: answered.promise, port: (server.address() as AddressInfo).port };
}

/** Asks for the answer and takes nothing until no more of it fits into the system's buffers. */
async function leaveStuck(socket: Socket, answered: Promise<ServerResponse>) {
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const response = await answered;
  let written = 0;
  let unsent: number | undefined;
  // The system goes on taking and sending what node has written.
  const isStuck = async (): Promise<boolean> => {
    const before = [written, unsent];
    written = response.socket?.bytesWritten ?? 0;
    unsent = await readUnsentBytes(response.socket);
    return written > 0 && written === before[0] && unsent === before[1];
  };
  await expect.poll(isStuck, { interval: 50 }).toBe(true);
  return { response };
}

test('a large answer arrives whole and leaves no timer behind', async () => {
  const { clock, port, answered } = await start();
  const reply = await fetch(`http://127.0.0.1:${port}/`);
  expect((await reply.text()).length).toBe(LENGTH);
  await expect.poll(async () => (await answered).writableFinished, { interval: 1 }).toBe(true);
  expect(clock.pendingTimers).toBe(0);
});

test.skipIf(process.platform !== 'linux')(
  'a client that takes a little of a large answer goes on, until it takes nothing for two minutes',
  async () => {
    const { clock, port, answered } = await start();
    const socket = connect(port, '127.0.0.1');
    const { response } = await leaveStuck(socket, answered);
    await clock.advance(2_000);
    expect(await readUnsentBytes(response.socket)).toBeGreaterThan(500_000);
    // The system may take more of the answer meanwhile: what counts is what it sent.
    const readSent = async () =>
      Number(response.socket?.bytesWritten) - Number(await readUnsentBytes(response.socket));
    const before = await readSent();
    for (let taken = 0; taken < 400_000; await new Promise(setImmediate)) {
      taken += socket.read()?.length ?? 0;
    }
    await expect.poll(readSent, { interval: 5 }).toBeGreaterThan(before);
    await clock.advance(118_000);
    await expect.poll(() => clock.pendingTimers, { interval: 1 }).toBe(1);
    expect(response.destroyed).toBe(false);
    // The system may still be at what it was given room for, which is progress once more.
    await expect
      .poll(async () => {
        await clock.advance(120_000);
        return response.destroyed;
      })
      .toBe(true);
    expect(response.writableFinished).toBe(false);
    socket.destroy();
  },
);

test('a client that takes nothing of a large answer for two minutes is cut off', async () => {
  const { clock, port, answered } = await start();
  const socket = connect(port, '127.0.0.1');
  const { response } = await leaveStuck(socket, answered);
  await clock.advance(119_999);
  expect(response.destroyed).toBe(false);
  const closed = once(response, 'close');
  await clock.advance(1);
  await closed;
  expect(response.writableFinished).toBe(false);
  expect(clock.pendingTimers).toBe(0);
  socket.destroy();
});
