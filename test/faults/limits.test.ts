// What a refusal says of its wait, in all the forms there are: kept to the millisecond, never asked again before.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import { countOf } from '../support/counts.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';
import { errorBody, type ScriptedReply } from '../support/scripted-upstream.ts';
import { type FaultBench, SIGNED_IN, startFaultBench, WITH_KEY } from './bench.ts';

interface Format {
  readonly what: string;
  /** Milliseconds; undefined when it says nothing that can be used. */
  readonly waitMs: number | undefined;
  readonly reply: (now: number) => ScriptedReply;
}

const DAY_MS = 86_400_000;
const REFUSALS = countOf({ slow: 1000, everyday: 250 });
const SECOND = 1000;

const inHeader = (what: string, name: string, value: string, waitMs?: number): Format => ({
  what,
  waitMs,
  reply: () => refusal(errorBody(429, 'No.'), { [name]: value }),
});
const inDelay = (what: string, retryDelay: JsonObject | string, waitMs?: number): Format => ({
  what,
  waitMs,
  reply: () => refusal(errorBody(429, 'No.', [{ retryDelay }])),
});
const inWords = (message: string, waitMs?: number): Format => ({
  what: `the words "${message}"`,
  waitMs,
  reply: () => refusal(errorBody(429, message)),
});
const inMetadata = (metadata: (now: number) => JsonObject, waitMs: number): Format => ({
  what: `metadata ${Object.keys(metadata(0))}`,
  waitMs,
  reply: (now) =>
    refusal(errorBody(429, 'No.', [{ reason: 'QUOTA_EXHAUSTED', metadata: metadata(now) }])),
});

const FORMATS: readonly Format[] = [
  inHeader('seconds', 'retry-after', '7', 7000),
  inHeader('decimal seconds', 'retry-after', '7.5', 7500),
  inHeader('milliseconds', 'retry-after-ms', '1500', 1500),
  {
    what: 'a date',
    waitMs: 30_000,
    reply: (now) =>
      refusal(errorBody(429, 'No.'), { 'retry-after': new Date(now + 30_000).toUTCString() }),
  },
  inHeader('nothing to wait', 'retry-after', '0', SECOND),
  inHeader('a negative number', 'retry-after', '-5'),
  inHeader('far too much', 'retry-after', '99999999999', DAY_MS),
  inHeader('a word', 'retry-after', 'soon'),
  inDelay('a duration', '12s', 12_000),
  inDelay('nine decimals', '45.837906927s', 45_838),
  inDelay('less than a second', '510.79ms', SECOND),
  inDelay('hours and minutes', '1h16m0.667s', 4_560_667),
  inDelay('seconds and nanos', { seconds: 3, nanos: 500_000_000 }, 3500),
  inDelay('seconds as text', { seconds: '4' }, 4000),
  inDelay('no number', 'NaNs'),
  inMetadata(() => ({ quotaResetDelay: '2h21m25.8s' }), 8_485_800),
  inMetadata((now) => ({ quotaResetTimeStamp: new Date(now + 90_000).toISOString() }), 90_000),
  inWords('Please retry in 45.8s.', 45_800),
  inWords('Limit reached, try again in 5 minutes.', 300_000),
  inWords('Please try again in 1 minute and 30 seconds.', 90_000),
  inWords('Please wait 20 seconds.', 20_000),
  inWords('Your quota resets after 1h2m3s.', 3_723_000),
  inWords('Try again later.'),
  {
    what: 'a header that says at once and a body that knows better',
    waitMs: 9000,
    reply: () => refusal(errorBody(429, 'No.', [{ retryDelay: '9s' }]), { 'retry-after': '0' }),
  },
  {
    what: 'a body in an array',
    waitMs: 6000,
    reply: () => ({
      ...refusal(),
      body: JSON.stringify([errorBody(429, 'No.', [{ retryDelay: '6s' }])]),
    }),
  },
];

let bench: FaultBench;
beforeAll(async () => {
  bench = await startFaultBench();
});
afterAll(() => bench.close());

const [CHAT] = PROTOCOL_CALLS;

describe('25 formats', () => {
  beforeEach(() => bench.prepare(WITH_KEY));

  test.each(FORMATS)('$what', async ({ reply, waitMs }) => {
    const { gateway, upstream, health } = bench;
    const refused = reply(gateway.clock.now());
    upstream.script({ model: ({ account }) => (account === WITH_KEY[0] ? refused : undefined) });
    expect((await ask('alpha-3-flash')).status).toBe(200);
    const cooling = health(WITH_KEY[0]).models.get('alpha-3-flash');
    // Without a hint the first step of the ladder, less its jitter.
    expect((cooling?.coolUntil ?? 0) - (cooling?.since ?? 0)).toBe(waitMs ?? 3750);
  });
});

test('no account is used while it cools, in hundreds of refusals of all formats', async () => {
  const { gateway, upstream } = bench;
  const labels = [...WITH_KEY, ...SIGNED_IN];
  await bench.prepare(labels);
  const random = createRandom(4);
  const models = ['alpha-3-flash', 'alpha-2.5-pro'];
  let refusals = 0;
  const early: string[] = [];
  upstream.script({
    model: ({ account, model }) => {
      const now = gateway.clock.now();
      if ((bench.health(account).models.get(model)?.coolUntil ?? 0) > now) early.push(account);
      if (random.next() < 0.3) return undefined;
      refusals += 1;
      return random.pick(FORMATS).reply(now);
    },
  });
  let exhausted = 0;
  while (refusals < REFUSALS) {
    const model = random.pick(models);
    const answer = await ask(model);
    if (answer.status !== 200) {
      exhausted += 1;
      expect(answer.status).toBe(429);
      expectSoonest(answer.headers, { labels, model });
    }
    gateway.clock.skip(nextPause(random));
  }
  expect(early).toEqual([]);
  expect(exhausted).toBeGreaterThan(REFUSALS / 20);
});

function ask(model: string) {
  if (CHAT === undefined) throw new Error('There is no protocol.');
  return send(bench.gateway.url, CHAT, { model, text: 'Fine' });
}

/** Mostly short, so that all accounts cool at times; sometimes long enough for the long ones. */
function nextPause(random: Random): number {
  const step = random.next();
  if (step < 0.85) return Math.floor(random.next() * 3000);
  return Math.floor(random.next() * (step < 0.97 ? 600_000 : DAY_MS));
}

/** A second either way; at once when accounts are left that the request could not try any more. */
function expectSoonest(
  headers: Headers,
  { labels, model }: { readonly labels: readonly string[]; readonly model: string },
): void {
  const now = bench.gateway.clock.now();
  const ends = labels.map((label) => bench.health(label).models.get(model)?.coolUntil ?? 0);
  const soonestMs = Math.max(0, Math.min(...ends) - now);
  const seconds = Number(headers.get('retry-after'));
  expect(Math.abs(seconds - soonestMs / 1000)).toBeLessThanOrEqual(1);
}

function refusal(
  body: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Extract<ScriptedReply, { kind: 'status' }> {
  return { kind: 'status', status: 429, headers, body };
}
