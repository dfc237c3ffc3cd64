import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AddressRule, judgeAddress, stayOf } from './ip-rules.ts';

const NOW = 3;
const LATEST = 6;

const list = fc.constantFrom('allow' as const, 'deny' as const);
const settings = fc.record({ fallback: list, allowBeatsDeny: fc.boolean() });
const rules = fc.array(
  fc
    .record({ list, expiresAt: fc.option(fc.integer({ min: 1, max: LATEST }), { nil: undefined }) })
    .map(({ list: kind, expiresAt }): AddressRule => {
      const never = { note: '', hits: 0, lastHitAt: undefined, createdAt: 0, revision: 1 };
      return { id: 'r', list: kind, range: '192.0.2.1', expiresAt, ...never };
    }),
  { maxLength: 5 },
);

test('a stay ends when the verdict is first another one, and with a rule that ends then', () => {
  fc.assert(
    fc.property(rules, settings, (covering, how) => {
      const moments = Array.from({ length: LATEST - NOW + 1 }, (_, index) => NOW + index);
      const isOut = (at: number) => judgeAddress(covering, how, at).verdict === 'denied';
      const { endsAt, endsWith } = stayOf(covering, how, NOW);
      expect(endsAt).toBe(moments.find(isOut) ?? Number.POSITIVE_INFINITY);
      if (endsAt === NOW) expect(endsWith).toBeUndefined();
      else if (endsAt <= LATEST)
        expect(endsWith).toMatchObject({ list: 'allow', expiresAt: endsAt });
    }),
    { numRuns: 500 },
  );
});
