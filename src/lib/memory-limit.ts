// How much memory this process may use, its part of its container and its machine; and what is done where it is scarce.

import { totalmem } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let processes = 1;

/** Says how many processes share the memory; to be called before anything asks for the limit. */
export function shareMemory(among: number): void {
  processes = among;
}

/** In bytes. Of the container and the machine the least counts. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.min(constrained, totalmem()) / processes;
}

/** Of the memory limit, that the process uses; beyond the second nothing waits. */
const SCARCE_SHARE = 0.6;
const URGENT_SHARE = 0.85;
/** What a step of large work and the health check of a container take, in bytes. */
const URGENT_SPARE = 72 * 1_048_576;
/** Between two looks at least, and where much is left: the look itself is dear. */
const REST_MS = 20;
const LONG_REST_MS = 100;
/** Collections take a fifth of the time at most, unless it is urgent. */
const REST_FACTOR = 4;

let limit: number | undefined;
let collect: (() => void) | undefined;
let lookAt = 0;
let restUntil = 0;

/**
 * Collects garbage between the steps of large work: V8 knows the limit of its heap, and neither the buffers beside it nor the
 * limit of a container. Takes some ten milliseconds where most of the memory is used, and nothing elsewhere.
 */
export function relieveMemory(): void {
  const startedAt = performance.now();
  if (startedAt < lookAt) return;
  limit ??= memoryLimit();
  const used = process.memoryUsage.rss() / limit;
  const urgent = Math.max(SCARCE_SHARE, Math.min(URGENT_SHARE, 1 - URGENT_SPARE / limit));
  if (used >= (startedAt < restUntil ? urgent : SCARCE_SHARE)) {
    collect ??= findCollector();
    collect();
    const tookMs = performance.now() - startedAt;
    restUntil = performance.now() + tookMs * REST_FACTOR;
  }
  lookAt = performance.now() + (used < SCARCE_SHARE / 2 ? LONG_REST_MS : REST_MS);
}

/** So many bytes, or characters, are megabytes of garbage in each step of what is done with them. */
export const LARGE_WORK = 4_194_304;

function findCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
