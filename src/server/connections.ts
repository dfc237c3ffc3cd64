// Connections: their limit, their events, large answers by the piece, and closing those whose peer has read nothing for
// 120 s.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../lib/clock.ts';
import { IndexedList, type IndexedListItem } from '../lib/collections.ts';
import { type IpRange, isInRange, isLoopback, readAddress, visitorOf } from '../lib/net.ts';
import { derived, remember } from '../lib/once.ts';
import { readUnsentBytes } from '../lib/unsent-bytes.ts';
import { MAX_PEERS } from './gates/locality.ts';
import type { ClientResponse, Log } from './settings.ts';

/** A client that takes nothing for this long is cut off. */
const STALL_MS = 120_000;
/** Most waits are over by then, and nobody has looked what the system holds. */
const FIRST_LOOK_MS = 2_000;
/** All look at the same moments: one reading of what the system holds serves all, and takes longer the more there are. */
const STEP_MS = 1_000;

type StallClock = Pick<Clock, 'monotonic' | 'startTimer'>;

/** Until `cancel`. A pipelined response has no socket before its turn: the client is not slow until then. */
export function closeStalled(response: ClientResponse, clock: StallClock): Timer {
  let timer: Timer | undefined;
  let isOver = false;
  const look = (): Promise<number | undefined> => readUnsentBytes(response.socket);
  const callAt = (at: number, callback: () => void): void => {
    timer = clock.startTimer(at - clock.monotonic(), callback);
  };
  const begin = (): void => {
    const at = Math.floor((clock.monotonic() + FIRST_LOOK_MS) / STEP_MS) * STEP_MS;
    callAt(at, () => wait(at + STALL_MS - FIRST_LOOK_MS, look()));
  };
  const wait = (at: number, before: Promise<number | undefined>): void => {
    callAt(at, () => void judge(at, before));
  };
  const judge = async (at: number, before: Promise<number | undefined>): Promise<void> => {
    const now = look();
    const isStalled = (await before) === (await now);
    if (isOver) return;
    if (isStalled) response.destroy();
    else wait(at + STALL_MS, now);
  };
  if (response.socket === null) response.on('socket', begin);
  else begin();
  return {
    cancel() {
      isOver = true;
      timer?.cancel();
      response.off('socket', begin);
    },
  };
}

/** What the kernel takes of any answer at once. */
const SMALL_LENGTH = 8_192;
/** Of a large answer progress is seen by the piece. */
const PIECE_BYTES = 262_144;

/** Ends once the kernel has it all: a stopping server cuts ended answers. Clients that stall are cut off. */
export function endAnswer(
  response: ClientResponse,
  body: string | Buffer | undefined,
  clock: StallClock,
): void {
  if (body === undefined || body.length <= SMALL_LENGTH) response.end(body);
  else sendInPieces(response, typeof body === 'string' ? Buffer.from(body) : body, clock);
}

function sendInPieces(response: ClientResponse, body: Buffer, clock: StallClock): void {
  let offset = 0;
  let stall: Timer | undefined;
  const sendNext = (): void => {
    stall?.cancel();
    if (response.destroyed) return;
    if (offset >= body.length) {
      response.end();
      return;
    }
    const piece = body.subarray(offset, offset + PIECE_BYTES);
    offset += piece.length;
    stall = closeStalled(response, clock);
    response.write(piece, sendNext);
  };
  response.once('close', () => stall?.cancel());
  sendNext();
}

type SocketEvent = 'close' | 'drain' | 'end';

interface Waiting extends IndexedListItem {
  readonly listener: () => void;
}

/** Many requests on one connection share a listener: node warns of many. */
const listenerLists: Readonly<Record<SocketEvent, WeakMap<Socket, IndexedList<Waiting>>>> = {
  close: new WeakMap(),
  drain: new WeakMap(),
  end: new WeakMap(),
};

/** Calls `listener` at every such event. @returns what stops that */
export function onSocket(socket: Socket, event: SocketEvent, listener: () => void): () => void {
  const waiting: Waiting = { listener, listIndex: -1 };
  const list = listenerLists[event].get(socket) ?? listenTo(socket, event);
  list.add(waiting);
  return () => list.delete(waiting);
}

