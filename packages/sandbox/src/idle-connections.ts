// Closes connections that nobody uses.

import type { Server } from 'node:http';

/** Node closes what was idle too long also when a request has come that it has yet to read, as after seconds of other work. */
export function closeIdle(server: Server): void {
  server.on('timeout', (socket) => {
    const { bytesRead } = socket;
    // What came is read before.
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
}
