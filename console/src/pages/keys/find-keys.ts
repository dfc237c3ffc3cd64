// Which keys a search is after, and in which order they stand.

import type { Key } from '../../../../src/admin/contract.ts';
import { readTime } from '../../components/use-format.ts';

/** The first is the order in which keys were made. */
export const KEY_ORDERS = ['made', 'name', 'used', 'today'] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

export function readOrder(text: string | undefined): KeyOrder {
  return KEY_ORDERS.find((one) => one === text) ?? 'made';
}

export interface KeySearch {
  readonly search: string;
  /** As the page's address has it. */
  readonly sort: string | undefined;
}

export function findKeys(keys: readonly Key[], { search, sort }: KeySearch): readonly Key[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = keys.filter(({ name, prefix, owner, team, tags }) => {
    const text = [name, prefix, owner, team, ...tags].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const order = readOrder(sort);
  return order === 'made' ? found : found.toSorted(COMPARE[order]);
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

const COMPARE: Readonly<Record<Exclude<KeyOrder, 'made'>, (left: Key, right: Key) => number>> = {
  name: (left, right) => byName.compare(left.name, right.name),
  used: (left, right) => usedAt(right) - usedAt(left),
  today: ({ usedToday: left }, { usedToday: right }) =>
    right.tokens - left.tokens || right.requests - left.requests,
};

function usedAt({ lastUsedAt }: Key): number {
  return lastUsedAt === undefined ? 0 : readTime(lastUsedAt);
}
