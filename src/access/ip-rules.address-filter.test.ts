import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryAccessStores } from '../../test/support/memory-access-stores.ts';
import { GatewayError } from '../canonical/error.ts';
import { type IpRange, readIpAddress, visitorOf } from '../lib/net.ts';
import {
  AddressFilter,
  type AddressFilterSettings,
  createRuleIndex,
  type RuleInput,
} from './ip-rules.ts';

const ON: AddressFilterSettings = { enabled: true, fallback: 'allow', allowBeatsDeny: false };

function openFilter(change: Partial<AddressFilterSettings> = {}) {
  const settings = { ...ON, ...change };
  const clock = createFakeClock();
  const { addressRules: store } = createMemoryAccessStores();
  let count = 0;
  const createId = (prefix: string) => `${prefix}${++count}`;
  const filter = new AddressFilter({ store, settings: () => settings, clock, createId });
  const add = (list: RuleInput['list'], range: string, more: Partial<RuleInput> = {}) =>
    filter.add({ list, range, ...more }, 'unknown-to-all-rules');
  return { filter, add, clock, store, settings, createId };
}

function bytes(...parts: readonly number[]): string {
  return parts.map((part) => part.toString(16).padStart(2, '0')).join('');
}

/** Ways to write one IPv4 address. */
function spellings(a: number, b: number, c: number, d: number): readonly string[] {
  const [high, low] = [bytes(a, b), bytes(c, d)];
  const dotted = `${a}.${b}.${c}.${d}`;
  return [
    dotted,
    `::ffff:${dotted}`,
    `::FFFF:${dotted}`,
    `0:0:0:0:0:ffff:${dotted}`,
    `::ffff:${high}:${low}`,
    `0000:0000:0000:0000:0000:ffff:${high}:${low}`,
    `64:ff9b::${dotted}`,
    `64:ff9b::${high}:${low}`,
    `::ffff:${dotted}%eth0`,
    `::${dotted}`,
  ];
}

/** The rule that an address written by four numbers fits, found by comparing bits one by one. */
function fits(address: readonly number[], base: readonly number[], prefix: number): boolean {
  const bits = (numbers: readonly number[]) =>
    numbers.map((one) => one.toString(2).padStart(8, '0')).join('');
  return bits(address).slice(0, prefix) === bits(base).slice(0, prefix);
}

test('two hundred spellings meet the rules that their bits say', async () => {
  const rules = [
    { base: [10, 0, 0, 0], prefix: 8 },
    { base: [10, 1, 2, 0], prefix: 24 },
    { base: [192, 0, 2, 128], prefix: 25 },
    { base: [203, 0, 113, 9], prefix: 32 },
  ] as const;
  const addresses = [
    [10, 1, 2, 3],
    [10, 255, 255, 255],
    [11, 0, 0, 0],
    [192, 0, 2, 127],
    [192, 0, 2, 128],
    [192, 0, 2, 255],
    [203, 0, 113, 9],
    [203, 0, 113, 8],
    [9, 255, 255, 255],
    [1, 2, 3, 4],
  ] as const;
  let compared = 0;
  for (const { base, prefix } of rules) {
    for (const mapped of [false, true]) {
      const { filter, add } = openFilter();
      const text = base.join('.');
      await add('deny', mapped ? `::ffff:${text}/${prefix + 96}` : `${text}/${prefix}`);
      for (const address of addresses) {
        const [a, b, c, d] = address;
        const expected = fits(address, base, prefix) ? 'denied' : 'allowed';
        for (const spelling of spellings(a, b, c, d)) {
          expect([spelling, filter.explain(spelling).verdict]).toEqual([spelling, expected]);
          compared += 1;
        }
      }
    }
  }
  expect(compared).toBe(800);
});

test('IPv6 addresses meet the rules of their prefix in every spelling', async () => {
  const { filter, add } = openFilter();
  await add('deny', '2001:db8:0::/40');
  for (const inside of ['2001:db8::1', '2001:0DB8:00ff:0::', '2001:db8:ff:ffff::1%lo']) {
    expect([inside, filter.explain(inside).verdict]).toEqual([inside, 'denied']);
  }
  for (const outside of ['2001:db8:100::', '2001:db9::', '::1', '0.0.0.0', 'unknown', '']) {
    expect([outside, filter.explain(outside).verdict]).toEqual([outside, 'allowed']);
  }
});

