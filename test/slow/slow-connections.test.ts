// Four thousand connections that send as little as they can: good clients are served, the others cut off.

import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEdge, type TestEdge } from '../../src/server/start-edge.test-support.ts';
import { inParallel } from '../security/measure.ts';

const OF_EACH = 2_000;
const GOOD = 1_000;
/** Each sends another byte in this time, so that none is idle. */
const TRICKLE_MS = 1_000;

let edge: TestEdge;
beforeAll(async () => {
  edge = await startEdge({ settings: { authMode: 'off' } });
});
afterAll(() => edge.server.close());

const HEADERS = 'POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ';
const BODY =
  'POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"a":"';

interface Attacker {
  /** Resolves when the gateway has closed the connection. */
  readonly cut: Promise<void>;
  leave(): void;
}

function attack(start: string): Attacker {
  const socket: Socket = connect(edge.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write(start);
  const timer = setInterval(() => socket.write('a'), TRICKLE_MS);
  const cut = new Promise<void>((resolve) => {
    socket.on('close', () => {
      clearInterval(timer);
      resolve();
    });
  });
  return { cut, leave: () => socket.destroy() };
}

test('while 4,000 connections trickle every good request is answered, and all of them are cut off', async () => {
  const attackers: Attacker[] = [];
  await inParallel(2 * OF_EACH, 200, async (index) => {
    attackers.push(attack(index % 2 === 0 ? HEADERS : BODY));
    await new Promise((resolve) => setImmediate(resolve));
  });
  const statuses = new Map<number, number>();
  const askGood = async (): Promise<void> => {
    const answer = await fetch(`${edge.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'alpha-3-flash' }),
    });
    await answer.arrayBuffer();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  };
  await inParallel(GOOD, 10, askGood);
  let isCut = false;
  const allCut = Promise.all(attackers.map(({ cut }) => cut)).then(() => {
    isCut = true;
  });
  // Good ones go on coming until the last attacker is gone.
  while (!isCut) await inParallel(20, 10, askGood);
  await allCut;
  for (const attacker of attackers) attacker.leave();
  expect([...statuses.keys()]).toEqual([200]);
  expect(attackers).toHaveLength(2 * OF_EACH);
  expect(statuses.get(200)).toBeGreaterThanOrEqual(GOOD);
}, 90_000);
