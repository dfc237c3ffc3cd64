// A server of one test on loopback, which is closed behind it.

import { once } from 'node:events';
import type { Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** For a test, or what is done before each. @returns the port that it got */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('It does not listen.');
  return address.port;
}
