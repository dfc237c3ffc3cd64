import { expect, test } from 'vitest';
import { GatewayError } from '../canonical/error.ts';
import { exhaustedError, type NothingLeft } from './account-search.ts';

function messageOf(
  lastError: GatewayError,
  isPassedOn?: boolean,
  reason: NothingLeft['reason'] = 'all-tried',
): string {
  const nothing: NothingLeft = { kind: 'none', reason, selectionLog: [] };
  const route = { target: 'no-such', webSearch: false, isPassedOn };
  return exhaustedError(nothing, { route, asked: 'no-such-model' }, lastError).message;
}

function failed(
  kind: 'upstream-unavailable' | 'rate-limited' | 'not-found',
  reason?: 'model-not-found',
) {
  return new GatewayError({ kind, source: 'upstream', reason, message: 'It went wrong.' });
}

test('of a name that nobody knows it is said so, beside what those ran into whose models are unknown', () => {
  expect(messageOf(failed('upstream-unavailable'), true)).toBe(
    'It went wrong. No account is known to offer the model "no-such-model". GET /v1/models lists the names that work.',
  );
  expect(messageOf(failed('upstream-unavailable'))).toBe('It went wrong.');
});

test('a model that is at a limit is not called unknown: services limit what they have', () => {
  expect(messageOf(failed('rate-limited'), true, 'limited')).toBe(
    'All accounts for this model have reached their limit. Try again when one has recovered.',
  );
});

test('an upstream that says itself that it has no such model is left to say it', () => {
  expect(messageOf(failed('not-found', 'model-not-found'), true)).toBe('It went wrong.');
});
