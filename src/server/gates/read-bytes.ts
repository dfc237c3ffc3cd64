// Collects a request body within its limits of size and pace, without ever holding more.

import { isAscii } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../canonical/error.ts';
import type { Clock } from '../../lib/clock.ts';
import { told } from '../../lib/told.ts';
import type { BodySize } from './body-budget.ts';

export interface ByteLimits {
  readonly maxBytes: number;
  /** Whose limit that is, for the error; the gateway's by default. */
  readonly limitOf?: string | undefined;
  readonly clock: Clock;
  /** The memory for the body; without it there is enough. */
  readonly room?: BodyRoom | undefined;
}

interface BodyRoom {
  /** Asked with the size that is announced. @throws GatewayError too-large, or overloaded when it has to wait */
  check(size: BodySize): void;
  /** Told of all that came so far. @throws as `check` */
  take(size: BodySize): void;
}

/** Time before the pace counts, time between two looks at it, and the pace itself. */
const GRACE_MS = 10_000;
const LOOK_MS = 5_000;
const MIN_BYTES_PER_SECOND = 50_000;

/**
 * The whole body.
 * @param inspect called with each piece as it comes, small ones together; gives the tokens of JSON so far; what it
 * throws ends the reading there
 * @throws GatewayError too-large as soon as the limit is passed (at once from `content-length`),
 * overloaded when there is no room for a large body, timeout when the sender is slower than 50 kB/s
 * after 10 s, client-gone when it left.
 */
export function readBytes(
  request: IncomingMessage,
  limits: ByteLimits,
  inspect?: (piece: Buffer) => number,
): Promise<Buffer> {
  const declared = request.headers['content-length'];
  if (declared !== undefined && Number(declared) > limits.maxBytes) {
    return Promise.reject(tooLarge(limits));
  }
  try {
    // What is announced takes no room, but what would be refused half-way is not begun.
    limits.room?.check({ bytes: Number(declared ?? 0), isAscii: true, tokens: 0 });
  } catch (error) {
    return Promise.reject(error);
  }
  return new Promise((resolve, reject) => {
    const collected = collect(Number(declared ?? 0));
    let received = 0;
    let isPlain = true;
    const startedAt = limits.clock.monotonic();
    const settle = (): void => {
      timer.cancel();
      request.off('data', onChunk).off('end', onEnd).off('error', onGone).off('close', onGone);
    };
    const fail = (error: unknown): void => {
      settle();
      // What still comes is the business of whoever answers.
      request.pause();
      reject(error);
    };
    const pieces = gather((piece) => {
      const tokens = inspect?.(piece) ?? 0;
      isPlain &&= isAscii(piece);
      limits.room?.take({ bytes: received, isAscii: isPlain, tokens });
      collected.add(piece);
    });
    const onChunk = (chunk: Buffer): void => {
      received += chunk.length;
      try {
        if (received > limits.maxBytes) throw tooLarge(limits);
        pieces.add(chunk);
      } catch (error) {
        fail(error);
      }
    };
    const onEnd = (): void => {
      try {
        pieces.flush();
      } catch (error) {
        fail(error);
        return;
      }
      settle();
      resolve(collected.whole());
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

const SMALL_PIECE_BYTES = 1024;
const MOST_SMALL_PIECES = 1024;
const MOST_GATHERED_BYTES = 16_384;

interface Gathered {
  add(chunk: Buffer): void;
  flush(): void;
}

/**
 * Gives small pieces on together: each costs a buffer of its own beside what it was cut from, and a sender may cut
 * its body into single bytes.
 */
function gather(give: (piece: Buffer) => void): Gathered {
  let small: Buffer[] = [];
  let bytes = 0;
  const flush = (): void => {
    const [first] = small;
    if (first === undefined) return;
    const piece = small.length === 1 ? first : Buffer.concat(small);
    small = [];
    bytes = 0;
    give(piece);
  };
  return {
    flush,
    add(chunk) {
      if (chunk.length < SMALL_PIECE_BYTES) {
        small.push(chunk);
        bytes += chunk.length;
        if (small.length === MOST_SMALL_PIECES || bytes >= MOST_GATHERED_BYTES) flush();
        return;
      }
      flush();
      give(chunk);
    },
  };
}

interface Collected {
  add(chunk: Buffer): void;
  whole(): Buffer;
}

/** From this announced size on the bytes are copied as they arrive, not all at once at the end. */
const IN_PLACE_FROM_BYTES = 1_048_576;

function collect(declared: number): Collected {
  return declared >= IN_PLACE_FROM_BYTES ? collectInPlace(declared) : collectChunks();
}

function collectChunks(): Collected {
  const chunks: Buffer[] = [];
  return {
    add: (chunk) => void chunks.push(chunk),
    whole: () => (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
  };
}

/** Memory that nothing is written to costs nothing, so that a size alone takes none. */
function collectInPlace(declared: number): Collected {
  const bytes = Buffer.allocUnsafeSlow(declared);
  let length = 0;
  return {
    add(chunk) {
      length += chunk.copy(bytes, length);
    },
    whole: () => bytes.subarray(0, length),
  };
}

/** The reason of every abort caused by the client's leaving. */
export function clientGone(): GatewayError {
  return new GatewayError({
    kind: 'client-gone',
    source: 'client',
    message: told`The client closed the connection.`,
  });
}

const GATEWAY_LIMIT = 'this gateway (ABV_MAX_BODY_SIZE)';

function tooLarge({ maxBytes, limitOf = GATEWAY_LIMIT }: ByteLimits): GatewayError {
  return new GatewayError({
    kind: 'too-large',
    source: 'client',
    message: told`The request body is larger than ${maxBytes} bytes, the limit of ${limitOf}.`,
  });
}

function tooSlow(): GatewayError {
  return new GatewayError({
    kind: 'timeout',
    source: 'client',
    message: told`The request body came too slowly. Send it again over a faster connection.`,
  });
}
