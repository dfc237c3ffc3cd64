// What several processes cost: two workers beside one, and Valkey beside none, in processor time of one run in turns.

import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { median, orderOf, spreadOf } from '../bench/figures.ts';
import { readCpuMs } from '../bench/kernel.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { findValkey, startValkey, type ValkeyServer } from '../support/valkey.ts';

const PASSWORD = 'a-console-password';
const CONNECTIONS = 16;
const REQUESTS = 400;
const ROUNDS = 12;
/** Of each process: until then the machine code of its functions is still being made. */
const WARM_UP = 4000;
/** Beyond what is promised: rounds of a machine that does much else differ by a few of a hundred. */
const NOISE = 0.03;

const program = findValkey();

interface Contender {
  readonly name: string;
  readonly gateway: RunningGateway;
  readonly key: string;
  readonly agent: Agent;
  readonly costs: number[];
}

describe.skipIf(process.platform !== 'linux' || program === undefined)('the cost of', () => {
  let valkey: ValkeyServer;
  const contenders: Contender[] = [];
  const named = (name: string): Contender => {
    const found = contenders.find((contender) => contender.name === name);
    if (found === undefined) throw new Error(`${name} does not take part.`);
    return found;
  };
  const split: number[] = [];

  beforeAll(async () => {
    valkey = await startValkey(program ?? '');
    const start = async (name: string, environment: Record<string, string>): Promise<void> => {
      const gateway = await startGateway({
        ...{ WEB_PASSWORD: PASSWORD, AUTH_MODE: 'strict', LOG_LEVEL: 'info', ...environment },
      });
      const key = await makeKey(gateway.url);
      const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
      contenders.push({ name, gateway, key, agent, costs: [] });
    };
    await start('one process', {});
    await start('two workers', { WORKERS: '2' });
    await listening(named('two workers').gateway, 2);
    await start('Valkey', { REDIS_URL: valkey.url });
    for (const contender of contenders) await ask(contender, WARM_UP);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const contender of orderOf(contenders, round)) {
        const before = cpuOf(contender);
        await ask(contender, REQUESTS);
        const used = cpuOf(contender).map((ms, place) => ms - (before[place] ?? 0));
        contender.costs.push((1000 * sum(used)) / REQUESTS);
        const [, first = 0, second = 0] = used;
        if (contender.name === 'two workers') split.push(first / (first + second));
      }
    }
  }, 1_800_000);
  afterAll(async () => {
    for (const { agent, gateway } of contenders) {
      await agent.close();
      await gateway.stop();
    }
    await valkey.close();
  });

  const timesOne = (name: string): readonly number[] =>
    named(name).costs.map((cost, round) => cost / (named('one process').costs[round] ?? 0));

  test.each([
    ['two workers', 1.1],
    ['Valkey', 1.1],
  ])('a request with %s is at most %d times that of one process', (name, most) => {
    const ratios = timesOne(name);
    const costs = [named(name), named('one process')].map(
      (contender) => `${contender.name} ${median(contender.costs).toFixed(0)} µs`,
    );
    console.log(`${costs.join(', ')}: ${median(ratios).toFixed(2)}× ${spreadOf(ratios, 2)}`);
    expect(median(ratios)).toBeLessThanOrEqual(most + NOISE);
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
function cpuOf({ gateway }: Contender): readonly number[] {
  return processesOf(gateway.pid).map(readCpuMs);
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

async function ask({ gateway, key, agent }: Contender, count: number): Promise<void> {
  let left = count;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { statusCode, body } = await request(`${gateway.url}/v1/chat/completions`, {
        ...{ method: 'POST', dispatcher: agent },
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: BODY,
      });
      expect([statusCode, await body.text()]).toEqual([200, expect.any(String)]);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
}

const BODY = JSON.stringify({
  ...{ model: 'alpha-3-flash', max_tokens: 300 },
  messages: [{ role: 'user', content: 'Hi' }],
});

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
