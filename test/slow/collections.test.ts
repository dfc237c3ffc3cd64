// What a request leaves behind when it is over must go with the small garbage collections.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NODE_FLAGS } from '../../scripts/node-flags.mjs';
import { fire } from '../bench/load.ts';
import { startChild } from '../bench/process.ts';
import { GATEWAY_KEY, PACED_STREAMS, UNARY } from '../bench/workloads.ts';
import { startGateway } from '../support/gateway-process.ts';

/** It was 14 KB while V8 allocated some of each request among the old, and is 0.7 without. */
const MOST_KEPT_BYTES = 5000;
const MEGABYTE = 1_048_576;

test.runIf(process.env.ISTHMUS_SLOW === '1')(
  'requests after many slow streams leave next to nothing among the old objects',
  { timeout: 120_000 },
  async () => {
    const mock = join(import.meta.dirname, '../bench/mock-upstream.ts');
    const upstream = await startChild({ arguments: [mock], core: 0 });
    const environment = {
      AUTH_MODE: 'strict',
      API_KEY: GATEWAY_KEY,
      UPSTREAM_PROFILE: 'gemini-api',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'one,two',
    };
    const gateway = await startGateway(environment, [], [...NODE_FLAGS, '--trace-gc']);
    const { url } = gateway;
    const unary = { ...UNARY.requests.chat, url };
    await Promise.all(
      Object.values(PACED_STREAMS.requests).map((request) =>
        fire({ ...request, url }, { connections: 150, seconds: 6 }),
      ),
    );
    const before = gateway.output().length;
    const { good, failures } = await fire(unary, { connections: 16, seconds: 4 });
    const kept = keptMegabytes(gateway.output().slice(before)) * MEGABYTE;
    await gateway.stop();
    await upstream.stop();
    expect(failures).toBe(0);
    expect(good).toBeGreaterThan(1000);
    expect(kept / good).toBeLessThan(MOST_KEPT_BYTES);
  },
);

/** The growth from one small collection to the next, as `--trace-gc` tells it; large ones interrupt it. */
function keptMegabytes(trace: string): number {
  const left = [...trace.matchAll(/Scavenge [\d.]+ \([\d.]+\) -> ([\d.]+) /g)].map(([, size]) =>
    Number(size),
  );
  expect(left.length).toBeGreaterThan(3);
  return left.reduce((sum, size, index) => sum + Math.max(0, size - (left[index - 1] ?? size)), 0);
}
