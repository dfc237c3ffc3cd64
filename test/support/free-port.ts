// A port of loopback that nobody listens on, for programs that must be told one.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to connections and to servers that name none: nobody takes it until it is listened on. */
const [LEAST, MOST] = [20_000, 30_000];
const MAX_TRIES = 100;

export async function freePort(): Promise<number> {
  for (let left = MAX_TRIES; ; left -= 1) {
    const port = randomInt(LEAST, MOST);
    const server = createServer();
    server.listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (left === 0) throw error;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
