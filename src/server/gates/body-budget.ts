// Knows the memory before it is spent: what the bodies of all requests may cost together while they are worked on.

import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { GatewayError } from '../../canonical/error.ts';
import { visitorOf } from '../../door/ip-address.ts';
import type { Clock } from '../../lib/clock.ts';
import { relieveMemory } from '../../lib/relieve-memory.ts';
import { told } from '../../lib/told.ts';
import { isLoopback, readAddress } from './address.ts';

export interface BodyBudget {
  /**
   * Looks whether a body of this size could be had now; takes nothing.
   * @throws GatewayError too-large when the memory is not enough for it alone, overloaded when it has to wait
   */
  check(holder: BodyHolder, size: BodySize): void;
  /** Takes the room for what has come of a body so far. @throws as `check` */
  take(holder: BodyHolder, size: BodySize): void;
  /** Counts bytes that the gateway has for the request anyway, such as its answer. */
  add(holder: BodyHolder, bytes: number): void;
  /** Call once the request has ended. */
  release(holder: BodyHolder): void;
  /** The same memory for the large answers of upstreams. */
  readonly answers: {
    /** @throws GatewayError overloaded when there is not enough of it now */
    take(holder: Pick<BodyHolder, 'heldBytes'>, bytes: number): void;
    release(holder: Pick<BodyHolder, 'heldBytes'>): void;
  };
}

/** One request, as far as the budget knows it. */
export interface BodyHolder {
  readonly clientKeyId: string;
  readonly clientAddress: string;
  /** Bytes of memory that count for it; the budget alone writes it. */
  heldBytes: number;
}

export interface BodySize {
  readonly bytes: number;
  /** Text of other characters takes two bytes each, however few of them there are. */
  readonly isAscii: boolean;
  /** Structural tokens of JSON. */
  readonly tokens: number;
}

/** What the process may use, in bytes. */
export interface Memory {
  readonly limit: number;
  readonly heapLimit: number;
}

const MEGABYTE = 1_048_576;

// What a body costs at its dearest moment, measured on all surfaces (docs/operation.md, "Memory"): it is there as
// bytes, as text and as values, then as values and as the bytes that go upstream, and some of it is garbage.
const ASCII_FACTOR = 3.5;
const OTHER_FACTOR = 5.5;
/** A value of JSON and what becomes of it on its way to the upstream. */
const TOKEN_BYTES = 128;

/** Bodies up to this size come by the hundred with ordinary streams, and are bounded by those. */
const UNCOUNTED_BYTES = 65_536;
/** Bodies up to this size find room that larger ones never take. */
const MODEST_BYTES = 4 * MEGABYTE;
/** The gateway at rest with fifty streams, beside the process that started it. */
const BASE_BYTES = 100 * MEGABYTE;
const USED_SHARE = 0.9;
/** The heap holds the texts and the values of a body, and everything else that lives. */
const HEAP_BASE_BYTES = 64 * MEGABYTE;
const COST_PER_HEAP_BYTE = 1.2;
/** Even where the memory is hardly enough for the gateway itself, a modest body must pass. */
const LEAST_ROOM = 16 * MEGABYTE;
const RESERVE_SHARE = 0.125;
/** What one key or address may have while others hold or want some. */
const OWNER_SHARE = 0.75;
const WANTED_MS = 10_000;
const RETRY_AFTER_MS = 1_000;

