// Bounds the open connections, of all and of one address, so that nobody alone takes all there are.

import type { Socket } from 'node:net';
import { visitorOf } from '../door/ip-address.ts';
import { type AddressRange, isInRange, isLoopback, readAddress } from './gates/address.ts';
import type { Log } from './log.ts';

const MOST_CONNECTIONS = 16_384;
/** Room for many people behind one address, and still a part of the whole. */
const MOST_OF_ADDRESS = 4_096;

export interface ConnectionLimitOptions {
  /** Asked for every connection: these speak for many clients, and so does this machine itself. */
  readonly trustedProxies: () => readonly AddressRange[];
  readonly log: Pick<Log, 'warn'>;
  readonly mostOfAddress?: number | undefined;
}

type Connection = Pick<Socket, 'remoteAddress' | 'destroy' | 'once'>;

/** As much of node's server as is needed here. */
export interface ConnectionServer {
  maxConnections: number;
  prependListener(event: 'connection', listener: (socket: Connection) => void): unknown;
}

interface Held {
  connections: number;
  /** The log has a line about it. */
  isTold: boolean;
}

/** Further connections are closed unanswered: nothing of a request has been read then. */
export function limitConnections(
  server: ConnectionServer,
  { trustedProxies, log, mostOfAddress = MOST_OF_ADDRESS }: ConnectionLimitOptions,
): void {
  server.maxConnections = MOST_CONNECTIONS;
  const visitors = new Map<string, Held>();
  const enter = (socket: Connection): void => {
    const visitor = visitorAt(socket.remoteAddress, trustedProxies());
    if (visitor === undefined) return;
    const held = visitors.get(visitor) ?? { connections: 0, isTold: false };
    if (held.connections >= mostOfAddress) {
      socket.destroy();
      if (!held.isTold) log.warn({ client: visitor, mostOfAddress }, TOO_MANY);
      held.isTold = true;
      return;
    }
    held.connections += 1;
    visitors.set(visitor, held);
    socket.once('close', () => {
      held.connections -= 1;
      if (held.connections === 0) visitors.delete(visitor);
    });
  };
  server.prependListener('connection', enter);
}

const TOO_MANY = 'an address has as many connections open as one may have; further ones are closed';

/** Undefined for those who may have any number. */
function visitorAt(
  peer: string | undefined,
  trustedProxies: readonly AddressRange[],
): string | undefined {
  const address = peer === undefined ? undefined : readAddress(peer);
  if (peer === undefined || address === undefined || isLoopback(address)) return undefined;
  return trustedProxies.some((range) => isInRange(address, range)) ? undefined : visitorOf(peer);
}
