import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/error.ts';
import { exhaustedError, type NothingLeft } from './exhausted.ts';

const ALL_TRIED: NothingLeft = { kind: 'none', reason: 'all-tried', selectionLog: [] };

function messageOf(lastError: GatewayError, isPassedOn?: boolean): string {
  const route = { target: 'no-such', webSearch: false, isPassedOn };
  return exhaustedError(ALL_TRIED, { route, asked: 'no-such-model' }, lastError).message;
}

function failed(kind: 'upstream-unavailable' | 'not-found', reason?: 'model-not-found') {
  return new GatewayError({ kind, source: 'upstream', reason, message: 'It went wrong.' });
}

test('of a name that nobody knows it is said so, beside what those ran into whose models are unknown', () => {
  expect(messageOf(failed('upstream-unavailable'), true)).toBe(
    'It went wrong. No account is known to offer the model "no-such-model". GET /v1/models lists the names that work.',
  );
  expect(messageOf(failed('upstream-unavailable'))).toBe('It went wrong.');
});

test('an upstream that says itself that it has no such model is left to say it', () => {
  expect(messageOf(failed('not-found', 'model-not-found'), true)).toBe('It went wrong.');
});
