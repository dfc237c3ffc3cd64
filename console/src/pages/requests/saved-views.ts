// Filters kept under a name in this browser; others get them as addresses.

import { type RequestFilters, readFilters, writeFilters } from './filters.ts';

export interface SavedView {
  readonly name: string;
  readonly filters: RequestFilters;
}

const MAX_VIEWS = 50;

/** What was stored; nothing of anything else. */
export function readViews(stored: unknown): readonly SavedView[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  return stored.slice(0, MAX_VIEWS).flatMap((one: unknown): readonly SavedView[] => {
    if (typeof one !== 'object' || one === null) return [];
    if (!('name' in one) || typeof one.name !== 'string' || !('filters' in one)) return [];
    const { name, filters } = one;
    if (typeof filters !== 'object' || filters === null) return [];
    return [{ name, filters: readFilters({ ...filters }) }];
  });
}

/** One of the same name is replaced; views stand in the order of their names. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  const others = views.filter(({ name }) => name !== view.name);
  return [...others, view].sort((one, other) => one.name.localeCompare(other.name));
}

export function isSameView(one: RequestFilters, other: RequestFilters): boolean {
  const text = (filters: RequestFilters) =>
    JSON.stringify(Object.entries(writeFilters(filters)).sort());
  return text(one) === text(other);
}
