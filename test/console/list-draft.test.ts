// What stays of a change to a list that is under way, refused, or met by somebody else's.

import { expect, test } from 'vitest';
import { draftList, showList } from '../../console/src/settings/list-draft.ts';

test('an entry that was refused stays, beside those that others add and take away', () => {
  const draft = draftList(['a', 'b'], ['a', 'b', 'bad']);
  expect(showList(['a', 'b'], draft)).toEqual(['a', 'b', 'bad']);
  expect(showList(['a', 'c'], draft)).toEqual(['a', 'c', 'bad']);
});

test('an entry that was taken out stays out, and comes back when it is written again', () => {
  const draft = draftList(['a', 'b'], ['a']);
  expect(showList(['a', 'b', 'c'], draft)).toEqual(['a', 'c']);
  expect(draftList(['a', 'b', 'c'], ['a', 'c', 'b'], draft)).toBeUndefined();
});

test('what is under way counts as saved, and is still there when it is refused', () => {
  const first = draftList([], ['x']);
  const second = draftList(['x'], ['x', 'y'], first);
  expect(showList([], second)).toEqual(['x', 'y']);
});

test('a refused entry that is taken out again leaves nothing to save', () => {
  const draft = draftList(['a'], ['a', 'bad']);
  expect(draftList(['a'], ['a'], draft)).toBeUndefined();
});
