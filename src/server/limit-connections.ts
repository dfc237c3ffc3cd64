// Bounds the open connections, of all and of one address, below the descriptor limit; idle ones are closed first.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { visitorOf } from '../door/ip-address.ts';
import type { Clock } from '../lib/clock.ts';
import { type AddressRange, isInRange, isLoopback, readAddress } from './gates/address.ts';
import type { Log } from './log.ts';

const MOST_CONNECTIONS = 16_384;
/** What the gateway has open itself: its database, its logs, the program. */
const OWN_FILES = 64;
/** Each request has a connection of its client and one to its upstream. */
const FILES_OF_REQUEST = 2;
const FEWEST_CONNECTIONS = 16;
/** Room for many people behind one address, and still a part of the whole. */
const SHARE_OF_ADDRESS = 0.25;
/** This machine and trusted proxies speak for many clients; some room is left to others even so. */
const SHARE_OF_PROXY = 0.875;
/** Longer than the 60 s idle limit of common balancers, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
/** While more connections than this are open, idle ones are closed sooner, so that a burst leaves few behind. */
const CROWD = 32;
const CROWDED_KEEP_ALIVE_MS = 10_000;
/** Node refuses what comes beyond its own limit before anybody idle can make room. */
const NODES_MARGIN = 16;

export interface ConnectionLimitOptions {
  /** Asked for every connection: these speak for many clients, and so does this machine itself. */
  readonly trustedProxies: () => readonly AddressRange[];
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** What the system lets this process have open; undefined where it does not say. */
  readonly openFiles?: number | undefined;
}

type Connection = Pick<Socket, 'remoteAddress' | 'destroy' | 'once' | 'setTimeout'>;

/** As much of node's server as is needed here. */
export interface ConnectionServer {
  maxConnections: number;
  /** The idle limit that node tells the client in `Keep-Alive: timeout=…`, and the time it adds before it closes. */
  keepAliveTimeout: number;
  keepAliveTimeoutBuffer: number;
  prependListener(event: 'connection', listener: (socket: Connection) => void): unknown;
  prependListener(
    event: 'request',
    listener: (request: IncomingMessage, response: ServerResponse) => void,
  ): unknown;
}

interface Visitor {
  readonly name: string;
  connections: number;
  /** The log has a line about it. */
  isTold: boolean;
}

interface Held {
  readonly socket: Connection;
  readonly visitor: Visitor;
  requests: number;
  idleSince: number;
}

/** Further connections are closed unanswered, unless an idle one can go instead. */
export function limitConnections(server: ConnectionServer, options: ConnectionLimitOptions): void {
  const { trustedProxies, log, clock } = options;
  const most = mostConnections(options.openFiles);
  server.maxConnections = most + NODES_MARGIN;
  const visitors = new Map<string, Visitor>();
  const open = new Map<Connection, Held>();
  /** Node tells each answer the limit in force, so that no client is told more than it gets. */
  const setKeepAlive = (): void => {
    server.keepAliveTimeout = open.size > CROWD ? CROWDED_KEEP_ALIVE_MS : KEEP_ALIVE_MS;
  };
  setKeepAlive();

  const close = (held: Held): void => {
    forget(held);
    held.socket.destroy();
  };
  const forget = (held: Held): void => {
    if (!open.delete(held.socket)) return;
    setKeepAlive();
    held.visitor.connections -= 1;
    if (held.visitor.connections === 0) visitors.delete(held.visitor.name);
  };
  /** Of one visitor, or of all. */
  const longestIdle = (visitor: Visitor | undefined): Held | undefined => {
    let found: Held | undefined;
    for (const held of open.values()) {
      if (held.requests > 0 || (visitor !== undefined && held.visitor !== visitor)) continue;
      if (found === undefined || held.idleSince < found.idleSince) found = held;
    }
    return found;
  };
  const makeRoom = (visitor: Visitor, mostOfVisitor: number): boolean => {
    const isFull = visitor.connections >= mostOfVisitor;
    if (!isFull && open.size < most) return true;
    const idle = longestIdle(isFull ? visitor : undefined);
    if (idle !== undefined) close(idle);
    return idle !== undefined;
  };
  const enter = (socket: Connection): void => {
    const { name, isMany } = visitorAt(socket.remoteAddress, trustedProxies());
    const visitor = visitors.get(name) ?? { name, connections: 0, isTold: false };
    const mostOfVisitor = Math.floor(most * (isMany ? SHARE_OF_PROXY : SHARE_OF_ADDRESS));
    if (!makeRoom(visitor, mostOfVisitor)) {
      socket.destroy();
      if (!visitor.isTold) log.warn({ client: name, mostOfVisitor, most }, TOO_MANY);
      visitor.isTold = true;
      return;
    }
    visitor.connections += 1;
    visitors.set(name, visitor);
    const held = { socket, visitor, requests: 0, idleSince: clock.monotonic() };
    open.set(socket, held);
    setKeepAlive();
    socket.once('close', () => forget(held));
  };
  const begin = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    const held = open.get(socket);
    if (held === undefined) return;
    held.requests += 1;
    const toldMs = server.keepAliveTimeout;
    response.once('close', () => {
      held.requests -= 1;
      held.idleSince = clock.monotonic();
      // Node uses the limit of now, which may have changed since this client was told one.
      if (held.requests > 0 || toldMs === server.keepAliveTimeout) return;
      socket.setTimeout(toldMs + server.keepAliveTimeoutBuffer);
    });
  };
  server.prependListener('connection', enter);
  server.prependListener('request', begin);
}

const TOO_MANY = 'an address has as many connections open as one may have; further ones are closed';

function mostConnections(openFiles = Number.POSITIVE_INFINITY): number {
  const ofFiles = Math.floor((openFiles - OWN_FILES) / FILES_OF_REQUEST);
  return Math.min(MOST_CONNECTIONS, Math.max(FEWEST_CONNECTIONS, ofFiles));
}

function visitorAt(
  peer = '',
  trustedProxies: readonly AddressRange[],
): { readonly name: string; readonly isMany: boolean } {
  const address = readAddress(peer);
  const isMany =
    address === undefined ||
    isLoopback(address) ||
    trustedProxies.some((range) => isInRange(address, range));
  return { name: address === undefined ? '' : visitorOf(peer), isMany };
}
