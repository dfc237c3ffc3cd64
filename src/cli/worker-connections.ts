// How connections reach the workers of one port: their parent takes them from the network and hands each to one worker.

import type { Worker } from 'node:cluster';
import { createServer, Socket } from 'node:net';
import { isMarked } from '../cluster/parent.ts';
import type { Clock } from '../lib/clock.ts';
import { codeOf, messageOf } from '../lib/localized-message.ts';
import type { Address, Incoming } from '../server/edge.ts';
import { tell } from './worker.ts';

/** Marks the messages of this file among all others of the channel. */
const MARK = 'isthmus-handover';
/** A busy machine may take seconds for hundreds of connections, as a worker takes one a turn. */
const WAIT_MS = 30_000;
/** A worker says so often that it runs; the parent looks as often, and counts only while it runs itself. */
const HERE_MS = 1000;
/** Who was not heard of at so many looks is handed nothing more. */
const SILENT_LOOKS = 3;
/** Nobody waits longer for what a worker has that stands still. */
const LOST_LOOKS = WAIT_MS / HERE_MS;
/** Who does not listen yet may have a large database to bring to this version, and says nothing meanwhile. */
const START_LOOKS = 600;

type FromWorker =
  | { readonly mark: typeof MARK; readonly kind: 'here' }
  | { readonly mark: typeof MARK; readonly kind: 'listen'; readonly address: Address }
  | { readonly mark: typeof MARK; readonly kind: 'taken'; readonly isTaken: boolean }
  | { readonly mark: typeof MARK; readonly kind: 'leave' };

interface Fault {
  readonly message: string;
  readonly code?: string | undefined;
}

type FromParent =
  | { readonly mark: typeof MARK; readonly kind: 'listening'; listener: string; port: number }
  | { readonly mark: typeof MARK; readonly kind: 'refused'; listener: string; fault: Fault }
  | { readonly mark: typeof MARK; readonly kind: 'connection'; readonly listener: string };

/** A worker, and the connection it was handed and has not yet said to have. */
interface Taker {
  readonly worker: Worker;
  /** Looks since it said that it runs. */
  unheard: number;
  hasListened: boolean;
  handed?: { readonly listener: Listener; readonly socket: Socket } | undefined;
}

/** An address to listen on. Connections go one at a time to the worker that has waited longest. */
interface Listener {
  readonly name: string;
  readonly listening: Promise<number>;
  readonly takers: Set<Taker>;
  readonly waiting: Socket[];
  close(): void;
}

