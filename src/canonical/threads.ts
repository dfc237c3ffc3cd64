// Conversations that a service would keep, where nobody keeps them.

import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { clientError, invalidRequest } from './error.ts';
import type { Receipt } from './receipt.ts';

/**
 * `create` carries the whole conversation, so it is answered; `continue` carries the last turn only, and the SDK
 * replays everything when told the thread is gone (TypeScript SDK, `lib/internal/threads/ThreadState.js`).
 */
export function leaveThread({ type }: JsonObject, receipt: Receipt): void {
  if (type === 'create') {
    receipt.add('dropped', 'thread', told`Conversations are not kept here.`);
  } else if (type === 'continue') {
    throw clientError(
      'not-found',
      'thread: No thread is kept for this message. Send the whole conversation again.',
      { reason: 'thread-not-found', field: 'thread' },
    );
  } else {
    const reason = 'thread: Send the whole conversation without a thread';
    throw invalidRequest('thread', reason, 'unsupported');
  }
}
