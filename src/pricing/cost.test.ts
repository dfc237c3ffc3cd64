import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inputTokens, NO_USAGE, totalTokens, type Usage } from '../canonical/usage.ts';
import { CHARGE_KINDS, costOf, type PricedRates } from './cost.ts';
import { createPriceBook, type Price, type Seller } from './prices.ts';

function priceOf(provider: Seller['provider'], model: string): Price['rates'] {
  const price = createPriceBook().find({ upstreamId: 'u', provider }, model);
  if (price === undefined) throw new Error(`${model} has no price`);
  return price.rates;
}

const dollars = (usage: Partial<Usage>, price: PricedRates, imageCount = 0): number =>
  costOf({ usage: { ...NO_USAGE, ...usage }, imageCount }, price).nanos / 1e9;

describe('examples worked by hand from the pages of the providers', () => {
  test('Gemini 2.5 Pro: 10,000 in, 2,000 out of which 1,500 are thoughts', () => {
    const usage = { promptTokens: 10_000, answerTokens: 500, thoughtTokens: 1500 };
    // 10,000 × 1.25/M + 2,000 × 10/M
    expect(dollars(usage, priceOf('google', 'gemini-2.5-pro'))).toBe(0.0325);
  });

  test('Gemini 2.5 Pro above 200,000 tokens of input: all of it at the higher rates', () => {
    const usage = { promptTokens: 200_001, cachedTokens: 100_000, answerTokens: 1000 };
    // 100,001 × 2.5/M + 100,000 × 0.25/M + 1,000 × 15/M
    expect(dollars(usage, priceOf('google', 'gemini-2.5-pro'))).toBe(0.290_002_5);
    const below = { ...usage, promptTokens: 200_000 };
    // 100,000 × 1.25/M + 100,000 × 0.125/M + 1,000 × 10/M
    expect(dollars(below, priceOf('google', 'gemini-2.5-pro'))).toBe(0.1475);
  });

  test('Gemini 2.5 Flash: sound in the prompt costs more than text', () => {
    const usage = { promptTokens: 2000, media: { image: 258, audio: 1500 }, answerTokens: 100 };
    // 500 × 0.3/M + 1,500 × 1/M + 100 × 2.5/M: pictures cost as text
    expect(dollars(usage, priceOf('google', 'gemini-2.5-flash'))).toBe(0.0019);
  });

  test('Gemini 2.5 Flash Image: a picture of 1,290 tokens', () => {
    const usage = {
      promptTokens: 100,
      answerTokens: 1310,
      answerMedia: { image: 1290, audio: 0 },
    };
    // 100 × 0.3/M + 20 × 2.5/M + 1,290 × 30/M
    expect(dollars(usage, priceOf('google', 'gemini-2.5-flash-image'), 1)).toBe(0.038_78);
  });

  test('Claude Sonnet 4.5: caches written for five minutes and for an hour, and read', () => {
    const usage = {
      promptTokens: 21_000,
      cachedTokens: 10_000,
      cacheWrites: { tokens: 10_000, hourTokens: 4000 },
      answerTokens: 800,
    };
    // 1,000 × 3/M + 10,000 × 0.3/M + 6,000 × 3.75/M + 4,000 × 6/M + 800 × 15/M
    expect(dollars(usage, priceOf('anthropic', 'claude-sonnet-4-5'))).toBe(0.0645);
    const charge = costOf(
      { usage: { ...NO_USAGE, ...usage }, imageCount: 0 },
      priceOf('anthropic', 'claude-sonnet-4-5'),
    );
    // 10,000 × 2.7/M saved, 6,000 × 0.75/M + 4,000 × 3/M paid beyond
    expect(charge.cacheSavingsNanos).toBe(10_500_000);
  });

  test('GPT-5.4 mini with a cached prefix', () => {
    const usage = { promptTokens: 3000, cachedTokens: 2048, answerTokens: 300, thoughtTokens: 100 };
    // 952 × 0.75/M + 2,048 × 0.075/M + 400 × 4.5/M
    expect(dollars(usage, priceOf('openai', 'gpt-5.4-mini'))).toBe(0.002_667_6);
  });

  test('GPT Image 1: text and a picture in, a picture out', () => {
    const usage = { promptTokens: 350, media: { image: 323, audio: 0 }, answerTokens: 4160 };
    // 27 × 5/M + 323 × 10/M + 4,160 × 40/M
    expect(dollars(usage, priceOf('openai', 'gpt-image-1'), 1)).toBe(0.169_765);
  });

  test('DeepSeek chat with a cache hit', () => {
    const usage = { promptTokens: 1000, cachedTokens: 768, answerTokens: 200 };
    // 232 × 0.28/M + 768 × 0.028/M + 200 × 0.42/M
    expect(dollars(usage, priceOf('deepseek', 'deepseek-chat'))).toBe(0.000_170_464);
  });

  test('Grok Imagine: two pictures by the piece', () => {
    expect(dollars({}, priceOf('xai', 'grok-imagine-image'), 2)).toBe(0.04);
  });
});

