// What several processes cost, in processor time of one run in turns: two workers beside one process and beside two
// gateways that know nothing of each other, and Valkey beside none; once every process has compiled what it runs.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { median, orderOf, spreadOf } from '../bench/figures.ts';
import { readCpuMs } from '../bench/kernel.ts';
import { fire } from '../bench/load.ts';
import { type Child, startChild } from '../bench/process.ts';
import { UNARY } from '../bench/workloads.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { startValkey, VALKEY, type ValkeyServer } from '../support/valkey.ts';

const PASSWORD = 'a-console-password';
/** Enough that each of two processes finds several requests at a time, as one does. */
const CONNECTIONS = 64;
const ROUNDS = 12;
const ROUND_SECONDS = 1;
/** Until then the machine code of the functions of each process is still being made. */
const WARM_UP_SECONDS = 20;
/** Beyond what is promised: rounds of a machine that does much else differ by a few of a hundred. */
const NOISE = 0.03;

interface Contender {
  readonly name: string;
  /** The load is shared between them. */
  readonly gateways: readonly Target[];
  readonly costs: number[];
}

interface Target {
  readonly gateway: RunningGateway;
  readonly key: string;
  readonly connections: number;
}

describe.skipIf(process.platform !== 'linux' || VALKEY === undefined)('the cost of', () => {
  let valkey: ValkeyServer;
  let upstream: Child;
  const contenders: Contender[] = [];
  const named = (name: string): Contender => {
    const found = contenders.find((contender) => contender.name === name);
    if (found === undefined) throw new Error(`${name} does not take part.`);
    return found;
  };
  const split: number[] = [];

  beforeAll(async () => {
    valkey = await startValkey();
    upstream = await startChild({
      arguments: [join(import.meta.dirname, '../bench/mock-upstream.ts')],
    });
    const start = async (connections: number, environment = {}): Promise<Target> => {
      const gateway = await startGateway({
        ...{ WEB_PASSWORD: PASSWORD, AUTH_MODE: 'strict', LOG_LEVEL: 'info' },
        ...{ UPSTREAM_PROFILE: 'gemini-api', UPSTREAM_API_KEYS: 'first,second,third' },
        ...{ UPSTREAM_BASE_URL: upstream.url, ...environment },
      });
      return { gateway, key: await makeKey(gateway.url), connections };
    };
    const add = (name: string, ...gateways: readonly Target[]): void => {
      contenders.push({ name, gateways, costs: [] });
    };
    const half = CONNECTIONS / 2;
    const workers = await start(CONNECTIONS, { WORKERS: '2' });
    await listening(workers.gateway, 2);
    add('one process', await start(CONNECTIONS));
    add('two gateways', await start(half), await start(half));
    add('two workers', workers);
    add('Valkey', await start(CONNECTIONS, { REDIS_URL: valkey.url }));
    for (const contender of contenders) await ask(contender, WARM_UP_SECONDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const contender of orderOf(contenders, round)) {
        const before = cpuOf(contender);
        const requests = await ask(contender, ROUND_SECONDS);
        const used = cpuOf(contender).map((ms, place) => ms - (before[place] ?? 0));
        contender.costs.push((1000 * sum(used)) / requests);
        const [, first = 0, second = 0] = used;
        if (contender.name === 'two workers') split.push(first / (first + second));
      }
    }
  }, 1_800_000);
  afterAll(async () => {
    for (const { gateway } of contenders.flatMap(({ gateways }) => gateways)) await gateway.stop();
    await upstream.stop();
    await valkey.close();
  });

  /** How many times the cost of the other, round by round; their median. */
  const times = (name: string, other: string): number => {
    const ratios = named(name).costs.map((cost, round) => cost / (named(other).costs[round] ?? 0));
    const costs = [named(name), named(other)].map(
      (contender) => `${contender.name} ${median(contender.costs).toFixed(0)} µs`,
    );
    console.log(`${costs.join(', ')}: ${median(ratios).toFixed(2)}× ${spreadOf(ratios, 2)}`);
    return median(ratios);
  };

  test.each([
    // Not promised: what is left of the cost beside halves of the load that know nothing of each other.
    ['two workers', 1.3, 'two gateways'],
    ['two workers', 1.1, 'one process'],
    ['Valkey', 1.1, 'one process'],
  ])('a request with %s is at most %d times that of %s', (name, most, other) => {
    expect(times(name, other)).toBeLessThanOrEqual(most + NOISE);
  });

  test('two workers is spread evenly', () => {
    console.log(`the first of two workers did ${(100 * median(split)).toFixed(1)} % of the work`);
    expect(median(split)).toBeGreaterThanOrEqual(0.45);
    expect(median(split)).toBeLessThanOrEqual(0.55);
  });
});

/** Until so many processes say so. */
function listening(gateway: RunningGateway, count: number): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (gateway.output().split('The gateway listens.').length <= count) return;
      end();
      resolve();
    };
    const end = gateway.onOutput(look);
    look();
  });
}

/** Of the parent, and of each worker, which began in this order. */
function cpuOf({ gateways }: Contender): readonly number[] {
  return gateways.flatMap(({ gateway }) => processesOf(gateway.pid)).map(readCpuMs);
}

/** The process and its children: proc(5), the fourth field of /proc/[pid]/stat. */
function processesOf(pid: number): readonly number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((other) => other > 0 && parentOf(other) === pid);
  return [pid, ...children.sort((left, right) => left - right)];
}

function parentOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

/** @returns how many requests were answered */
async function ask({ gateways }: Contender, seconds: number): Promise<number> {
  const results = await Promise.all(
    gateways.map(({ gateway, key, connections }) => {
      const shot = { ...UNARY.requests.chat, headers: { authorization: `Bearer ${key}` } };
      return fire({ ...shot, url: gateway.url }, { connections, seconds });
    }),
  );
  expect(sum(results.map(({ failures }) => failures))).toBe(0);
  return sum(results.map(({ good }) => good));
}

/** With limits that are counted over all processes and never reached. */
async function makeKey(url: string): Promise<string> {
  const response = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${PASSWORD}` },
    body: JSON.stringify({ name: 'Ada', requestsPerMinute: 1_000_000 }),
  });
  const made: unknown = await response.json();
  if (typeof made !== 'object' || made === null || !('secret' in made))
    throw new Error(`No key was made: ${JSON.stringify(made)}`);
  return String(made.secret);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
