// Collects a request body within its limits of size and pace, without ever holding more.

import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../canonical/error.ts';
import type { Clock } from '../../lib/clock.ts';

export interface ByteLimits {
  readonly maxBytes: number;
  readonly clock: Clock;
}

/** Time before the pace counts, time between two looks at it, and the pace itself. */
const GRACE_MS = 10_000;
const LOOK_MS = 5_000;
const MIN_BYTES_PER_SECOND = 50_000;

/**
 * The whole body.
 * @throws GatewayError too-large as soon as the limit is passed (at once from `content-length`),
 * timeout when the sender is slower than 50 kB/s after 10 s, client-gone when it left.
 */
export function readBytes(request: IncomingMessage, limits: ByteLimits): Promise<Buffer> {
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > limits.maxBytes) {
    return Promise.reject(tooLarge(limits.maxBytes));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const startedAt = limits.clock.monotonic();
    const settle = (): void => {
      timer.cancel();
      request.off('data', onChunk).off('end', onEnd).off('error', onGone).off('close', onGone);
    };
    const fail = (error: GatewayError): void => {
      settle();
      // What still comes is the business of whoever answers.
      request.pause();
      reject(error);
    };
    const onChunk = (chunk: Buffer): void => {
      received += chunk.length;
      if (received > limits.maxBytes) fail(tooLarge(limits.maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      settle();
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    };
    const onGone = (): void => fail(clientGone());
    const look = (): void => {
      const countedMs = limits.clock.monotonic() - startedAt - GRACE_MS;
      if (received < (countedMs / 1000) * MIN_BYTES_PER_SECOND) fail(tooSlow());
      else timer = limits.clock.startTimer(LOOK_MS, look);
    };
    let timer = limits.clock.startTimer(GRACE_MS, look);
    request.on('data', onChunk).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** The reason of every abort caused by the client's leaving. */
export function clientGone(): GatewayError {
  return new GatewayError({
    kind: 'client-gone',
    source: 'client',
    message: 'The client closed the connection.',
  });
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError({
    kind: 'too-large',
    source: 'client',
    message: `The request body is larger than ${maxBytes} bytes, the limit of this gateway (ABV_MAX_BODY_SIZE).`,
  });
}

function tooSlow(): GatewayError {
  return new GatewayError({
    kind: 'timeout',
    source: 'client',
    message: 'The request body came too slowly. Send it again over a faster connection.',
  });
}
