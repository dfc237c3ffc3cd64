// What the playground sends along of a conversation.

import { expect, test } from 'vitest';
import { type Said, turnsFor } from '../../console/src/pages/playground/turns-of.ts';

const user = (text: string): Said => ({ role: 'user', pieces: [{ kind: 'text', text }] });
const DRAWN: Said = {
  role: 'assistant',
  pieces: [{ kind: 'image', url: 'data:image/png;base64,' }],
};

test('a picture is asked for in its own words, whatever was drawn before', () => {
  const said = [user('a boat'), DRAWN, user('a house')];
  expect(turnsFor('images', said)).toEqual([{ role: 'user', text: 'a house' }]);
});

test('a message without a written answer goes along with the next', () => {
  const said = [user('a boat'), DRAWN, user('now red')];
  expect(turnsFor('chat', said)).toEqual([{ role: 'user', text: 'a boat\n\nnow red' }]);
});
