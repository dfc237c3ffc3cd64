import { expect, test } from 'vitest';
import { createRedactors } from './redact.ts';

test('what one client showed as its key is hidden in its records, and only there', () => {
  const redactorFor = createRedactors(() => []);
  const [alice, bob] = [redactorFor(['key-of-alice']), redactorFor(['key-of-bob-1'])];
  expect(alice.text('asked with key-of-alice')).toBe('asked with [redacted]');
  expect(bob.text('asked with key-of-alice')).toBe('asked with key-of-alice');
  expect(redactorFor(['key-of-alice', 'key-of-bob-1']).text('key-of-bob-1')).toBe('[redacted]');
});

test('a text seen before is hidden from the moment the gateway has it as a credential', () => {
  let secrets: readonly string[] = [];
  const redactorFor = createRedactors(() => secrets);
  expect(redactorFor([]).text('new-secret-1')).toBe('new-secret-1');
  secrets = ['new-secret-1'];
  expect(redactorFor([]).text('new-secret-1')).toBe('[redacted]');
});

test('ever new clients and texts do not fill the memory with wrong answers', () => {
  const redactorFor = createRedactors(() => []);
  for (let index = 0; index < 1000; index += 1) {
    const key = `client-key-${index}`;
    expect(redactorFor([key]).text(`shown ${key}`)).toBe('shown [redacted]');
    expect(redactorFor([]).text(`text ${index}`)).toBe(`text ${index}`);
  }
});
