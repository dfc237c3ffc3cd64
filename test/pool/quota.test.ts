// The quota figures the gateway shows are the upstream's own, whatever happened before they were read.

import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { countOf } from '../support/counts.ts';
import { until, whileTimePasses } from '../support/passing-clock.ts';
import { PROTOCOL_CALLS, type ProtocolCall, send } from '../support/protocol-calls.ts';
import { type SandboxPool, startSandboxPool } from '../support/sandbox-pool.ts';

const FIRST = 'ann@sandbox.example';
const NAMES = [FIRST, 'bob@sandbox.example', 'cyd@sandbox.example'];
const MODEL = 'alpha-3-flash';
const IMAGE_MODEL = 'alpha-3-pro-image';
const WINDOW_MS = 3_600_000;
const QUOTAS = {
  pro: {
    text: { requests: 8, windowMs: WINDOW_MS },
    image: { requests: 3, windowMs: 2 * WINDOW_MS },
  },
};

let pool: SandboxPool;
afterEach(() => pool.close());

async function start(firstGoesFirst = false): Promise<SandboxPool> {
  pool = await startSandboxPool({
    names: NAMES,
    sandbox: { quotas: QUOTAS },
    starts: true,
  });
  for (const [at, name] of NAMES.entries()) {
    await pool.addKey(name, { priority: firstGoesFirst && at === 0 ? 1 : 0 });
  }
  return pool;
}

type Step =
  | { readonly kind: 'ask' | 'draw'; readonly times: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'set'; readonly name: string; readonly fraction: number }
  | { readonly kind: 'refresh' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('ask'), times: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('draw'), times: fc.integer({ min: 1, max: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: 1, max: WINDOW_MS }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('set'),
      name: fc.constantFrom(...NAMES),
      fraction: fc.constantFrom(0, 0.125, 0.5, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refresh') }) },
);

test('figures equal the truth after any sequence of requests, images, resets and refreshes', async () => {
  await start();
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 3, maxLength: 10 }), async (steps) => {
      for (const step of steps) await take(step);
      await refresh();
      const truth = await readTruth();
      expect(await readShown()).toEqual(truth);
      // Nobody is kept out who has room, and nobody is let in who has none.
      const hasRoom = truth.some(({ model, percent }) => model === MODEL && percent > 0);
      expect((await ask()).status).toBe(hasRoom ? 200 : 429);
    }),
    { numRuns: countOf({ slow: 15, everyday: 6 }), seed: 20_260 },
  );
});

test('an image and a refusal are looked into at once, without anybody asking', async () => {
  await start();
  await draw();
  await until(showsTruth, 'the figure of the drawn image was read');
  for (let count = 0; count < 24; count += 1) expect((await ask()).status).toBe(200);
  const refused = await ask();
  expect(refused.status).toBe(429);
  const waitMs = WINDOW_MS - (pool.clock.now() % WINDOW_MS);
  expect(Math.abs(Number(refused.headers.get('retry-after')) - waitMs / 1000)).toBeLessThan(2);
  await until(showsTruth, 'the figures of the refused accounts were read');
});

test('a reset acts by itself as soon as the window is over', async () => {
  await start();
  for (let count = 0; count < 25; count += 1) await ask();
  expect((await ask()).status).toBe(429);
  pool.clock.skip(WINDOW_MS - (pool.clock.now() % WINDOW_MS) + 1);
  expect((await ask()).status).toBe(200);
});

test('more quota acts with the next refresh, although the refusal named a later time', async () => {
  await start();
  for (let count = 0; count < 25; count += 1) await ask();
  expect((await ask()).status).toBe(429);
  await until(showsTruth, 'the figures of the refused accounts were read');
  for (const account of NAMES)
    await pool.control('POST', '/sandbox/quota', { account, remainingFraction: 1 });
  pool.clock.skip(1000);
  await refresh();
  expect((await ask()).status).toBe(200);
});

