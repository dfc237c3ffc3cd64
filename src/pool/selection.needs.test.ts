import { expect, test } from 'vitest';
import { capabilitiesOf } from '../../test/support/canonical.ts';
import { createFakeUpstream, type FakeUpstream } from '../../test/support/fake-upstream.ts';
import type { PoolSeed } from '../../test/support/seed-pool.ts';
import type { ModelCapabilities } from '../canonical/model.ts';
import { type CallNeeds, type Need, needSet } from '../canonical/needs.ts';
import { createPoolBench, type PoolBenchOptions } from './pool.test-support.ts';

const LIMITED = { kind: 'rate-limited', status: 429, retryAfterMs: 60_000 } as const;
const PICTURE = needing('image');

function upstreamOf(id: string, change: Partial<ModelCapabilities> = {}): FakeUpstream {
  const played = createFakeUpstream(() => ({ fail: { kind: 'path' } }));
  return { ...played, id, wire: id, capabilities: () => capabilitiesOf(change) };
}

function needing(...needs: readonly Need[]): CallNeeds {
  return { wire: undefined, read: () => needSet(...needs) };
}

const SEEING = upstreamOf('seeing');
/** Goes first where nothing else speaks against it. */
const BLIND = upstreamOf('blind', { refusesMedia: ['image'] });
const BOTH: readonly PoolSeed[] = [
  { id: 'b', upstreamId: 'blind', priority: 5 },
  { id: 's', upstreamId: 'seeing' },
];

function benchOf(
  upstreams: readonly FakeUpstream[] = [BLIND, SEEING],
  options: Partial<PoolBenchOptions> = {},
) {
  const byId = new Map(upstreams.map((one) => [one.id, one]));
  return createPoolBench({ accounts: BOTH, upstreams: byId, ...options });
}

test('a request goes to an account that loses nothing of it before one of a higher priority', () => {
  const bench = benchOf();
  expect(bench.use({ needs: PICTURE })).toBe('s');
  expect(bench.use({ needs: needing('functions') })).toBe('b');
  expect(bench.use()).toBe('b');
});

test('the selection log says what another would lose', () => {
  const bench = benchOf();
  expect(bench.verdicts({ needs: PICTURE })).toEqual({ b: 'does not accept images', s: 'chosen' });
  expect(bench.verdicts()).toEqual({ b: 'chosen', s: 'has a lower priority' });
});

test('where no other is left, one that would lose something serves', () => {
  const bench = benchOf();
  bench.use({ needs: PICTURE }, LIMITED);
  expect(bench.use({ needs: PICTURE })).toBe('b');
  expect(bench.use({ needs: PICTURE, exclude: new Set(['s']) })).toBe('b');
});

test('of two that lose something the one that loses less goes first', () => {
  const deaf = upstreamOf('blind', { refusesMedia: ['audio', 'image'] });
  const wordy = upstreamOf('seeing', { refusesMedia: ['audio'], refusesSchemas: true });
  const bench = benchOf([deaf, wordy]);
  const needs = needing('image', 'audio', 'schema');
  expect(bench.use({ needs })).toBe('s');
  expect(bench.verdicts({ needs })).toEqual({ b: 'does not accept images', s: 'chosen' });
});

test('health goes first: one that fails more than others waits its turn, whatever it loses', () => {
  const bench = benchOf([BLIND, SEEING], {
    accounts: [
      { id: 'b', upstreamId: 'blind' },
      { id: 's', upstreamId: 'seeing' },
    ],
  });
  for (let nth = 0; nth < 8; nth += 1) {
    bench.use({ needs: PICTURE, session: `s${nth}`, exclude: new Set(['b']) }, { kind: 'path' });
    bench.use({ session: `b${nth}`, exclude: new Set(['s']) });
  }
  // Not as the first attempt, which may be the one that tries it again.
  expect(bench.use({ needs: PICTURE, exclude: new Set(['another']) })).toBe('b');
});

test('a session is served elsewhere for one picture, and comes back', () => {
  const bench = benchOf();
  expect(bench.use({ session: 'one' })).toBe('b');
  expect(bench.use({ session: 'one', needs: PICTURE })).toBe('s');
  expect(bench.use({ session: 'one' })).toBe('b');
});

test('an account that is asked for by name serves, whatever is lost', () => {
  const bench = benchOf();
  expect(bench.use({ needs: PICTURE, preferredAccount: 'b@example.org' })).toBe('b');
  const fixed = benchOf([BLIND, SEEING], { settings: { fixedAccount: 'b' } });
  expect(fixed.verdicts({ needs: PICTURE })).toMatchObject({ s: 'another was preferred' });
});

test('a tier that is asked for counts among those that lose nothing', () => {
  const bench = benchOf([BLIND, SEEING], {
    accounts: [
      { id: 'b', upstreamId: 'blind', tier: 'ultra' },
      { id: 's', upstreamId: 'seeing', tier: 'free' },
    ],
  });
  expect(bench.use({ needs: PICTURE, preferredTier: 'ultra' })).toBe('s');
});

test('the wire of the client’s own body is no advantage unless something would be lost', () => {
  const bench = benchOf([upstreamOf('blind'), SEEING]);
  const relayed = (...needs: readonly Need[]): CallNeeds => ({
    ...needing(...needs),
    wire: 'seeing',
  });
  expect(bench.use({ needs: relayed('image') })).toBe('b');
  expect(bench.use({ needs: relayed('own-fields') })).toBe('s');
  expect(bench.use({ needs: relayed('own-wire') })).toBe('s');
});

test('nobody reads what a request needs where all who could serve it are alike', () => {
  const unread: CallNeeds = {
    wire: undefined,
    read: () => {
      throw new Error('read');
    },
  };
  expect(benchOf([upstreamOf('blind'), SEEING]).use({ needs: unread })).toBe('b');
  const accounts = [
    { id: 'b', upstreamId: 'blind' },
    { id: 'c', upstreamId: 'blind' },
  ];
  expect(benchOf([BLIND], { accounts }).use({ needs: unread })).toBe('b');
});

test('of many accounts the log counts those that would lose something', () => {
  const accounts = Array.from({ length: 60 }, (_, nth) => ({
    id: `b${nth}`,
    upstreamId: 'blind',
  }));
  const bench = benchOf([BLIND, SEEING], {
    accounts: [...accounts, { id: 's', upstreamId: 'seeing' }],
  });
  expect(bench.lease({ needs: PICTURE }).selectionLog).toEqual([
    { accountId: 's', verdict: 'chosen' },
    { count: 60, verdict: 'does not accept images', accountIds: ['b0', 'b1', 'b2'] },
  ]);
});
