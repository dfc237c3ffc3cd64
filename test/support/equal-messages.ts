// A message equals its English text: tests say what people read. Its code and params have tests of their own.

import { expect } from 'vitest';

expect.addEqualityTesters([
  (one: unknown, other: unknown) => {
    const texts = [textOf(one), textOf(other)];
    if (typeof one === 'string') return texts[1] === undefined ? undefined : one === texts[1];
    if (typeof other === 'string') return texts[0] === undefined ? undefined : other === texts[0];
    return undefined;
  },
]);

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const isMessage = 'code' in value && 'params' in value && 'text' in value;
  return isMessage && typeof value.text === 'string' ? value.text : undefined;
}