function listenTo(socket: Socket, event: SocketEvent): IndexedList<Waiting> {
  const list = new IndexedList<Waiting>();
  listenerLists[event].set(socket, list);
  socket.on(event, () => {
    for (const waiting of list.list()) {
      // One that was told before may have ended its wait.
      if (waiting.listIndex !== -1) waiting.listener();
    }
  });
  return list;
}

/** Requests of one connection that are worked on behind one that is not answered yet. */
const MAX_PIPELINED = 16;
/** Of those behind them, that are known before no more is read. */
const MAX_WAITING = 256;

/** The requests that a client sent on a connection without waiting for the answers before. */
class Pipeline {
  #underWay = 0;
  #isDue = false;
  readonly #waiting: (readonly [response: ServerResponse, serve: () => void])[] = [];

  add(response: ServerResponse, serve: () => void): void {
    this.#waiting.push([response, serve]);
    this.#goOn();
    if (this.#waiting.length < MAX_WAITING) return;
    // Behind the bytes that were read: node reads on after each request.
    process.nextTick(() => {
      if (this.#waiting.length >= MAX_WAITING) response.req.socket.pause();
    });
  }

  #goOn(): void {
    while (this.#underWay < MAX_PIPELINED) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const [response, serve] = next;
      // Nobody would hear that it has ended.
      if (!response.req.socket.destroyed) this.#begin(response, serve);
    }
  }

  #begin(response: ServerResponse, serve: () => void): void {
    this.#underWay += 1;
    response.once('close', () => {
      this.#underWay -= 1;
      if (this.#isDue || this.#waiting.length === 0) return;
      this.#isDue = true;
      // Answers that are there at once would otherwise be given in one turn, however many they are.
      setImmediate(() => {
        this.#isDue = false;
        this.#goOn();
        if (this.#waiting.length < MAX_WAITING) response.req.socket.resume();
      });
    });
    serve();
  }
}

const pipelines = new WeakMap<Socket, Pipeline>();

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Serves each request in its turn where its client sent many at once: nobody else would be served meanwhile. */
export function inTurn(serve: Serve): Serve {
  return (request, response) => {
    // The answer before has the socket.
    if (response.socket !== null) {
      serve(request, response);
      return;
    }
    const { socket } = request;
    let pipeline = pipelines.get(socket);
    if (pipeline === undefined) {
      pipeline = new Pipeline();
      pipelines.set(socket, pipeline);
    }
    pipeline.add(response, () => serve(request, response));
  };
}

const MAX_CONNECTIONS = 16_384;
/** What the gateway has open itself: its database, its logs, the program. */
const OWN_FILES = 64;
/** Each request has a connection of its client and one to its upstream. */
const FILES_OF_REQUEST = 2;
const MIN_CONNECTIONS = 16;
/** Room for many people behind one address, and still a part of the whole. */
const SHARE_OF_ADDRESS = 0.25;
/** This machine and trusted proxies speak for many clients; some room is left to others even so. */
const SHARE_OF_PROXY = 0.875;
/** Longer than the 60 s idle limit of common balancers, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
/** Of trusted proxies, whatever they are told: Traefik keeps connections for 90 s, Caddy for 120, Google's balancer for 600. */
const PROXY_KEEP_ALIVE_MS = 620_000;
/** With more connections open, idle ones end sooner, except those of trusted proxies. */
const CROWD = 32;
const CROWDED_KEEP_ALIVE_MS = 10_000;
/** Node refuses what comes beyond its own limit before anybody idle can make room. */
const NODES_MARGIN = 16;

interface ConnectionLimitOptions {
  /** Asked for every connection: these speak for many clients, and so does this machine itself. */
  readonly trustedProxies: () => readonly IpRange[];
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** True where a socket of TLS is made of each connection. */
  readonly isSecure?: boolean | undefined;
  /** What the system lets this process have open; undefined where it does not say. */
  readonly openFiles?: number | undefined;
}

type Connection = Pick<Socket, 'remoteAddress' | 'remotePort' | 'destroy' | 'once' | 'setTimeout'>;

interface ConnectionServer {
  maxConnections: number;
  /** The idle limit that node tells the client in `Keep-Alive: timeout=…`, and the time it adds before it closes. */
  keepAliveTimeout: number;
  keepAliveTimeoutBuffer: number;
  prependListener(event: 'connection', listener: (socket: Connection) => void): unknown;
  prependListener(
    event: 'request',
    listener: (request: IncomingMessage, response: ServerResponse) => void,
  ): unknown;
  prependListener(event: 'upgrade', listener: (request: IncomingMessage) => void): unknown;
  prependListener(event: 'secureConnection', listener: (socket: Connection) => void): unknown;
}

interface Visitor {
  readonly name: string;
  readonly isProxy: boolean;
  connections: number;
  /** The log has a line about it. */
  isTold: boolean;
}

interface Held {
  /** Of TLS once its handshake is done, which is what requests have. */
  socket: Connection;
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
  const visitorFor = derived(trustedProxies, (proxies) =>
    remember(MAX_PEERS, (peer) => visitorAt(peer, proxies)),
  );
  const handshaking = new Map<string, Held>();
  const enter = (socket: Connection): void => {
    const { name, isProxy, isMany } = visitorFor()(socket.remoteAddress ?? '');
    const visitor = visitors.get(name) ?? { name, isProxy, connections: 0, isTold: false };
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
    const peer = options.isSecure === true ? peerOf(socket) : undefined;
    if (peer !== undefined) handshaking.set(peer, held);
    socket.once('close', () => {
      if (peer !== undefined && handshaking.get(peer) === held) handshaking.delete(peer);
      forget(held);
    });
  };
  const secure = (socket: Connection): void => {
    const peer = peerOf(socket);
    const held = handshaking.get(peer);
    handshaking.delete(peer);
    if (held === undefined || !open.delete(held.socket)) return;
    held.socket = socket;
    open.set(socket, held);
  };
  const begin = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    const held = open.get(socket);
    if (held === undefined) return;
    held.requests += 1;
    const keptMs = held.visitor.isProxy ? PROXY_KEEP_ALIVE_MS : server.keepAliveTimeout;
    response.once('close', () => {
      held.requests -= 1;
      held.idleSince = clock.monotonic();
      // Node uses the limit of now, which may have changed since this client was told one.
      if (held.requests > 0 || keptMs === server.keepAliveTimeout) return;
      socket.setTimeout(keptMs + server.keepAliveTimeoutBuffer);
    });
  };
  server.prependListener('connection', enter);
  server.prependListener('secureConnection', secure);
  // A WebSocket is never idle: its client may ask at any moment.
  server.prependListener('upgrade', ({ socket }) => {
    const held = open.get(socket);
    if (held !== undefined) held.requests += 1;
  });
  server.prependListener('request', begin);
}

/** The same for a connection and for the socket of TLS that is made of it. */
function peerOf({ remoteAddress, remotePort }: Connection): string {
  return `${remoteAddress} ${remotePort}`;
}

const TOO_MANY = 'an address has as many connections open as one may have; further ones are closed';

function mostConnections(openFiles = Number.POSITIVE_INFINITY): number {
  const ofFiles = Math.floor((openFiles - OWN_FILES) / FILES_OF_REQUEST);
  return Math.min(MAX_CONNECTIONS, Math.max(MIN_CONNECTIONS, ofFiles));
}

function visitorAt(
  peer: string,
  trustedProxies: readonly IpRange[],
): { readonly name: string; readonly isProxy: boolean; readonly isMany: boolean } {
  const address = readAddress(peer);
  if (address === undefined) return { name: '', isProxy: false, isMany: true };
  const isProxy = trustedProxies.some((range) => isInRange(address, range));
  return { name: visitorOf(peer), isProxy, isMany: isProxy || isLoopback(address) };
}