export function createBodyBudget(
  clock: Pick<Clock, 'monotonic'>,
  memory: Memory = readMemory(),
): BodyBudget {
  const room = roomOf(memory);
  const reserve = memory.limit * RESERVE_SHARE;
  const owners = new Map<string, number>();
  let held = 0;
  let refused: { readonly owners: readonly string[]; readonly at: number } | undefined;

  const change = (holder: BodyHolder, bytes: number): void => {
    if (bytes === 0) return;
    for (const owner of ownersOf(holder)) {
      const left = (owners.get(owner) ?? 0) + bytes;
      if (left > 0) owners.set(owner, left);
      else owners.delete(owner);
    }
    held += bytes;
    holder.heldBytes += bytes;
  };

  /** Whether somebody else holds, or was refused lately. */
  const isShared = (owner: string, heldByOwner: number): boolean => {
    const isWanted =
      refused !== undefined &&
      clock.monotonic() - refused.at < WANTED_MS &&
      !refused.owners.includes(owner);
    return isWanted || held > heldByOwner;
  };

  const fits = (holder: BodyHolder, size: BodySize, more: number): boolean => {
    const spare = size.bytes <= MODEST_BYTES ? reserve : 0;
    if (held + more > room + spare) return false;
    return ownersOf(holder).every((owner) => {
      const own = owners.get(owner) ?? 0;
      // One body alone may have all the room.
      if (own === holder.heldBytes && !isShared(owner, own)) return true;
      return own + more <= room * OWNER_SHARE + spare / 2;
    });
  };

  const costNow = (holder: BodyHolder, size: BodySize): number => {
    const cost = size.bytes <= UNCOUNTED_BYTES ? 0 : costOf(size);
    if (cost > room) throw tooLarge(memory, { cost, room });
    const more = Math.max(0, cost - holder.heldBytes);
    if (more === 0 || fits(holder, size, more)) return more;
    refused = { owners: ownersOf(holder), at: clock.monotonic() };
    throw full();
  };

  return {
    check: (holder, size) => void costNow(holder, size),
    take(holder, size) {
      let more: number;
      try {
        more = costNow(holder, size);
      } catch (error) {
        // What has come is dropped at once, whoever goes on sending.
        change(holder, -holder.heldBytes);
        throw error;
      }
      if (more === 0) return;
      relieveMemory();
      change(holder, more);
    },
    add: change,
    release(holder) {
      if (holder.heldBytes > MODEST_BYTES) setImmediate(relieveMemory);
      change(holder, -holder.heldBytes);
    },
    answers: {
      take(holder, bytes) {
        const more = Math.max(0, bytes * ASCII_FACTOR - holder.heldBytes);
        if (held + more > room + reserve / 2) throw fullOfAnswers();
        relieveMemory();
        held += more;
        holder.heldBytes += more;
      },
      release(holder) {
        held -= holder.heldBytes;
        holder.heldBytes = 0;
      },
    },
  };
}

function costOf({ bytes, isAscii, tokens }: BodySize): number {
  return bytes * (isAscii ? ASCII_FACTOR : OTHER_FACTOR) + tokens * TOKEN_BYTES;
}

function roomOf({ limit, heapLimit }: Memory): number {
  const ofMemory = limit * USED_SHARE - BASE_BYTES;
  const ofHeap = (heapLimit - HEAP_BASE_BYTES) * COST_PER_HEAP_BYTE;
  return Math.max(LEAST_ROOM, Math.min(ofMemory, ofHeap));
}

/** Of its container and its machine the least counts. */
function readMemory(): Memory {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return {
    limit: Math.min(constrained, totalmem()),
    heapLimit: getHeapStatistics().heap_size_limit,
  };
}

/** Who comes with a key is its holder at an address; this machine speaks for many. */
function ownersOf({ clientKeyId, clientAddress }: BodyHolder): readonly string[] {
  const address = readAddress(clientAddress);
  const isLocal = address === undefined || isLoopback(address);
  const isKeyless = clientKeyId === '' || clientKeyId === 'open' || clientKeyId === 'local';
  const visitor = `address ${visitorOf(clientAddress)}`;
  if (isKeyless) return [visitor];
  const key = `key ${clientKeyId}`;
  return isLocal ? [key] : [key, visitor];
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / MEGABYTE);
}

function tooLarge(
  { limit }: Memory,
  { cost, room }: { readonly cost: number; readonly room: number },
): GatewayError {
  const [needed, had, limited] = [
    inMegabytes(cost),
    Math.floor(room / MEGABYTE),
    inMegabytes(limit),
  ];
  return new GatewayError({
    kind: 'too-large',
    source: 'client',
    message: told`The request body needs about ${needed} MB of memory while it is worked on, and the memory limit of this gateway (${limited} MB) leaves ${had} MB for that. Send less at once, or give the gateway more memory.`,
  });
}

function full(): GatewayError {
  return new GatewayError({
    kind: 'overloaded',
    source: 'gateway',
    message: told`The gateway holds too many large requests at the moment. Send this one again shortly.`,
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function fullOfAnswers(): GatewayError {
  return new GatewayError({
    kind: 'overloaded',
    source: 'gateway',
    message: told`The answer is larger than the memory that the gateway has left at the moment. Ask again shortly, or give the gateway more memory.`,
    retryAfterMs: RETRY_AFTER_MS,
  });
}