test.each([
  ['10.0.0.1/8', '10.0.0.0/8'],
  ['2001:db8::1/32', '2001:db8::/32'],
  ['10.0.0.0/33', '32'],
  ['2001:db8::/129', '128'],
  ['010.0.0.0/8', 'four decimal'],
  ['0x0a.0.0.0', 'four decimal'],
  ['10.1', 'four decimal'],
  ['167772160', 'four decimal'],
  ['10.0.0.0/08', 'prefix'],
  ['10.0.0.0/-1', 'prefix'],
  ['10.0.0.0/8/8', 'four decimal'],
  ['::ffff:0.0.0.0/90', '96'],
  ['example.com', 'four decimal'],
  ['', 'four decimal'],
])('the range %j is refused with the way out', async (range, wayOut) => {
  const { filter } = openFilter();
  const refusal = filter.add({ list: 'deny', range }, '::1');
  await expect(refusal).rejects.toMatchObject({ kind: 'invalid-request', field: 'range' });
  await expect(refusal).rejects.toThrow(wayOut);
});

test('ranges are kept in their usual spelling', async () => {
  const { add, filter } = openFilter();
  for (const range of [' 10.0.0.0/8 ', '2001:0DB8::/32', '::ffff:192.0.2.1', '192.0.2.9/32']) {
    await add('allow', range);
  }
  expect(filter.list().map(({ range }) => range)).toEqual([
    '10.0.0.0/8',
    '2001:db8::/32',
    '192.0.2.1',
    '192.0.2.9',
  ]);
});

test('a rule that says what another says is refused, in whatever spelling', async () => {
  const { filter, add, clock } = openFilter();
  await add('deny', '10.0.0.0/8', { expiresAt: clock.now() + 60_000 });
  const { id } = await add('deny', '192.0.2.1');
  const isTwin = /rule to deny .* already/;
  await expect(add('deny', '::ffff:10.0.0.0/104')).rejects.toThrow(isTwin);
  await expect(add('deny', '192.0.2.1/32')).rejects.toThrow(isTwin);
  await expect(
    filter.change(id, { range: '10.0.0.0/8' }, { byAddress: '', revision: 1 }),
  ).rejects.toThrow(isTwin);
  expect(await filter.change(id, { note: 'x' }, { byAddress: '', revision: 1 })).toMatchObject({
    note: 'x',
  });
  await add('allow', '192.0.2.1');
  await clock.advance(60_000);
  await add('deny', '10.0.0.0/8');
});

test('deny beats allow whatever is narrower, unless the settings turn that round', async () => {
  const { filter, add, settings } = openFilter({ fallback: 'deny' });
  await add('deny', '10.0.0.0/8');
  await add('allow', '10.1.0.0/16');
  await add('allow', '192.0.2.0/24');
  const verdicts = () =>
    ['10.1.2.3', '10.2.2.2', '192.0.2.1', '198.51.100.1'].map(
      (address) => filter.explain(address).verdict,
    );
  expect(verdicts()).toEqual(['denied', 'denied', 'allowed', 'denied']);
  Object.assign(settings, { allowBeatsDeny: true, fallback: 'allow' });
  expect(verdicts()).toEqual(['allowed', 'denied', 'allowed', 'allowed']);
});

test('an expired rule counts no more, and a rule that never expires stays', async () => {
  const { filter, add, clock } = openFilter();
  await add('deny', '192.0.2.1', { expiresAt: clock.now() + 1_000 });
  await add('deny', '192.0.2.2', { expiresAt: null });
  await clock.advance(999);
  expect(filter.explain('192.0.2.1').verdict).toBe('denied');
  await clock.advance(1);
  expect(filter.explain('192.0.2.1').verdict).toBe('allowed');
  expect(filter.explain('192.0.2.2').verdict).toBe('denied');
});

