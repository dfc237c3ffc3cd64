// Keeps `/sandbox/…`, which needs no key, away from web pages: loopback names only, no cross-origin calls.

import type { IncomingMessage } from 'node:http';
import { SandboxError } from '../errors.ts';

const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i;

/** @throws SandboxError 403 for a foreign Host (DNS rebinding) or any Origin (a page in a browser). */
export function requireLocalTool(request: IncomingMessage): void {
  const { host = '', origin } = request.headers;
  if (!LOOPBACK_HOST.test(host) || origin !== undefined) {
    throw new SandboxError(403, 'The controls of the sandbox are for local tools, not for pages.');
  }
}
