import { expect, test } from 'vitest';
import { Roster, type RosterMember } from './indexed-list.ts';

interface Guest extends RosterMember {
  readonly name: string;
}

const guest = (name: string): Guest => ({ name, rosterPlace: -1 });
const namesIn = (roster: Roster<Guest>) =>
  roster
    .list()
    .map(({ name }) => name)
    .sort();

test('a roster behaves as a set, whoever leaves first', () => {
  const guests = ['a', 'b', 'c', 'd'].map(guest);
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
  ]) {
    const roster = new Roster<Guest>();
    const rest = new Set<Guest>();
    for (const one of guests) {
      roster.add(one);
      rest.add(one);
    }
    for (const index of order) {
      const one = guests[index] ?? guest('none');
      roster.delete(one);
      rest.delete(one);
      expect(roster.size).toBe(rest.size);
      expect(namesIn(roster)).toEqual([...rest].map(({ name }) => name).sort());
    }
  }
});

test('coming twice or leaving twice changes nothing', () => {
  const roster = new Roster<Guest>();
  const [ann, bob] = [guest('ann'), guest('bob')];
  roster.add(ann);
  roster.add(ann);
  roster.delete(bob);
  expect(namesIn(roster)).toEqual(['ann']);
  roster.delete(ann);
  roster.delete(ann);
  expect(roster.size).toBe(0);
  roster.add(ann);
  expect(namesIn(roster)).toEqual(['ann']);
});

test('the list is that of its moment', () => {
  const roster = new Roster<Guest>();
  const guests = ['a', 'b', 'c'].map(guest);
  for (const one of guests) roster.add(one);
  for (const one of roster.list()) roster.delete(one);
  expect(roster.size).toBe(0);
});
