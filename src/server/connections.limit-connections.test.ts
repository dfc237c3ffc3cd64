import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { limitConnections } from './connections.ts';
import { readTrustedProxies } from './gates/locality.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  isDestroyed = false;
  idleLimitMs: number | undefined;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): this {
    this.isDestroyed = true;
    return this;
  }

  setTimeout(ms: number): this {
    this.idleLimitMs = ms;
    return this;
  }
}

/** By default one address may have four connections of sixteen open at once. */
function limited({ trusted = [], most = 16 }: { trusted?: readonly string[]; most?: number } = {}) {
  const server = Object.assign(new EventEmitter(), {
    maxConnections: 0,
    keepAliveTimeout: 5_000,
    keepAliveTimeoutBuffer: 1_000,
  });
  const warnings: string[] = [];
  const clock = createFakeClock();
  limitConnections(server, {
    trustedProxies: () => readTrustedProxies(trusted),
    log: { warn: (_fields, message) => void warnings.push(message) },
    clock,
    openFiles: 64 + 2 * most,
  });
  const connect = (address: string): FakeSocket => {
    const socket = new FakeSocket(address);
    server.emit('connection', socket);
    return socket;
  };
  /** One with a request under way. */
  const ask = (address: string) => {
    const socket = connect(address);
    const response = new EventEmitter();
    server.emit('request', { socket }, response);
    return { socket, end: () => response.emit('close') };
  };
  const areTaken = (...addresses: readonly string[]): boolean[] =>
    addresses.map((address) => !ask(address).socket.isDestroyed);
  const areOpen = (sockets: readonly FakeSocket[]): number =>
    sockets.filter(({ isDestroyed }) => !isDestroyed).length;
  return { server, warnings, clock, connect, ask, areTaken, areOpen };
}

const PEER = '192.0.2.1';

test('T15: an address has no more connections than one may have, others are not touched', () => {
  const { areTaken, server, warnings } = limited();
  expect(areTaken(PEER, `::ffff:${PEER}`, PEER, PEER)).toEqual([true, true, true, true]);
  expect(areTaken(PEER, PEER)).toEqual([false, false]);
  expect(areTaken('192.0.2.2')).toEqual([true]);
  expect(warnings).toHaveLength(1);
  expect(server.maxConnections).toBeGreaterThan(16);
});

test('of IPv6 a whole /64 is one address', () => {
  const { areTaken } = limited();
  const network = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8::4', '2001:db8::5'];
  expect(areTaken(...network)).toEqual([true, true, true, true, false]);
  expect(areTaken('2001:db8:0:1::1')).toEqual([true]);
});

test('a connection that ends makes room for another', () => {
  const { ask, areTaken } = limited();
  const first = ask(PEER);
  expect(areTaken(PEER, PEER, PEER, PEER)).toEqual([true, true, true, false]);
  first.socket.emit('close');
  expect(areTaken(PEER, PEER)).toEqual([true, false]);
});

test('this machine and trusted proxies speak for many, and leave some room to others', () => {
  const { areTaken } = limited({ trusted: ['10.0.0.0/8'] });
  expect(areTaken(...Array(15).fill('127.0.0.1')).filter(Boolean)).toHaveLength(14);
  expect(areTaken('10.1.2.3', '192.0.2.9')).toEqual([true, true]);
  expect(areTaken('192.0.2.9')).toEqual([false]);
});

test('A12: 400 idle connections of one local client leave descriptors for everybody', () => {
  const { connect, ask, areOpen, server } = limited({ most: 96 });
  const idle = Array.from({ length: 400 }, () => connect('127.0.0.1'));
  expect(areOpen(idle)).toBe(84);
  expect(server.maxConnections).toBeLessThan(256 - 64);
  expect(ask('127.0.0.1').socket.isDestroyed).toBe(false);
  expect(ask(PEER).socket.isDestroyed).toBe(false);
});

test('of the idle connections the one that was idle for longest goes, and none that is at work', async () => {
  const { ask, connect, clock } = limited();
  const working = ask(PEER);
  const served = ask(PEER);
  const older = connect(PEER);
  const newer = connect(PEER);
  await clock.advance(5);
  served.end();
  connect(PEER);
  connect(PEER);
  expect([older, newer, served.socket, working.socket].map((one) => one.isDestroyed)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('A11b: a crowd is told a shorter keep-alive, and what each client was told holds', () => {
  const { ask, server } = limited({ most: 1000 });
  const early = ask('127.0.0.1');
  expect(server.keepAliveTimeout).toBe(65_000);
  const crowd = Array.from({ length: 32 }, () => ask('127.0.0.1'));
  expect(server.keepAliveTimeout).toBe(10_000);
  early.end();
  expect(early.socket.idleLimitMs).toBe(66_000);
  for (const { end } of crowd) end();
  // All but the last were told the longer one.
  expect(crowd.filter(({ socket }) => socket.idleLimitMs === 66_000)).toHaveLength(31);
  for (const { socket } of crowd) socket.emit('close');
  expect(server.keepAliveTimeout).toBe(65_000);
});

test('A11b: what a trusted proxy keeps open stays longer than its own idle limit of up to 600 s, in a crowd too', () => {
  const { ask } = limited({ most: 1000, trusted: ['10.0.0.0/8'] });
  const alone = ask('10.1.2.3');
  alone.end();
  expect(alone.socket.idleLimitMs).toBe(621_000);
  const ofProxy = Array.from({ length: 40 }, () => ask('10.1.2.3'));
  const ofOther = ask(PEER);
  for (const { end } of [...ofProxy, ofOther]) end();
  expect(new Set(ofProxy.map(({ socket }) => socket.idleLimitMs))).toEqual(new Set([621_000]));
  // Node's own limit, the shorter one, is left to it.
  expect(ofOther.socket.idleLimitMs).toBeUndefined();
});