const COUNT = fc.integer({ min: 0, max: 2_000_000 });
const RATE = fc.integer({ min: 0, max: 200_000 }).map((thousandths) => thousandths / 1000);
const RATES = fc.record(
  Object.fromEntries(CHARGE_KINDS.map((kind) => [kind, RATE])) as Record<
    (typeof CHARGE_KINDS)[number],
    typeof RATE
  >,
  { requiredKeys: [] },
);
const PRICE = fc.record({
  rates: RATES,
  above: fc.array(fc.tuple(COUNT, RATES), { maxLength: 3 }),
});

/** Parts of a prompt and an answer that fit in them, as decoders give them. */
const USAGE: fc.Arbitrary<Usage> = fc
  .record({
    fresh: COUNT,
    read: COUNT,
    written: COUNT,
    hour: COUNT,
    tools: COUNT,
    answer: COUNT,
    thought: COUNT,
  })
  .chain(({ fresh, read, written, hour, tools, answer, thought }) =>
    fc.record({
      promptTokens: fc.constant(fresh + read + written),
      cachedTokens: fc.constant(read),
      cacheWrites: fc.constant({ tokens: written, hourTokens: Math.min(hour, written) }),
      toolPromptTokens: fc.constant(tools),
      answerTokens: fc.constant(answer),
      thoughtTokens: fc.constant(thought),
      media: fc.option(fc.record({ image: COUNT, audio: COUNT }), { nil: undefined }),
      answerMedia: fc.option(fc.record({ image: COUNT, audio: COUNT }), { nil: undefined }),
    }),
  );

test('every token is charged once, and the parts add up to the cost', () => {
  fc.assert(
    fc.property(
      USAGE,
      PRICE,
      fc.integer({ min: 0, max: 8 }),
      (usage, { rates, above }, imageCount) => {
        const price = {
          ...rates,
          above: above.map(([tokens, step]) => ({ ...step, inputTokens: tokens })),
        };
        const { parts, nanos, aboveInputTokens } = costOf({ usage, imageCount }, price);
        const tokens = parts.filter(({ kind }) => kind !== 'image');
        expect(tokens.reduce((sum, { count }) => sum + count, 0)).toBe(totalTokens(usage));
        // In whole thousandths of a dollar a million tokens, so that nothing is rounded before the end.
        let exact = 0n;
        for (const { kind, count, rate } of parts) {
          const thousandths = BigInt(Math.round(rate * 1000)) * BigInt(count);
          exact += kind === 'image' ? thousandths * 1_000_000n : thousandths;
        }
        expect(Math.abs(nanos - Number(exact))).toBeLessThanOrEqual(1);
        const steps = above.map(([at]) => at).filter((at) => inputTokens(usage) > at);
        expect(aboveInputTokens).toBe(steps.length === 0 ? undefined : Math.max(...steps));
      },
    ),
  );
});

test('an answer without caches saves nothing', () => {
  fc.assert(
    fc.property(USAGE, RATES, (usage, price) => {
      const plain = { ...usage, cachedTokens: 0, cacheWrites: undefined };
      expect(costOf({ usage: plain, imageCount: 0 }, price).cacheSavingsNanos).toBe(0);
    }),
  );
});