/** Of the parent: serves all its workers. */
export function createHandover(clock: Pick<Clock, 'startTimer'>) {
  const listeners = new Map<string, Listener>();
  /** All that run, also those that take nothing more. */
  const takers = new Map<Taker, () => void>();
  let isEnding = false;

  const open = (name: string, address: Address): Listener => {
    const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
    const waiting: Socket[] = [];
    const listener: Listener = {
      ...{ name, waiting, takers: new Set() },
      listening: new Promise((resolve, reject) => {
        // Later ones are of single connections, which nobody can take then.
        server.on('error', reject);
        server.listen(address, () => {
          const taken = server.address();
          resolve(typeof taken === 'object' && taken !== null ? taken.port : address.port);
        });
      }),
      close() {
        listeners.delete(name);
        server.close();
        for (const socket of waiting) socket.destroy();
      },
    };
    server.on('connection', (socket) => {
      // It is somebody else's to read; a client that leaves is nobody's fault.
      socket.on('error', () => undefined);
      socket.setTimeout(WAIT_MS, () => socket.destroy());
      waiting.push(socket);
      handOut(listener);
    });
    listener.listening.catch(() => listeners.delete(name));
    listeners.set(name, listener);
    return listener;
  };

  const handOut = (listener: Listener): void => {
    for (const taker of listener.takers) {
      if (taker.handed !== undefined || taker.unheard >= SILENT_LOOKS) continue;
      let socket = listener.waiting.shift();
      while (socket?.destroyed) socket = listener.waiting.shift();
      if (socket === undefined) return;
      hand(taker, listener, socket);
    }
  };

  /** It stays open here until the worker says that it has it: a worker that dies before never read from it. */
  const hand = (taker: Taker, listener: Listener, socket: Socket): void => {
    taker.handed = { listener, socket };
    // From now on the others are before it.
    listener.takers.delete(taker);
    listener.takers.add(taker);
    socket.setTimeout(0);
    const message: FromParent = { mark: MARK, kind: 'connection', listener: listener.name };
    // What cannot be sent comes back when the worker is gone.
    taker.worker.send(message, socket, { keepOpen: true }, () => undefined);
  };

  const settle = (taker: Taker, isTaken: boolean): void => {
    const { handed } = taker;
    taker.handed = undefined;
    if (handed === undefined) return;
    const { listener, socket } = handed;
    if (isTaken || !listeners.has(listener.name)) socket.destroy();
    else {
      socket.setTimeout(WAIT_MS, () => socket.destroy());
      listener.waiting.unshift(socket);
    }
    for (const each of listeners.values()) handOut(each);
  };

  const listen = async (taker: Taker, address: Address): Promise<void> => {
    taker.hasListened = true;
    const name = `${address.host} ${address.port}`;
    const listener = listeners.get(name) ?? open(name, address);
    const { worker } = taker;
    const say = (message: FromParent): void => tell(worker, message);
    try {
      const port = await listener.listening;
      say({ mark: MARK, kind: 'listening', listener: name, port });
      if (!worker.isConnected()) return;
      listener.takers.add(taker);
      handOut(listener);
    } catch (error) {
      say({ mark: MARK, kind: 'refused', listener: name, fault: describeFault(error) });
    }
  };

  const look = (): void => {
    for (const [taker, onLost] of takers) {
      taker.unheard += 1;
      if (taker.unheard === (taker.hasListened ? LOST_LOOKS : START_LOOKS)) onLost();
    }
    clock.startTimer(HERE_MS, look);
  };
  clock.startTimer(HERE_MS, look);

  const hear = (taker: Taker): void => {
    const wasSilent = taker.unheard >= SILENT_LOOKS;
    taker.unheard = 0;
    if (wasSilent) for (const listener of listeners.values()) handOut(listener);
  };

  const closeUnused = (): void => {
    for (const listener of [...listeners.values()])
      if (listener.takers.size === 0) listener.close();
  };

  return {
    /** To be called for each worker when it starts. @param onLost called when it stands still and has to be ended */
    serve(worker: Worker, onLost: () => void): void {
      const taker: Taker = { worker, unheard: 0, hasListened: false };
      takers.set(taker, onLost);
      const forget = (): void => {
        for (const { takers } of listeners.values()) takers.delete(taker);
        if (isEnding) closeUnused();
      };
      worker.on('message', (message: unknown) => {
        if (!isMarked<FromWorker>(message, MARK)) return;
        hear(taker);
        if (message.kind === 'here') return;
        if (message.kind === 'listen') void listen(taker, message.address);
        else if (message.kind === 'taken') settle(taker, message.isTaken);
        else forget();
      });
      // Comes after everything the worker said. `exit` may come before, and `disconnect` waits for ever where a worker
      // is killed while a connection is on its way.
      worker.process.once('close', () => {
        takers.delete(taker);
        forget();
        settle(taker, false);
      });
    },
    /** No worker takes the place of another any more: nobody listens for longer than they do. */
    end(): void {
      isEnding = true;
      closeUnused();
    },
  };
}

/** Of a worker: the connections its parent hands to it. */
export function takeFromParent(): Incoming {
  let isLeaving = false;
  const takes = new Map<string, (socket: Socket) => void>();
  const send = (message: FromWorker): void => void process.send?.(message);
  process.on('message', (message: unknown, socket: unknown) => {
    if (!isMarked<FromParent>(message, MARK) || message.kind !== 'connection') return;
    const take = takes.get(message.listener);
    const isTaken = !isLeaving && take !== undefined;
    // Before a byte of it is read.
    send({ mark: MARK, kind: 'taken', isTaken });
    // Its client may have gone on the way.
    if (!(socket instanceof Socket)) return;
    if (isTaken) take(socket);
    else socket.destroy();
  });
  setInterval(() => send({ mark: MARK, kind: 'here' }), HERE_MS).unref();
  return {
    listen(address, take) {
      const listener = `${address.host} ${address.port}`;
      takes.set(listener, take);
      return new Promise((resolve, reject) => {
        const hear = (message: unknown): void => {
          if (!isMarked<FromParent>(message, MARK) || message.listener !== listener) return;
          if (message.kind === 'connection') return;
          process.off('message', hear);
          if (message.kind === 'listening') resolve(message.port);
          else
            reject(Object.assign(new Error(message.fault.message), { code: message.fault.code }));
        };
        process.on('message', hear);
        send({ mark: MARK, kind: 'listen', address });
      });
    },
    close() {
      isLeaving = true;
      send({ mark: MARK, kind: 'leave' });
    },
  };
}

function describeFault(error: unknown): Fault {
  return { message: messageOf(error), code: codeOf(error) };
}
