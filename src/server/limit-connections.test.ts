import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { readTrustedProxies } from './gates/client-address.ts';
import { limitConnections } from './limit-connections.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  isDestroyed = false;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): this {
    this.isDestroyed = true;
    return this;
  }
}

/** Two connections of one address at once. */
function limited(trusted: readonly string[] = []) {
  const server = Object.assign(new EventEmitter(), { maxConnections: 0 });
  const warnings: string[] = [];
  limitConnections(server, {
    trustedProxies: () => readTrustedProxies(trusted),
    log: { warn: (_fields, message) => void warnings.push(message) },
    mostOfAddress: 2,
  });
  const connect = (address: string): FakeSocket => {
    const socket = new FakeSocket(address);
    server.emit('connection', socket);
    return socket;
  };
  const areTaken = (...addresses: readonly string[]): boolean[] =>
    addresses.map((address) => !connect(address).isDestroyed);
  return { server, warnings, connect, areTaken };
}

test('T15: an address has no more connections than one may have, others are not touched', () => {
  const { areTaken, server, warnings } = limited();
  const peer = '192.0.2.1';
  expect(areTaken(peer, `::ffff:${peer}`, peer, peer)).toEqual([true, true, false, false]);
  expect(areTaken('192.0.2.2')).toEqual([true]);
  expect(warnings).toHaveLength(1);
  expect(server.maxConnections).toBeGreaterThan(1_000);
});

test('of IPv6 a whole /64 is one address', () => {
  const { areTaken } = limited();
  expect(areTaken('2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1')).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

test('a connection that ends makes room for another', () => {
  const { connect, areTaken } = limited();
  const first = connect('192.0.2.1');
  expect(areTaken('192.0.2.1', '192.0.2.1')).toEqual([true, false]);
  first.emit('close');
  expect(areTaken('192.0.2.1', '192.0.2.1')).toEqual([true, false]);
});

test('this machine and trusted proxies speak for many, and may have any number', () => {
  const { areTaken } = limited(['10.0.0.0/8']);
  for (const peer of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3']) {
    expect(areTaken(peer, peer, peer)).toEqual([true, true, true]);
  }
});
