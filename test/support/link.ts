// A network between two programs that a test can cut: a port of loopback that leads to another.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Link {
  readonly port: number;
  /** Breaks all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Carries nothing any more, and says so to nobody: connections stay, and new ones seem to be taken. */
  silence(): void;
  /** Loses all that is said from or to whoever sent these words last; their connections stay. */
  silenceWith(words: string): void;
  /** Carries what waited, and takes connections again. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

export async function openLink(target: number): Promise<Link> {
  const sockets = new Set<Socket>();
  /** What each client sent last. */
  const lastWords = new Map<Socket, string>();
  /** Clients that nothing is carried for. */
  const muted = new Set<Socket>();
  /** What came while nothing was carried. */
  let unmet: Socket[] = [];
  let isSilent = false;
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
  const join = (client: Socket): void => {
    const far = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [client, far],
      [far, client],
    ] as const) {
      track(from);
      from.on('data', (bytes: Buffer) => {
        if (from === client) lastWords.set(client, bytes.toString('latin1'));
        if (muted.has(client)) return;
        if (!to.write(bytes)) from.pause();
      });
      from.on('drain', () => {
        if (!isSilent) to.resume();
      });
      from.on('end', () => to.end());
      from.on('close', () => to.destroy());
    }
    client.resume();
  };
  const track = (socket: Socket): void => {
    if (sockets.has(socket)) return;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      lastWords.delete(socket);
    });
  };
  server.on('connection', (socket) => {
    track(socket);
    if (isSilent) unmet.push(socket);
    else join(socket);
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  };
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const stopListening = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    breakAll();
    await closed;
  };
  const port = await listen(0);
  return {
    port,
    refuse: stopListening,
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    silenceWith(words) {
      for (const [client, last] of lastWords) if (last.includes(words)) muted.add(client);
    },
    async heal() {
      muted.clear();
      isSilent = false;
      if (!server.listening) await listen(port);
      for (const socket of sockets) if (!unmet.includes(socket)) socket.resume();
      for (const socket of unmet) if (!socket.destroyed) join(socket);
      unmet = [];
    },
    close: stopListening,
  };
}
