// Checks own prices beyond their schema: a price that says less than it seems would make costs wrong in silence.

import { type Sentence, told } from '../lib/localized-message.ts';
import { nearestName } from '../lib/names.ts';
import { type PriceSettings, TOKEN_RATE_NAMES } from './settings.ts';

const PRICE_NAMES = [...TOKEN_RATE_NAMES, 'image', 'above', 'source', 'date'];
const STEP_NAMES = ['input_tokens', ...TOKEN_RATE_NAMES];
const DAY = /^20\d\d-\d\d-\d\d$/;

/** One problem a line, each starting with the JSON path. */
export function priceProblems(prices: PriceSettings): readonly Sentence[] {
  return Object.entries(prices).flatMap(([model, price]) => {
    const path = `proxy.prices[${JSON.stringify(model)}]`;
    const { above = [], date } = price;
    const problems = unknownNames(price, { path, names: PRICE_NAMES });
    if (![...TOKEN_RATE_NAMES, 'image'].some((name) => Object.hasOwn(price, name))) {
      problems.push(told`${path}: needs a rate, such as "input" and "output"`);
    }
    if (date !== undefined && !(DAY.test(date) && isDay(date))) {
      problems.push(told`${path}.date: must be a day, such as 2026-11-27`);
    }
    const seen = new Set<number>();
    for (const [index, step] of above.entries()) {
      const place = `${path}.above[${index}]`;
      problems.push(...unknownNames(step, { path: place, names: STEP_NAMES }));
      if (!TOKEN_RATE_NAMES.some((name) => Object.hasOwn(step, name))) {
        problems.push(told`${place}: needs a rate, such as "input" and "output"`);
      }
      if (seen.has(step.input_tokens)) {
        problems.push(told`${place}.input_tokens: another step begins there too`);
      }
      seen.add(step.input_tokens);
    }
    return problems;
  });
}

function isDay(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(date);
}

function unknownNames(
  given: object,
  { path, names }: { readonly path: string; readonly names: readonly string[] },
): Sentence[] {
  return Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = nearestName(name, names);
      return near === undefined
        ? told`${path}.${name}: unknown; a price has ${names.join(', ')}`
        : told`${path}.${name}: unknown; was "${near}" meant?`;
    });
}
