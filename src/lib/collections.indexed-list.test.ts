import { expect, test } from 'vitest';
import { IndexedList, type IndexedListItem } from './collections.ts';

interface Guest extends IndexedListItem {
  readonly name: string;
}

const guest = (name: string): Guest => ({ name, listIndex: -1 });
const namesIn = (list: IndexedList<Guest>) =>
  list
    .list()
    .map(({ name }) => name)
    .sort();

test('a list behaves as a set, whoever leaves first', () => {
  const guests = ['a', 'b', 'c', 'd'].map(guest);
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
  ]) {
    const list = new IndexedList<Guest>();
    const rest = new Set<Guest>();
    for (const one of guests) {
      list.add(one);
      rest.add(one);
    }
    for (const index of order) {
      const one = guests[index] ?? guest('none');
      list.delete(one);
      rest.delete(one);
      expect(list.size).toBe(rest.size);
      expect(namesIn(list)).toEqual([...rest].map(({ name }) => name).sort());
    }
  }
});

test('coming twice or leaving twice changes nothing', () => {
  const list = new IndexedList<Guest>();
  const [ann, bob] = [guest('ann'), guest('bob')];
  list.add(ann);
  list.add(ann);
  list.delete(bob);
  expect(namesIn(list)).toEqual(['ann']);
  list.delete(ann);
  list.delete(ann);
  expect(list.size).toBe(0);
  list.add(ann);
  expect(namesIn(list)).toEqual(['ann']);
});

test('the list is that of its moment', () => {
  const list = new IndexedList<Guest>();
  const guests = ['a', 'b', 'c'].map(guest);
  for (const one of guests) list.add(one);
  for (const one of list.list()) list.delete(one);
  expect(list.size).toBe(0);
});
