// Keeps `/sandbox/…` and `/oauth/…` away from foreign web pages: loopback names only, no cross-origin calls.

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

/** @throws SandboxError 403 for a foreign Host, or an Origin that is not the sandbox itself. */
export function requireOwnPage(request: IncomingMessage): void {
  const { host = '', origin = `http://${host}` } = request.headers;
  if (!LOOPBACK_HOST.test(host) || origin !== `http://${host}`) {
    throw new SandboxError(403, 'The sign-in of the sandbox is for this machine and its own page.');
  }
}
