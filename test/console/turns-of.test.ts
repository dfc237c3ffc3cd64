// What the playground sends along of a conversation.

import { expect, test } from 'vitest';
import {
  callsOf,
  type Said,
  sayTurn,
  turnsFor,
} from '../../console/src/pages/playground/turns-of.ts';

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

const CALLING: Said = {
  role: 'assistant',
  pieces: [
    { kind: 'text', text: 'I look.' },
    { kind: 'tool-call', id: '', name: 'get', text: '{}' },
  ],
};

test('a call of a tool goes along with its result, and not without', () => {
  const call = { id: 'call_0', name: 'get', text: '{}' };
  const result = { id: 'call_0', name: 'get', text: '42' };
  const answered: Said = { role: 'user', pieces: [], results: [result] };
  expect(turnsFor('chat', [user('a'), CALLING, answered])).toEqual([
    { role: 'user', text: 'a' },
    { role: 'assistant', text: 'I look.', calls: [call] },
    { role: 'user', text: '', results: [result] },
  ]);
  expect(turnsFor('chat', [user('a'), CALLING, user('b')])[1]).toEqual({
    role: 'assistant',
    text: 'I look.',
  });
});

test('what is kept of a conversation is said again as it was', () => {
  const turn = {
    role: 'assistant',
    text: 'I look.',
    calls: [{ id: 'c', name: 'get', text: '{}' }],
  } as const;
  expect(callsOf(sayTurn(turn))).toEqual(turn.calls);
  expect(sayTurn(turn).pieces[0]).toEqual({ kind: 'text', text: 'I look.' });
});
