import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnswerFigures } from '../canonical/call-record.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import { chargeAnswers, defaultBilling, type RequestCharge } from './charges.ts';
import { createPriceBook } from './prices.ts';

const book = createPriceBook();
const MODELS = ['gemini-2.5-pro', 'gemini-2.5-flash-image', 'claude-sonnet-4-5', 'nobody-knows'];

function priceOf({
  accountId,
  upstreamId,
  modelId,
}: {
  accountId: string;
  upstreamId: string;
  modelId: string;
}) {
  const price = book.find({ upstreamId }, modelId);
  return (
    price && {
      price,
      billing: accountId === 'plan' ? ('flat-rate' as const) : ('metered' as const),
    }
  );
}

function answer(
  accountId: string,
  modelId: string,
  change: Partial<AnswerFigures> = {},
): AnswerFigures {
  const servedBy = { accountId, upstreamId: 'u', modelId };
  return {
    servedBy,
    usage: { ...NO_USAGE, promptTokens: 1000, answerTokens: 100 },
    imageCount: 0,
    ...change,
  };
}

test('answers of metered accounts cost, those of a flat rate would have', () => {
  const charge = chargeAnswers(
    [answer('key', 'gemini-2.5-pro'), answer('plan', 'gemini-2.5-pro')],
    priceOf,
  );
  expect(charge).toMatchObject({
    costNanos: 2_250_000,
    flatRateNanos: 2_250_000,
    basis: 'estimate',
  });
  const metered = chargeAnswers([answer('key', 'gemini-2.5-pro')], priceOf);
  expect(metered?.flatRateNanos).toBeUndefined();
});

test('a model nobody knows costs nothing that could be said, beside a known one it makes an estimate', () => {
  expect(chargeAnswers([answer('key', 'nobody-knows')], priceOf)).toBeUndefined();
  expect(
    chargeAnswers([answer('key', 'gemini-2.5-pro', { usage: undefined })], priceOf),
  ).toBeUndefined();
  expect(chargeAnswers([], priceOf)).toBeUndefined();
  const listed = createPriceBook();
  const found = (servedBy: { modelId: string }) => {
    const price = listed.find({ upstreamId: 'u', provider: 'google' }, servedBy.modelId);
    return price && { price, billing: 'metered' as const };
  };
  expect(chargeAnswers([answer('key', 'gemini-2.5-pro')], found)?.basis).toBe('listed');
  const both = chargeAnswers(
    [answer('key', 'gemini-2.5-pro'), answer('key', 'nobody-knows')],
    found,
  );
  expect(both).toMatchObject({ basis: 'estimate', costNanos: 2_250_000 });
});

/** As somebody would who has nothing but the record: parts, counts and rates. */
function recompute(charges: RequestCharge['charges'], billing: string): number {
  let cents = 0;
  for (const charge of charges.filter((one) => one.billing === billing)) {
    for (const { kind, count, rate } of charge.parts) {
      cents += kind === 'image' ? count * rate * 100 : (count * rate) / 10_000;
    }
  }
  return cents;
}

test('the cost of a record is that of its parts', () => {
  const TOKENS = fc.nat(400_000);
  const one = fc.record({
    account: fc.constantFrom('key', 'plan'),
    model: fc.constantFrom(...MODELS),
    promptTokens: TOKENS,
    cachedTokens: TOKENS,
    written: TOKENS,
    answerTokens: TOKENS,
    thoughtTokens: TOKENS,
    imageCount: fc.nat(4),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), (answers) => {
      const figures = answers.map(({ account, model, written, imageCount, ...counts }) =>
        answer(account, model, {
          imageCount,
          usage: { ...NO_USAGE, ...counts, cacheWrites: { tokens: written } },
        }),
      );
      const charge = chargeAnswers(figures, priceOf);
      const charges = charge?.charges ?? [];
      expect((charge?.costNanos ?? 0) / 1e7).toBeCloseTo(recompute(charges, 'metered'), 4);
      expect((charge?.flatRateNanos ?? 0) / 1e7).toBeCloseTo(recompute(charges, 'flat-rate'), 4);
    }),
  );
});

test('a subscription is a flat rate, a key or a project of a cloud is metered', () => {
  expect(defaultBilling('oauth', 'generic')).toBe('flat-rate');
  expect(defaultBilling('oauth', 'vertex')).toBe('metered');
  expect(defaultBilling('oauth', 'gemini-api')).toBe('metered');
  expect(defaultBilling('api-key', 'generic')).toBe('metered');
  expect(defaultBilling('service-account', 'vertex')).toBe('metered');
});
