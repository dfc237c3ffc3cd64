// Prints what one choice among 10,000 accounts costs: `node test/bench/pool-choice.ts`.

import { createSystemClock } from '../../src/lib/clock.ts';
import { createFakeUpstream } from '../support/fake-upstream.ts';
import { createSeedPool } from '../support/seed-pool.ts';

const ACCOUNTS = 10_000;
const CHOICES = 20_000;
const BUDGET_MICROSECONDS = 50;

const { pool, book } = createSeedPool({
  accounts: Array.from({ length: ACCOUNTS }, (_, index) => ({
    id: `a${index}`,
    tier: index % 3 === 0 ? ('ultra' as const) : ('pro' as const),
    priority: index % 5,
    remaining: 0.2 + (index % 80) / 100,
  })),
  upstream: createFakeUpstream(() => ({ frames: [] })),
  clock: createSystemClock(),
  random: Math.random,
});

/** One request in ten is refused, one in two belongs to a session. */
function choose(count: number): void {
  const session = count % 2 === 0 ? `s${count % 1000}` : undefined;
  const request = { model: 'm', exclude: new Set<string>(), clientKeyId: 'k', session };
  const result = pool.lease(request);
  if (result.kind !== 'lease') return;
  const failure = { kind: 'rate-limited', retryAfterMs: 1000 } as const;
  result.lease.release(count % 10 === 0 ? { kind: 'failure', failure } : { kind: 'success' });
}

for (let count = 0; count < CHOICES; count += 1) choose(count);
const before = process.cpuUsage();
for (let count = 0; count < CHOICES; count += 1) choose(count);
const { user, system } = process.cpuUsage(before);
const each = (user + system) / CHOICES;
console.log(
  `${ACCOUNTS} accounts: ${each.toFixed(1)} µs of CPU a choice with its release ` +
    `(budget ${BUDGET_MICROSECONDS} µs for the choice alone)`,
);
await pool.close();
await book.close();
