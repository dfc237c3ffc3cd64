// Lets a server of the bench listen on a free loopback port and print it as its first line.

import type { Server } from 'node:http';

const BACKLOG = 2048;

export function listenOnLoopback(server: Server): void {
  server.keepAliveTimeout = 120_000;
  server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => {
    const address = server.address();
    if (typeof address === 'object') console.log(`http://127.0.0.1:${address?.port}`);
  });
  process.on('SIGTERM', () => process.exit(0));
}
