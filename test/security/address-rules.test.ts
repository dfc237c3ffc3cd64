// What many address rules, and many addresses in a body, cost a request.

import { expect, test } from 'vitest';
import { AddressFilter, type AddressRule } from '../../src/access/ip-rules.ts';
import { findUrlFault, formatIpAddress } from '../../src/lib/net.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAccessStores } from '../support/memory-access-stores.ts';
import { threadMs } from './measure.ts';

const RULES = 10_000;
const CHECKS = 5_000;
const MOST_MICROSECONDS = 50;
const ADDRESSES = 50_000;
const MOST_RATIO = 20;

test('of ten thousand rules of every prefix length a check takes at most 50 µs', () => {
  const random = createRandom(7);
  const rules = createRules(random);
  expect(rules.length).toBe(RULES);
  const clock = createFakeClock();
  const filter = new AddressFilter(
    {
      store: createMemoryAccessStores().addressRules,
      settings: () => ({ enabled: true, fallback: 'allow', allowBeatsDeny: false }),
      clock,
      createId: (prefix) => prefix,
    },
    rules,
  );
  const addresses = Array.from({ length: CHECKS }, (_, index) =>
    randomAddress(random, index % 2 === 0 ? 4 : 6),
  );
  const verdicts = { allowed: 0, denied: 0 };
  const judge = (): void => {
    for (const address of addresses) verdicts[filter.explain(address).verdict] += 1;
  };
  judge();
  // The best of some: what else the machine does makes any single one slower.
  let microseconds = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 40 && microseconds >= MOST_MICROSECONDS; round += 1) {
    microseconds = Math.min(microseconds, (threadMs(judge) * 1000) / CHECKS);
  }
  expect(microseconds).toBeLessThan(MOST_MICROSECONDS);
  expect(Math.min(verdicts.allowed, verdicts.denied)).toBeGreaterThan(0);
});

test('a check of a public host costs about what reading its address does', () => {
  const addresses = Array.from(
    { length: ADDRESSES },
    (_, index) => `https://example.org/${index}.png`,
  );
  const read = (): void => {
    for (const address of addresses)
      if (URL.parse(address)?.hostname !== 'example.org') throw new Error(address);
  };
  const check = (): void => {
    for (const address of addresses)
      if (findUrlFault(address) !== undefined) throw new Error(address);
  };
  let ratio = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5 && ratio >= MOST_RATIO; round += 1) {
    ratio = threadMs(check) / threadMs(read);
  }
  expect(ratio).toBeLessThan(MOST_RATIO);
});

/** Ranges from /8 and /16 to single addresses, so that a check has the most levels to look at. */
function createRules(random: Random): AddressRule[] {
  const ranges = new Set<string>();
  while (ranges.size < RULES) {
    const family = ranges.size % 2 === 0 ? 4 : 6;
    const [least, widest] = family === 4 ? [8, 32] : [16, 128];
    const bits = least + random.below(widest - least + 1);
    const hostBits = BigInt(widest - bits);
    const value = (randomValue(random, family) >> hostBits) << hostBits;
    ranges.add(`${formatIpAddress({ family, value })}/${bits}`);
  }
  return [...ranges].map(createRule);
}

function createRule(range: string, index: number): AddressRule {
  return {
    id: `rule_${index}`,
    list: index % 3 === 0 ? 'allow' : 'deny',
    range,
    note: '',
    expiresAt: undefined,
    hits: 0,
    lastHitAt: undefined,
    createdAt: 0,
    revision: 1,
  };
}

function randomAddress(random: Random, family: 4 | 6): string {
  return formatIpAddress({ family, value: randomValue(random, family) });
}

/** IPv6 addresses of one /16, so that some rule fits now and then. */
function randomValue(random: Random, family: 4 | 6): bigint {
  const groups = Array.from({ length: family === 4 ? 2 : 7 }, () => random.below(65_536));
  const start = family === 4 ? 0n : 0x2001n;
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), start);
}
