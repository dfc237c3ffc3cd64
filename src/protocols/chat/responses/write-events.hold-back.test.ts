import { expect, test } from 'vitest';
import { createHold } from './write-events.ts';

test('answers wait for citations when the request or the model’s name asks for a search', () => {
  expect(createHold({ drafts: 0, mayCite: false }, {})).toBeUndefined();
  expect(createHold({ drafts: 0, mayCite: true }, {})).toBeDefined();
  expect(createHold({ drafts: 0, mayCite: false }, { isSearchNamed: true })).toBeDefined();
  expect(createHold({ drafts: 0, mayCite: false }, { isSearchNamed: false })).toBeUndefined();
});
