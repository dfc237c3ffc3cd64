// Bounds the bytes of the large bodies that all requests hold together, so that a burst of them is no end of memory.

import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { GatewayError } from '../../canonical/error.ts';
import { told } from '../../lib/told.ts';

export interface BodyBudget {
  /**
   * Takes the room for so many bytes of a request's body in all; small ones need none.
   * @throws GatewayError overloaded when other requests hold too much; one alone may have any size
   */
  take(holder: BodyHolder, bytes: number): void;
  /** Call once the request has ended. */
  release(holder: BodyHolder): void;
}

/** One request, as far as the budget knows it. */
export interface BodyHolder {
  /** Bytes of its body that count. */
  heldBodyBytes: number;
}

/** Bodies up to this size come by the hundred with ordinary streams, and are bounded by those. */
const SMALL_BODY_BYTES = 1_048_576;
/** A body is held as bytes, as text and as values: a quarter of the memory leaves room for that. */
const SHARE_OF_MEMORY = 0.25;
const RETRY_AFTER_MS = 1_000;

export function createBodyBudget(mostBytes = shareOfMemory()): BodyBudget {
  let held = 0;
  return {
    take(holder, bytes) {
      if (bytes <= Math.max(SMALL_BODY_BYTES, holder.heldBodyBytes)) return;
      const others = held - holder.heldBodyBytes;
      if (others > 0 && others + bytes > mostBytes) throw full();
      held = others + bytes;
      holder.heldBodyBytes = bytes;
    },
    release(holder) {
      held -= holder.heldBodyBytes;
      holder.heldBodyBytes = 0;
    },
  };
}

/** Of what the process may use: of its container, its machine and its heap, the least counts. */
function shareOfMemory(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const most = Math.min(constrained, totalmem(), getHeapStatistics().heap_size_limit);
  return Math.floor(most * SHARE_OF_MEMORY);
}

function full(): GatewayError {
  return new GatewayError({
    kind: 'overloaded',
    source: 'gateway',
    message: told`The gateway holds too many large requests at the moment. Send this one again shortly.`,
    retryAfterMs: RETRY_AFTER_MS,
  });
}