test('protection and its end act on the next request', async () => {
  await start();
  for (const account of NAMES) {
    await pool.control('POST', '/sandbox/quota', {
      account,
      model: MODEL,
      remainingFraction: 0.25,
    });
  }
  await refresh();
  expect((await ask()).status).toBe(200);
  await pool.must('PATCH', '/api/config/quota', {
    protection: { enabled: true, threshold_percent: 50, models: [MODEL] },
  });
  for (const call of PROTOCOL_CALLS) {
    const answer = await send(pool.gateway.url, call, { model: MODEL });
    expect(answer.status).toBe(429);
    const waitMs = WINDOW_MS - (pool.clock.now() % WINDOW_MS);
    expect(Math.abs(Number(answer.headers.get('retry-after')) - waitMs / 1000)).toBeLessThan(2);
  }
  expect((await ask('alpha-2.5-pro')).status).toBe(200);
  const shown = await pool.must('GET', '/api/quota');
  expect(JSON.stringify(shown)).toContain('"isProtected":true');
  await pool.control('POST', '/sandbox/quota', {
    account: FIRST,
    model: MODEL,
    remainingFraction: 0.5,
  });
  await refresh();
  expect((await ask()).status).toBe(200);
  await pool.must('PATCH', '/api/config/quota', { protection: { enabled: false } });
  for (let count = 0; count < 3; count += 1) expect((await ask()).status).toBe(200);
});

test('a refusal that the figures contradict is kept, not asked again', async () => {
  await start(true);
  const account = FIRST;
  const fault = { status: 429, reason: 'QUOTA_EXHAUSTED', retryDelay: '7200s', account };
  await pool.control('POST', '/sandbox/faults', { ...fault, count: 20 });
  for (let count = 0; count < 14; count += 1) {
    expect((await ask()).status).toBe(200);
    await refresh();
  }
  const { faults } = await pool.control('GET', '/sandbox/faults');
  const [left] = Array.isArray(faults) ? faults : [];
  expect(left).toMatchObject({ remaining: 19 });
});

async function take(step: Step): Promise<void> {
  switch (step.kind) {
    case 'ask':
      for (let count = 0; count < step.times; count += 1) await ask();
      return;
    case 'draw':
      for (let count = 0; count < step.times; count += 1) await draw();
      return;
    case 'wait':
      await pool.clock.advance(step.ms);
      return;
    case 'set':
      await pool.control('POST', '/sandbox/quota', {
        account: step.name,
        remainingFraction: step.fraction,
      });
      return;
    case 'refresh':
      await refresh();
      return;
    default:
      step satisfies never;
  }
}

const CHAT: ProtocolCall | undefined = PROTOCOL_CALLS[0];

function ask(model = MODEL) {
  if (CHAT === undefined) throw new Error('There is no protocol.');
  return send(pool.gateway.url, CHAT, { model });
}

async function draw(): Promise<void> {
  const body = { model: IMAGE_MODEL, prompt: 'A cat', n: 1, size: '256x256' };
  const { status } = await pool.api('POST', '/v1/images/generations', body);
  expect([200, 429]).toContain(status);
}

async function refresh(): Promise<void> {
  await whileTimePasses(pool.clock, pool.must('POST', '/api/quota/refresh', {}));
}

async function showsTruth(): Promise<boolean> {
  await pool.clock.advance(100);
  return JSON.stringify(await readShown()) === JSON.stringify(await readTruth());
}

interface Figure {
  readonly label: string;
  readonly model: string;
  readonly percent: number;
  readonly resetsAt: string;
}

async function readTruth(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const label of NAMES) {
    const { models } = await pool.control('GET', `/sandbox/quota?account=${label}`);
    for (const { name, remainingFraction, resetTime } of objectsOf(models)) {
      const percent = Math.round(Number(remainingFraction) * 1e8) / 1e6;
      figures.push({ label, model: String(name), percent, resetsAt: String(resetTime) });
    }
  }
  return sorted(figures);
}

async function readShown(): Promise<Figure[]> {
  const { accounts } = await pool.must('GET', '/api/quota');
  const figures = objectsOf(accounts).flatMap(({ label, upstream, quotas }) =>
    upstream !== 'play'
      ? []
      : objectsOf(quotas).map(({ model, percent, resetsAt }) => ({
          label: String(label),
          model: String(model),
          percent: Number(percent),
          resetsAt: String(resetsAt),
        })),
  );
  return sorted(figures);
}

function sorted(figures: readonly Figure[]): Figure[] {
  const keyOf = ({ label, model }: Figure): string => `${label} ${model}`;
  return figures.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
