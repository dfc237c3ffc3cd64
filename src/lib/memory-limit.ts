// How much memory this process may use: its part of its container and its machine.

import { totalmem } from 'node:os';

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
