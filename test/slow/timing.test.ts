// Whether the time of a comparison tells how much of a guess was right: Welch's t over many samples.

import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { digestKeySecret } from '../../src/access/api-key.ts';
import { createPasswordHasher, isSameText } from '../../src/access/password-hash.ts';
import { createKeyRing, readCredentials } from '../../src/server/gates/authenticate.ts';
import { createRandom, type Random } from '../fuzz/random.ts';

const SAMPLES = 100_000;
const WARM_UP = 20_000;
/** Beyond it two sets of times are told apart with some certainty. */
const LIMIT = 4.5;
/** Interruptions are no work of ours: the slowest samples of both kinds are left out alike. */
const KEPT_SHARE = 0.9;
/** One bad moment of the machine is not a leak; a leak is there every time. */
const TRIES = 5;

const SECRET = randomText(32);
/** Right in all but its last four characters, or in none; another one each time, and made alike. */
const near = (): string => guessOf(true);
const far = (): string => guessOf(false);

const DIGEST_KEY = randomBytes(32);

const ring = createKeyRing([
  { id: 'one', key: SECRET },
  { id: 'two', key: randomText(32) },
]);

test.each([
  ['the key of a client', (guess: string) => ring.find([guess])],
  [
    'a key in a header',
    (guess: string) =>
      ring.find(readCredentials({ authorization: `Bearer ${guess}` }, new URLSearchParams())),
  ],
  // Shape and checksum depend on the guess alone; only its keyed digest meets those of real keys.
  ['the key of a person', (guess: string) => digestKeySecret(guess, DIGEST_KEY)],
] as const)(
  '%s: a nearly right guess takes as long as a wrong one',
  (_what, check) => {
    expect(leastT({ check, near, far })).toBeLessThan(LIMIT);
  },
  300_000,
);

test('a password in plain: a nearly right guess takes as long as a wrong one', () => {
  // The password and the guess side by side, both new each time: one of them alone has its own ways in the caches.
  const check = (pair: string): boolean => isSameText(pair.slice(0, 32), pair.slice(32));
  const pairOf = (isNear: boolean) => (): string => {
    const [password, other, end] = [randomText(32), randomText(32), randomText(32)];
    return password + (isNear ? password : other).slice(0, 28) + end.slice(28);
  };
  expect(leastT({ check, near: pairOf(true), far: pairOf(false) })).toBeLessThan(LIMIT);
}, 300_000);

test('this test would notice a comparison that stops at the first difference', () => {
  const naive = (guess: string): boolean => {
    for (let at = 0; at < SECRET.length; at += 1) if (SECRET[at] !== guess[at]) return false;
    return SECRET.length === guess.length;
  };
  expect(Math.abs(compare({ check: naive, near, far }))).toBeGreaterThan(LIMIT);
}, 300_000);

test('without a password, and with a damaged hash, a check takes as long as with one', async () => {
  const hasher = createPasswordHasher();
  const stored = await hasher.hash('the password');
  const damaged = stored.slice(0, -4);
  const spent = { hash: [] as number[], none: [] as number[], damaged: [] as number[] };
  for (let round = 0; round < 40; round += 1) {
    spent.hash.push(await timeOf(() => hasher.verify(stored, `guess ${round}`)));
    spent.none.push(await timeOf(() => hasher.verify(undefined, `guess ${round}`)));
    spent.damaged.push(await timeOf(() => hasher.verify(damaged, `guess ${round}`)));
  }
  const [usual, none, broken] = [spent.hash, spent.none, spent.damaged].map(median);
  expect((none ?? 0) / (usual ?? 1)).toBeGreaterThan(0.7);
  expect((none ?? 0) / (usual ?? 1)).toBeLessThan(1.4);
  expect((broken ?? 0) / (usual ?? 1)).toBeGreaterThan(0.7);
}, 300_000);

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedAt = process.hrtime.bigint();
  await run();
  return Number(process.hrtime.bigint() - startedAt);
}

interface Comparison {
  readonly check: (guess: string) => unknown;
  readonly near: () => string;
  readonly far: () => string;
}

function leastT(comparison: Comparison): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < TRIES && least >= LIMIT; round += 1) {
    least = Math.min(least, Math.abs(compare(comparison)));
  }
  return least;
}

/** Welch's t of the times of both kinds of guesses, taken in a random order. */
function compare(comparison: Comparison): number {
  const random = createRandom(Date.now());
  sample(comparison, random, WARM_UP);
  const [left, right] = sample(comparison, random, 2 * SAMPLES);
  const bound = quantile([...left, ...right], KEPT_SHARE);
  return welch(
    left.filter((time) => time <= bound),
    right.filter((time) => time <= bound),
  );
}

/** All guesses are made before: what that costs must not colour what is measured. */
function sample(
  { check, near: nearly, far: wrong }: Comparison,
  random: Random,
  count: number,
): readonly [number[], number[]] {
  const guesses = Array.from({ length: count }, () => {
    const isNear = random.chance(0.5);
    // Flat and of one kind, however it was put together.
    return { isNear, text: Buffer.from(isNear ? nearly() : wrong()).toString('latin1') };
  });
  const times: readonly [number[], number[]] = [[], []];
  for (const { isNear, text } of guesses) {
    const startedAt = process.hrtime.bigint();
    check(text);
    const endedAt = process.hrtime.bigint();
    // Only now: finding the list of a kind takes its own time.
    times[isNear ? 0 : 1].push(Number(endedAt - startedAt));
  }
  return times;
}

function welch(left: readonly number[], right: readonly number[]): number {
  const [a, b] = [momentsOf(left), momentsOf(right)];
  return (a.mean - b.mean) / Math.sqrt(a.variance / left.length + b.variance / right.length);
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function guessOf(isNear: boolean): string {
  const [other, end] = [randomText(32), randomText(32)];
  return (isNear ? SECRET : other).slice(0, 28) + end.slice(28);
}

function randomText(characters: number): string {
  return randomBytes(characters).toString('base64url').slice(0, characters);
}
