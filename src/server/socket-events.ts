// Lets all requests of one connection hear what becomes of it, through one listener a kind of event.

import type { Socket } from 'node:net';
import { Roster, type RosterMember } from '../lib/roster.ts';

type SocketEvent = 'close' | 'drain' | 'end';

interface Waiting extends RosterMember {
  readonly listener: () => void;
}

/**
 * A client may send any number of requests at once on a connection; node warns of many listeners. These live as long as
 * their socket.
 */
const rosters: Readonly<Record<SocketEvent, WeakMap<Socket, Roster<Waiting>>>> = {
  close: new WeakMap(),
  drain: new WeakMap(),
  end: new WeakMap(),
};

/** Calls `listener` at every such event; the answer ends that. */
export function onSocket(socket: Socket, event: SocketEvent, listener: () => void): () => void {
  const waiting: Waiting = { listener, rosterPlace: -1 };
  const roster = rosterOf(socket, event);
  roster.add(waiting);
  return () => roster.delete(waiting);
}

function rosterOf(socket: Socket, event: SocketEvent): Roster<Waiting> {
  const known = rosters[event].get(socket);
  if (known !== undefined) return known;
  const roster = new Roster<Waiting>();
  rosters[event].set(socket, roster);
  socket.on(event, () => {
    for (const waiting of roster.list()) {
      // One that was told before may have ended its wait.
      if (waiting.rosterPlace !== -1) waiting.listener();
    }
  });
  return roster;
}
