// What the list of requests is narrowed to: as the page's address has it, and as the API takes it.

import type { RequestQuery } from '../../api/queries/requests.ts';

export const RANGES = ['15m', '1h', '24h', '7d'] as const;
export type Range = (typeof RANGES)[number];

export interface RequestFilters {
  readonly status?: string | undefined;
  readonly protocol?: string | undefined;
  readonly model?: string | undefined;
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly replica?: string | undefined;
  readonly search?: string | undefined;
  readonly range?: Range | undefined;
}

const TEXT_FILTERS = [
  ...(['status', 'protocol', 'model', 'account', 'key', 'replica', 'search'] as const),
] as const;

/** What the API takes. */
const STATUS = /^(?:ok|error|cancelled|[1-5]xx|[1-5]\d\d)$/;

/** Longer texts are no search a person typed. */
const MAX_CHARACTERS = 256;

/** Reads the search part of the page's address; what does not fit there is left out. */
export function readFilters(search: Readonly<Record<string, unknown>>): RequestFilters {
  const filters: Record<string, string> = {};
  for (const name of TEXT_FILTERS) {
    const value = search[name];
    // The router reads numbers out of the address, and `status=429` is one.
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string' || text === '') continue;
    if (name === 'status' && !STATUS.test(text)) continue;
    filters[name] = text.slice(0, MAX_CHARACTERS);
  }
  const range = RANGES.find((one) => one === search.range);
  return range === undefined ? filters : { ...filters, range };
}

const RANGE_MS: Readonly<Record<Range, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
};

/** @param now milliseconds since the epoch */
export function writeQuery({ range, ...texts }: RequestFilters, now: number): RequestQuery {
  return range === undefined ? texts : { ...texts, from: now - RANGE_MS[range] };
}

/** So many beginnings of a range pass in its length: seldom enough that the list can be read. */
const STEPS = 15;

/** The latest of the times at which the beginning of a range moves on; 0 without one. */
export function lastStep({ range }: RequestFilters, now: number): number {
  if (range === undefined) return 0;
  const stepMs = RANGE_MS[range] / STEPS;
  return Math.floor(now / stepMs) * stepMs;
}

export function countFilters(filters: RequestFilters): number {
  return Object.values(filters).filter((value) => value !== undefined).length;
}
