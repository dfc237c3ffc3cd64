import { expect, test } from 'vitest';
import type { JsonObject } from '../lib/json.ts';
import { PartialCalls } from './chat.ts';

function callsOf(pieces: readonly string[], extra: JsonObject = {}) {
  const calls = new PartialCalls();
  for (const piece of pieces)
    calls.add({ index: 0, ...extra, function: { name: 'write', arguments: piece } });
  return calls.open.map(({ said }) => said.toString());
}

test('a name behind whole arguments begins another call, one within them does not', () => {
  expect(callsOf(['{"a":{}', ',"b":"}', '\\"}"', '}', '{"c":[{}]}', ' ', '{}'])).toEqual([
    '{"a":{},"b":"}\\"}"}',
    '{"c":[{}]}',
    ' {}',
  ]);
});

test('A2: pieces that look like an end cost no more the more there are of them', () => {
  const cpuOf = (count: number): number => {
    const begun = process.cpuUsage();
    callsOf(['{"a":[{}', ...Array.from({ length: count }, () => ',{}')]);
    const { user, system } = process.cpuUsage(begun);
    return user + system;
  };
  cpuOf(2_000);
  // To parse all that came before with each of them took minutes.
  expect(cpuOf(100_000)).toBeLessThan(2_000_000);
});
