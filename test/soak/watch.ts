// What a long run must not make grow: memory, open descriptors, the time a small request takes, the database.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Sample {
  /** Minutes since the load began. */
  readonly minute: number;
  readonly megabytes: number;
  readonly descriptors: number;
  /** The slowest of the probes since the last sample but one in twenty, in milliseconds. */
  readonly lagMs: number;
  readonly databaseMegabytes: number;
}

interface Watched {
  readonly pid: number;
  readonly url: string;
  readonly folder: string;
}

const PROBE_EVERY_MS = 250;
const MEGABYTE = 1_048_576;

/** Asks `/health` four times a second, for what waits in the event loop; `take` gives a sample. */
export function watch(watched: Watched): { take(minute: number): Sample; stop(): void } {
  let waits: number[] = [];
  const probe = async (): Promise<void> => {
    const askedAt = performance.now();
    await (await fetch(`${watched.url}/health`)).arrayBuffer();
    waits.push(performance.now() - askedAt);
  };
  // A gateway that ended is told by the load.
  const timer = setInterval(() => void probe().catch(() => {}), PROBE_EVERY_MS);
  return {
    take(minute) {
      const ordered = waits.toSorted((a, b) => a - b);
      waits = [];
      return {
        minute,
        megabytes: readResidentMegabytes(watched.pid),
        descriptors: countDescriptors(watched.pid),
        lagMs: ordered[Math.floor(ordered.length * 0.95)] ?? 0,
        databaseMegabytes: sizeOf(watched.folder) / MEGABYTE,
      };
    },
    stop: () => clearInterval(timer),
  };
}

export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function readResidentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder).filter((name) => name.startsWith('isthmus.db'));
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** How much a figure grows a minute, by least squares. */
export function slope(samples: readonly Sample[], read: (sample: Sample) => number): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = mean(samples.map(({ minute }) => minute));
  const level = mean(samples.map(read));
  const together = samples.map((sample) => (sample.minute - middle) * (read(sample) - level));
  const spread = samples.map(({ minute }) => (minute - middle) ** 2);
  return mean(together) / mean(spread);
}
