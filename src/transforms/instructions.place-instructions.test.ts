import { expect, test } from 'vitest';
import {
  assistant,
  capabilitiesOf,
  contextOf,
  requestOf,
  user,
} from '../../test/support/canonical.ts';
import { placeInstructions } from './instructions.ts';

const REQUEST = requestOf({
  system: [{ kind: 'text', text: 'Be brief.' }],
  turns: [user('Hi'), assistant('Hello'), user('And?')],
});

test('instructions stand before the first question of a model that takes none', () => {
  const context = contextOf({ capabilities: capabilitiesOf({ takesInstructions: false }) });
  const { system, turns } = placeInstructions(REQUEST, context);
  expect(system).toEqual([]);
  expect(turns).toEqual([
    user('<system-instruction>\nBe brief.\n</system-instruction>', 'Hi'),
    ...REQUEST.turns.slice(1),
  ]);
  expect(context.receipt.entries).toMatchObject([{ action: 'approximated', path: 'system' }]);
});

test('they stay where they are for every other model', () => {
  expect(placeInstructions(REQUEST, contextOf())).toBe(REQUEST);
});