test('a change keeps the end of a rule unless it names one, and null takes it away', async () => {
  const { filter, add, clock } = openFilter();
  const expiresAt = clock.now() + 1_000;
  const { id } = await add('deny', '192.0.2.1', { expiresAt });
  const change = (more: Partial<RuleInput>) =>
    filter.change(id, more, { byAddress: '203.0.113.1' });
  expect(await change({ note: 'x' })).toMatchObject({ note: 'x', expiresAt });
  expect((await change({ expiresAt: null })).expiresAt).toBeUndefined();
  await clock.advance(1_000);
  expect(filter.explain('192.0.2.1').verdict).toBe('denied');
});

test('a rule that could not be saved, changed or removed is in force as it was', async () => {
  const { filter, add, store } = openFilter();
  const { id } = await add('deny', '192.0.2.1');
  const fail = () => Promise.reject(new Error('no room'));
  Object.assign(store, { insert: fail, update: fail, remove: fail });
  await expect(add('deny', '192.0.2.2')).rejects.toThrow('no room');
  await expect(filter.change(id, { list: 'allow' }, { byAddress: '203.0.113.1' })).rejects.toThrow(
    'no room',
  );
  await expect(filter.remove(id, '203.0.113.1')).rejects.toThrow('no room');
  expect(filter.list()).toMatchObject([{ list: 'deny', range: '192.0.2.1' }]);
  expect(filter.explain('192.0.2.1').verdict).toBe('denied');
  expect(filter.explain('192.0.2.2').verdict).toBe('allowed');
});

test('more than twenty thousand rules are refused', async () => {
  const { filter, add, store, settings, clock, createId } = openFilter();
  const rule = await add('deny', '192.0.2.1');
  const rules = Array.from({ length: 20_000 }, (_, at) => ({ ...rule, id: `r${at}` }));
  const full = new AddressFilter({ store, settings: () => settings, clock, createId }, rules);
  const more = { list: 'deny', range: '192.0.2.2' } as const;
  await expect(full.add(more, '203.0.113.1')).rejects.toThrow('20000 rules already');
  await filter.add(more, '203.0.113.1');
});

test('hits are counted, saved in batches and there after a restart', async () => {
  const { filter, add, clock, store, settings, createId } = openFilter();
  const rule = await add('deny', '192.0.2.0/24');
  for (let turn = 0; turn < 3; turn += 1) {
    expect(() => filter.enter('192.0.2.7')).toThrow(GatewayError);
  }
  filter.enter('198.51.100.1');
  expect(filter.list()).toMatchObject([{ hits: 3, lastHitAt: clock.now() }]);
  expect(await store.list()).toMatchObject([{ hits: 0 }]);
  await clock.advance(1_000);
  expect(await store.list()).toMatchObject([{ id: rule.id, hits: 3 }]);
  expect(() => filter.enter('192.0.2.7')).toThrow(GatewayError);
  await filter.close();
  const rules = await store.list();
  const again = new AddressFilter({ store, settings: () => settings, clock, createId }, rules);
  expect(again.list()).toMatchObject([{ hits: 4 }]);
});

test('hits that could not be saved are saved with the next', async () => {
  const { filter, add, clock, store } = openFilter();
  await add('deny', '192.0.2.0/24');
  const { addHits } = store;
  Object.assign(store, { addHits: () => Promise.reject(new Error('no room')) });
  expect(() => filter.enter('192.0.2.7')).toThrow();
  await clock.advance(1_000);
  Object.assign(store, { addHits });
  expect(() => filter.enter('192.0.2.7')).toThrow();
  await clock.advance(5_000);
  expect(await store.list()).toMatchObject([{ hits: 2 }]);
});

test('closing tries once more to save, and then no more', async () => {
  const { filter, add, clock, store } = openFilter();
  await add('deny', '192.0.2.0/24');
  let tries = 0;
  const addHits = async () => {
    tries += 1;
    throw new Error('no room');
  };
  Object.assign(store, { addHits });
  expect(() => filter.enter('192.0.2.7')).toThrow();
  await clock.advance(1_000);
  await filter.close();
  expect(() => filter.enter('192.0.2.7')).toThrow();
  expect([tries, clock.pendingTimers]).toEqual([2, 0]);
});

