// Sends bytes exactly as written and gives back what comes, event by event.

import { connect, type Socket } from 'node:net';

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly received: string;
  write(text: string | Buffer): void;
  /** Resolves when the received text fits; rejects when the connection ends before. */
  until(fits: (received: string) => boolean): Promise<string>;
  /** Resolves with everything received once the server has closed. */
  closed(): Promise<string>;
}

export function openRaw(port: number): RawConnection {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  let isClosed = false;
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    received += chunk;
    notify();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    notify();
  });
  const until = (fits: (text: string) => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const watcher = (): void => {
        if (!fits(received) && !isClosed) return;
        watchers.delete(watcher);
        if (fits(received)) resolve(received);
        else reject(new Error(`The connection closed after ${JSON.stringify(received)}`));
      };
      watchers.add(watcher);
      watcher();
    });
  return {
    socket,
    get received() {
      return received;
    },
    write: (text) => void socket.write(text),
    until,
    closed: () => until(() => isClosed),
  };
}

/** One request, answered and closed. */
export function sendRaw(port: number, text: string): Promise<string> {
  const connection = openRaw(port);
  connection.write(text);
  return connection.closed();
}

/**
 * Resolves when all that was written by now has been received: before a look at what has not come. Both
 * ends are of this process, so that each turn of its event loop brings what the one before it sent.
 */
export async function arrival(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A JSON POST as text. */
export function rawPost(path: string, body: string, headers: readonly string[] = []): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
