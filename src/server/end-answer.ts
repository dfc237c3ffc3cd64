// Ends a whole answer, so that a wind-down does not cut what is still on its way.

import type { ServerResponse } from 'node:http';

/** What the kernel takes of any answer at once. */
const SMALL_LENGTH = 8_192;

/**
 * A large answer ends only when the kernel has all of it: node takes a connection whose answer has
 * ended for an idle one, and closes those when the server closes, sent or not.
 */
export function endAnswer(response: ServerResponse, body: string | Buffer | undefined): void {
  if (body === undefined || body.length <= SMALL_LENGTH) response.end(body);
  else response.write(body, () => response.end());
}
