import { expect, test } from 'vitest';
import { checkConfig } from './check-config.ts';

function problemsOf(prices: object): readonly string[] {
  const checked = checkConfig({ proxy: { prices: { m: prices } } } as never);
  return checked.kind === 'good' ? [] : checked.problems.map(({ text }) => text);
}

test('a price with any rate is taken, 0 too', () => {
  expect(problemsOf({ input: 0, output: 0, date: '2026-11-27', source: 'contract' })).toEqual([]);
  expect(problemsOf({ image: 0.04 })).toEqual([]);
  expect(problemsOf({ input: 1, above: [{ input_tokens: 200_000, input: 2 }] })).toEqual([]);
});

test.each([
  [{}, 'proxy.prices["m"]: needs a rate, such as "input" and "output"'],
  [{ source: 'x' }, 'proxy.prices["m"]: needs a rate, such as "input" and "output"'],
  [{ input: -1 }, 'proxy.prices.m.input: must be >= 0'],
  [{ input: '1' }, 'proxy.prices.m.input: must be number'],
  [{ input: 1, date: '2026-02-30' }, 'proxy.prices["m"].date: must be a day, such as 2026-11-27'],
  [
    { input: 1, above: [{ input_tokens: 5 }] },
    'proxy.prices["m"].above[0]: needs a rate, such as "input" and "output"',
  ],
  [
    {
      input: 1,
      above: [
        { input_tokens: 5, input: 2 },
        { input_tokens: 5, input: 3 },
      ],
    },
    'proxy.prices["m"].above[1].input_tokens: another step begins there too',
  ],
])('%j is refused: %s', (prices, problem) => {
  expect(problemsOf(prices)).toEqual([problem]);
});

test('a misspelt rate is refused with the one that was meant', () => {
  expect(problemsOf({ input: 1, ouput: 2 }).join('\n')).toMatch(/ouput.*was "output" meant\?/);
  expect(problemsOf({ input: 1, above: [{ input_tokens: 5, outptu: 2 }] }).join('\n')).toMatch(
    /outptu.*"output"/,
  );
});
