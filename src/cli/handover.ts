// How connections reach the workers of one port: their parent takes them from the network and hands each to one worker.

import type { Worker } from 'node:cluster';
import { createServer, Socket } from 'node:net';
import { isMarked } from '../cluster/parent.ts';
import type { Clock } from '../lib/clock.ts';
import type { Address, Incoming } from '../server/edge.ts';
import { tell } from './worker.ts';

/** Marks the messages of this file among all others of the channel. */
const MARK = 'isthmus-handover';
/**
 * Who waits for so long that some worker takes the connection is better served by another gateway. A worker takes one
 * in each turn of its event loop: where hundreds come at once on a busy machine the last one waits for seconds.
 */
const WAIT_MS = 30_000;
/** A worker says so often that it runs; the parent looks as often, and counts only while it runs itself. */
const HERE_MS = 1000;
/** Who was not heard of at so many looks is handed nothing more. */
const SILENT_LOOKS = 3;
/** Nobody waits longer for what a worker has that stands still. */
const LOST_LOOKS = WAIT_MS / HERE_MS;

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
  | { readonly mark: typeof MARK; readonly kind: 'listening'; door: string; port: number }
  | { readonly mark: typeof MARK; readonly kind: 'refused'; door: string; fault: Fault }
  | { readonly mark: typeof MARK; readonly kind: 'connection'; readonly door: string };

/** A worker, and the connection it was handed and has not yet said to have. */
interface Taker {
  readonly worker: Worker;
  /** Looks since it said that it runs; undefined until it does. */
  unheard?: number | undefined;
  handed?: { readonly door: Door; readonly socket: Socket } | undefined;
}

/**
 * An address that is listened on. A worker is handed one connection at a time, whoever has waited longest first: so
 * they get equally many, and one that is busy gets fewer.
 */
interface Door {
  readonly name: string;
  readonly listening: Promise<number>;
  readonly takers: Set<Taker>;
  readonly waiting: Socket[];
  close(): void;
}

/** Of the parent: serves all its workers. */
export function createHandover(clock: Pick<Clock, 'startTimer'>) {
  const doors = new Map<string, Door>();
  /** All that run, also those that take nothing more. */
  const takers = new Map<Taker, () => void>();
  let isEnding = false;

  const open = (name: string, address: Address): Door => {
    const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
    const waiting: Socket[] = [];
    const door: Door = {
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
        doors.delete(name);
        server.close();
        for (const socket of waiting) socket.destroy();
      },
    };
    server.on('connection', (socket) => {
      // It is somebody else's to read; a client that leaves is nobody's fault.
      socket.on('error', () => undefined);
      socket.setTimeout(WAIT_MS, () => socket.destroy());
      waiting.push(socket);
      handOut(door);
    });
    door.listening.catch(() => doors.delete(name));
    doors.set(name, door);
    return door;
  };

  const handOut = (door: Door): void => {
    for (const taker of door.takers) {
      if (taker.handed !== undefined || (taker.unheard ?? 0) >= SILENT_LOOKS) continue;
      let socket = door.waiting.shift();
      while (socket?.destroyed) socket = door.waiting.shift();
      if (socket === undefined) return;
      hand(taker, door, socket);
    }
  };

  /** It stays open here until the worker says that it has it: a worker that dies before never read from it. */
  const hand = (taker: Taker, door: Door, socket: Socket): void => {
    taker.handed = { door, socket };
    // From now on the others are before it.
    door.takers.delete(taker);
    door.takers.add(taker);
    socket.setTimeout(0);
    const message: FromParent = { mark: MARK, kind: 'connection', door: door.name };
    // What cannot be sent comes back when the worker is gone.
    taker.worker.send(message, socket, { keepOpen: true }, () => undefined);
  };

  const settle = (taker: Taker, isTaken: boolean): void => {
    const { handed } = taker;
    taker.handed = undefined;
    if (handed === undefined) return;
    const { door, socket } = handed;
    if (isTaken || !doors.has(door.name)) socket.destroy();
    else {
      socket.setTimeout(WAIT_MS, () => socket.destroy());
      door.waiting.unshift(socket);
    }
    for (const each of doors.values()) handOut(each);
  };

  const listen = async (taker: Taker, address: Address): Promise<void> => {
    const name = `${address.host} ${address.port}`;
    const door = doors.get(name) ?? open(name, address);
    const { worker } = taker;
    const say = (message: FromParent): void => tell(worker, message);
    try {
      const port = await door.listening;
      say({ mark: MARK, kind: 'listening', door: name, port });
      if (!worker.isConnected()) return;
      door.takers.add(taker);
      handOut(door);
    } catch (error) {
      say({ mark: MARK, kind: 'refused', door: name, fault: describeFault(error) });
    }
  };

  const look = (): void => {
    for (const [taker, onLost] of takers) {
      if (taker.unheard === undefined) continue;
      taker.unheard += 1;
      if (taker.unheard === LOST_LOOKS) onLost();
    }
    clock.startTimer(HERE_MS, look);
  };
  clock.startTimer(HERE_MS, look);

  const hear = (taker: Taker): void => {
    const wasSilent = (taker.unheard ?? 0) >= SILENT_LOOKS;
    taker.unheard = 0;
    if (wasSilent) for (const door of doors.values()) handOut(door);
  };

  const closeUnused = (): void => {
    for (const door of [...doors.values()]) if (door.takers.size === 0) door.close();
  };

  return {
    /** To be called for each worker when it starts. @param onLost called when it stands still and has to be ended */
    serve(worker: Worker, onLost: () => void): void {
      const taker: Taker = { worker };
      takers.set(taker, onLost);
      const forget = (): void => {
        for (const { takers } of doors.values()) takers.delete(taker);
        if (isEnding) closeUnused();
      };
      worker.on('message', (message: unknown) => {
        if (!isMarked<FromWorker>(message, MARK)) return;
        if (message.kind === 'here') hear(taker);
        else if (message.kind === 'listen') void listen(taker, message.address);
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
    const take = takes.get(message.door);
    const isTaken = !isLeaving && take !== undefined;
    // Before a byte of it is read.
    send({ mark: MARK, kind: 'taken', isTaken });
    // Its client may have gone on the way.
    if (!(socket instanceof Socket)) return;
    if (isTaken) take(socket);
    else socket.destroy();
  });
  let isHeard = false;
  /** From its first listening on: to open what it serves may take longer than any wait. */
  const beHeard = (): void => {
    if (!isHeard) setInterval(() => send({ mark: MARK, kind: 'here' }), HERE_MS).unref();
    isHeard = true;
  };
  return {
    listen(address, take) {
      beHeard();
      const door = `${address.host} ${address.port}`;
      takes.set(door, take);
      return new Promise((resolve, reject) => {
        const hear = (message: unknown): void => {
          if (!isMarked<FromParent>(message, MARK) || message.door !== door) return;
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
  if (!(error instanceof Error)) return { message: String(error) };
  return { message: error.message, code: 'code' in error ? String(error.code) : undefined };
}