test('nobody locks out the address they come from', async () => {
  const { filter, settings } = openFilter();
  const me = '192.0.2.7';
  await expect(filter.add({ list: 'deny', range: '192.0.0.0/16' }, me)).rejects.toThrow(me);
  expect(filter.list()).toEqual([]);
  const allowed = await filter.add({ list: 'allow', range: '192.0.2.0/24' }, me);
  const strict = { ...settings, fallback: 'deny' } as const;
  filter.refuseLockOut(strict, { from: me, to: me });
  expect(() => filter.refuseLockOut(strict, { from: '203.0.113.1', to: '203.0.113.1' })).toThrow(
    '203.0.113.1',
  );
  Object.assign(settings, strict);
  await expect(filter.remove(allowed.id, me)).rejects.toThrow(me);
  await expect(
    filter.change(allowed.id, { range: '10.0.0.0/8' }, { byAddress: me }),
  ).rejects.toThrow(me);
  await expect(filter.change(allowed.id, { list: 'deny' }, { byAddress: me })).rejects.toThrow(me);
  await filter.change(allowed.id, { note: 'home' }, { byAddress: me });
  await filter.remove(allowed.id, '203.0.113.1');
  expect(filter.list()).toEqual([]);
});

test('of two changes of one rule made against one revision the second is refused', async () => {
  const { filter, add, store } = openFilter();
  const { id, revision } = await add('deny', '192.0.2.1');
  const by = { byAddress: '203.0.113.1', revision };
  const [first, second] = await Promise.allSettled([
    filter.change(id, { note: 'first' }, by),
    filter.change(id, { note: 'second' }, by),
  ]);
  expect(first).toMatchObject({ status: 'fulfilled', value: { note: 'first', revision: 2 } });
  expect(second).toMatchObject({ status: 'rejected', reason: { fault: 'stale' } });
  expect(await store.list()).toMatchObject([{ note: 'first', revision: 2 }]);
  // Who names no revision changes whatever stands there.
  const any = await filter.change(id, { note: 'third' }, { byAddress: '203.0.113.1' });
  expect(any).toMatchObject({ note: 'third', revision: 3 });
});

test('hits that come while a rule is saved are not lost, and change no revision', async () => {
  const { filter, add, store } = openFilter();
  const { id } = await add('deny', '192.0.2.1');
  const { update } = store;
  Object.assign(store, {
    update: async (rule: Parameters<typeof update>[0]) => {
      expect(() => filter.enter('192.0.2.1')).toThrow(GatewayError);
      await update(rule);
    },
  });
  const changed = await filter.change(id, { note: 'x' }, { byAddress: '203.0.113.1' });
  expect(changed).toMatchObject({ hits: 1, revision: 2 });
  expect(filter.list()).toMatchObject([{ hits: 1, note: 'x' }]);
});

const LASTING = /only until 2\S+Z\. Remove its expiry first/;

test('an allow rule that ends keeps nobody in: the filter is not turned to deny with no other', async () => {
  const { filter, add, settings, clock } = openFilter();
  const me = '192.0.2.7';
  const strict = { ...settings, fallback: 'deny' } as const;
  const { id } = await add('allow', me, { expiresAt: clock.now() + 3_000 });
  expect(() => filter.refuseLockOut(strict, { from: me, to: me })).toThrow(LASTING);
  await filter.change(id, { expiresAt: Number.MAX_SAFE_INTEGER }, { byAddress: me });
  expect(() => filter.refuseLockOut(strict, { from: me, to: me })).toThrow('until +275760-');
  await filter.change(id, { expiresAt: null }, { byAddress: me });
  filter.refuseLockOut(strict, { from: me, to: me });
});

