// Collects garbage between the steps of large work where memory is scarce: V8 knows the limit of its heap, and
// neither the buffers beside it nor the limit of a container.

import { totalmem } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Of the memory limit, that the process uses; beyond the second nothing waits. */
const SCARCE_SHARE = 0.6;
const URGENT_SHARE = 0.85;
/** Between two looks at least. */
const REST_MS = 20;
/** Collections take a fifth of the time at most, unless it is urgent. */
const REST_FACTOR = 4;

let limit: number | undefined;
let collect: (() => void) | undefined;
let lookAt = 0;
let restUntil = 0;

/** Takes some ten milliseconds where most of the memory is used, and nothing elsewhere. */
export function relieveMemory(): void {
  const startedAt = performance.now();
  if (startedAt < lookAt) return;
  limit ??= Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  const used = process.memoryUsage.rss() / limit;
  if (used >= (startedAt < restUntil ? URGENT_SHARE : SCARCE_SHARE)) {
    collect ??= findCollector();
    collect();
    const tookMs = performance.now() - startedAt;
    restUntil = performance.now() + tookMs * REST_FACTOR;
  }
  lookAt = performance.now() + REST_MS;
}

function findCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
