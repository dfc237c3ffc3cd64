import { expect, test } from 'vitest';
import {
  assistant,
  call,
  capabilitiesOf,
  contextOf,
  requestOf,
  result,
  user,
} from '../../test/support/canonical.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import { dropOldestTurns } from './turns.ts';

const LONG = 'x'.repeat(400);

function shorten(request: Partial<CanonicalRequest>, inputTokenLimit: number) {
  const capabilities = capabilitiesOf({ inputTokenLimit });
  const asked = requestOf(request);
  const context = contextOf({ capabilities });
  const { turns } = dropOldestTurns(asked, context);
  return { turns, asked, notes: context.receipt.entries };
}

const TURNS = [
  user(LONG),
  assistant(call('1')),
  user(result('1', LONG)),
  { role: 'system' as const, parts: [{ kind: 'text' as const, text: 'rule' }] },
  assistant(LONG),
  user('now'),
  assistant(call('2')),
  user(result('2')),
];

test('a conversation that fits stays, and so does one whose client did not allow it', () => {
  const { turns, asked } = shorten({ turns: TURNS, dropsOldest: true }, 10_000);
  expect(turns).toBe(asked.turns);
  expect(shorten({ turns: TURNS }, 100).turns).toEqual(TURNS);
});

test('the oldest turns go up to a new question, calls with their results; instructions stay', () => {
  const { turns, notes } = shorten({ turns: TURNS, dropsOldest: true }, 100);
  expect(turns).toEqual([TURNS[3], ...TURNS.slice(5)]);
  expect(notes).toMatchObject([{ action: 'approximated', path: 'truncation' }]);
});

test('no more turns go than have to', () => {
  const turns = [user(LONG), assistant(LONG), user(LONG), assistant(LONG), user(LONG)];
  expect(shorten({ turns, dropsOldest: true }, 400).turns).toEqual(turns.slice(2));
  expect(shorten({ turns, dropsOldest: true }, 200).turns).toEqual(turns.slice(4));
});

test('the last question stays, however large it is', () => {
  const turns = [user('a'), assistant('b'), user(LONG)];
  expect(shorten({ turns, dropsOldest: true }, 10).turns).toEqual([turns[2]]);
  expect(shorten({ turns: turns.slice(2), dropsOldest: true }, 10).turns).toEqual([turns[2]]);
});