test('while the filter is on nobody brings the end of their own stay nearer', async () => {
  const { filter, add, settings, clock } = openFilter();
  const me = '192.0.2.7';
  const { id } = await filter.add({ list: 'allow', range: me }, me);
  Object.assign(settings, { fallback: 'deny' });
  const endIn = (ms: number) =>
    filter.change(id, { expiresAt: clock.now() + ms }, { byAddress: me });
  await expect(endIn(3_000)).rejects.toMatchObject({ field: 'expiresAt' });
  await expect(endIn(3_000)).rejects.toThrow(LASTING);
  const wide = await add('allow', '192.0.2.0/24', { expiresAt: clock.now() + 9_000 });
  await expect(endIn(3_000)).rejects.toThrow('192.0.2.0/24');
  await expect(filter.remove(id, me)).rejects.toThrow(LASTING);
  await filter.change(wide.id, { expiresAt: null }, { byAddress: me });
  expect(await endIn(3_000)).toMatchObject({ expiresAt: clock.now() + 3_000 });
});

test('an allow rule that ends before the deny rule it beats keeps nobody in either', async () => {
  const { filter, add, clock } = openFilter({ allowBeatsDeny: true });
  const me = '192.0.2.7';
  await add('allow', me, { expiresAt: clock.now() + 3_000 });
  const deny = (expiresAt: number | null) =>
    filter.add({ list: 'deny', range: '192.0.2.0/24', expiresAt }, me);
  await expect(deny(null)).rejects.toThrow(LASTING);
  await expect(deny(clock.now() + 3_001)).rejects.toThrow(LASTING);
  await deny(clock.now() + 3_000);
});

test('whose stay ends anyway may change what leaves it as long, or longer', async () => {
  const { filter, add, settings, clock } = openFilter();
  const me = '192.0.2.7';
  const { id } = await add('allow', me, { expiresAt: clock.now() + 3_000 });
  Object.assign(settings, { fallback: 'deny' });
  await filter.change(id, { note: 'until the evening' }, { byAddress: me });
  await filter.add({ list: 'allow', range: '198.51.100.0/24' }, me);
  filter.refuseLockOut({ ...settings, allowBeatsDeny: true }, { from: me, to: me });
  await filter.change(id, { expiresAt: clock.now() + 9_000 }, { byAddress: me });
  await expect(
    filter.change(id, { expiresAt: clock.now() + 8_999 }, { byAddress: me }),
  ).rejects.toThrow(LASTING);
});

test('while the filter is off nobody is refused and nothing is counted', async () => {
  const { filter, add } = openFilter({ enabled: false, fallback: 'deny' });
  await add('deny', '0.0.0.0/0');
  filter.enter('192.0.2.1');
  expect(filter.list()).toMatchObject([{ hits: 0 }]);
});

test('the index finds what a walk over all rules finds, the narrowest first', () => {
  const range = fc
    .record({ value: fc.bigInt(0n, 0xffn), prefixBits: fc.integer({ min: 24, max: 32 }) })
    .map(({ value, prefixBits }): { range: IpRange } => {
      const hostBits = BigInt(32 - prefixBits);
      return { range: { family: 4, value: (value >> hostBits) << hostBits, prefixBits } };
    });
  fc.assert(
    fc.property(fc.array(range, { maxLength: 20 }), fc.bigInt(0n, 0xffn), (rules, value) => {
      const found = createRuleIndex(rules).find({ family: 4, value });
      const covers = ({ range: { value: base, prefixBits } }: { range: IpRange }) =>
        value >> BigInt(32 - prefixBits) === base >> BigInt(32 - prefixBits);
      const expected = rules.filter(covers);
      expect(new Set(found)).toEqual(new Set(expected));
      const lengths = found.map((one) => one.range.prefixBits);
      expect(lengths).toEqual(lengths.toSorted((left, right) => right - left));
    }),
    { numRuns: 200 },
  );
});

test('a visitor is an IPv4 address or the /64 of an IPv6 one', () => {
  expect(visitorOf('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(visitorOf('2001:db8:1:2:3::4')).toBe(visitorOf('2001:db8:1:2::'));
  expect(visitorOf('2001:db8:1:3::')).not.toBe(visitorOf('2001:db8:1:2::'));
  expect(visitorOf('unknown')).toBe('unknown');
  expect(readIpAddress('::')).toEqual({ family: 6, value: 0n });
});
