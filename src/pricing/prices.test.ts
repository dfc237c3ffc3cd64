import { describe, expect, test } from 'vitest';
import { compareCodePoints } from '../lib/names.ts';
import { neutralModelName } from '../wire/vocabulary.ts';
import { createPriceBook, LISTED_PRICES, PROVIDERS, type Seller } from './prices.ts';

const book = createPriceBook();
const seller = (provider?: Seller['provider']): Seller => ({ upstreamId: 'up', provider });

describe('the table', () => {
  test('has a day, a page and rates for each of its prices, and no model twice', () => {
    for (const { rates, date, source } of LISTED_PRICES) {
      expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(source).toMatch(/^https:/);
      const { above = [], ...plain } = rates;
      for (const rate of [
        ...Object.values(plain),
        ...above.flatMap((step) => Object.values(step)),
      ]) {
        expect(rate).toBeGreaterThan(0);
      }
      expect(rates.input ?? rates.image).toBeGreaterThan(0);
    }
    const names = LISTED_PRICES.flatMap(({ provider, models }) =>
      models.map((one) => `${provider} ${one}`),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  test('covers each provider, in its order', () => {
    const order = [...new Set(LISTED_PRICES.map(({ provider }) => provider))];
    expect(order).toEqual([...PROVIDERS]);
  });

  test('finds each of its models under its neutral name too', () => {
    for (const { models, provider } of LISTED_PRICES) {
      for (const model of models) {
        const price = book.find(seller(provider), model.replace('*', 'x'));
        expect(price, model).toMatchObject({ basis: 'listed' });
        expect(book.find(seller(provider), neutralModelName(model.replace('*', 'x')))).toBe(price);
      }
    }
  });
});

describe('finding a price', () => {
  test.each([
    ['google', 'gemini-2.5-flash-preview-09-2025', 'gemini-2.5-flash'],
    ['google', 'models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['google', 'publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['google', 'gemini-3.1-pro-preview-customtools', 'gemini-3.1-pro'],
    ['google', 'gemini-flash-latest', 'gemini-3.8-flash'],
    ['anthropic', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-opus-4-5@20251101', 'claude-opus-4-5'],
    ['openai', 'gpt-4o-2024-08-06', 'gpt-4o'],
    ['openai', 'GPT-5-Mini', 'gpt-5-mini'],
    ['mistral', 'mistral-medium-2604', 'mistral-medium'],
    ['mistral', 'mistral-large-latest', 'mistral-large'],
    ['xai', 'grok-4.20-0309-reasoning', 'grok-4.20'],
    ['groq', 'openai/gpt-oss-120b', 'openai/gpt-oss-120b'],
  ] as const)('%s %s is priced as %s', (provider, model, priced) => {
    expect(book.find(seller(provider), model)).toMatchObject({ basis: 'listed', model: priced });
  });

  test.each([
    ['anthropic', 'claude-3-5-haiku-20241022', 'claude-haiku-4-5'],
    ['anthropic', 'claude-opus-6', 'claude-opus-5-5'],
    ['google', 'gemini-3-pro-high', 'gemini-3.1-pro'],
    ['google', 'gemini-2.0-flash-001', 'gemini-2.5-flash'],
    ['google', 'claude-sonnet-4-5', 'claude-sonnet-4-5'],
    [undefined, 'anthropic/claude-sonnet-4.5', 'claude-sonnet-4-5'],
    [undefined, 'openai/gpt-5-mini:free', 'gpt-5-mini'],
    [undefined, 'beta-opus-4-5', 'claude-opus-4-5'],
  ] as const)('%s %s is estimated as %s', (provider, model, priced) => {
    expect(book.find(seller(provider), model)).toMatchObject({ basis: 'estimate', model: priced });
  });

  test.each([
    ['openai', 'gpt-99-nobody-knows'],
    ['google', 'gemini-2.5-flash-native-audio-preview'],
    [undefined, 'llama-3.3-70b'],
    ['anthropic', ''],
  ] as const)('%s %s has none', (provider, model) => {
    expect(book.find(seller(provider), model)).toBeUndefined();
  });

  test('a server of one’s own has none, unless the operator says so', () => {
    const local = { upstreamId: 'box', isLocal: true };
    expect(book.find(local, 'gpt-4o')).toBeUndefined();
    const own = createPriceBook({ 'box/*': { input: 0.1, output: 0.2 } });
    expect(own.find(local, 'gpt-4o')).toMatchObject({ basis: 'own', rates: { input: 0.1 } });
    expect(own.find(seller('openai'), 'gpt-4o')).toMatchObject({ basis: 'listed' });
  });

  test('own prices win, the exact before patterns and those of an upstream before those of all', () => {
    const own = createPriceBook({
      'gpt-*': { input: 1 },
      'gpt-4o': { input: 2 },
      'up/gpt-4o': { input: 3, date: '2026-01-02', source: 'contract' },
      'gemini-2.5-pro': { input: 4 },
    });
    const found = (upstreamId: string, model: string) =>
      own.find({ upstreamId, provider: 'openai' }, model)?.rates.input;
    expect(found('up', 'gpt-4o')).toBe(3);
    expect(found('other', 'gpt-4o')).toBe(2);
    expect(found('other', 'gpt-4o-mini')).toBe(1);
    expect(found('other', 'alpha-2.5-pro')).toBe(4);
    expect(own.find(seller('openai'), 'gpt-4o')).toMatchObject({
      basis: 'own',
      date: '2026-01-02',
      source: 'contract',
    });
  });
});

test('models are named in small letters, as they are looked up', () => {
  const names = LISTED_PRICES.flatMap(({ models }) => models);
  expect(names.toSorted(compareCodePoints)).toEqual(
    names.map((one) => one.toLowerCase()).toSorted(compareCodePoints),
  );
});

test('a name of any length is looked up, and has no listed price', () => {
  for (const end of ['-low', '-latest', ':free', '.', '/']) {
    expect(book.find(seller('openai'), `gpt-5${end.repeat(100_000)}`)).toBeUndefined();
  }
});
