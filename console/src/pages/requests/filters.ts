// What the list of requests is narrowed to: as the page's address has it, and as the API takes it.

import type { RequestQuery } from '../../api/queries/requests.ts';

export const RANGES = ['15m', '1h', '24h', '7d'] as const;
export type Range = (typeof RANGES)[number];

/** As records have them. */
export const PROTOCOLS = ['chat', 'responses', 'messages', 'generate'] as const;

const WITHOUT = ['model', 'account', 'key', 'owner', 'team', 'tag'] as const;

export interface RequestFilters {
  readonly status?: string | undefined;
  readonly protocol?: string | undefined;
  readonly model?: string | undefined;
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly replica?: string | undefined;
  readonly session?: string | undefined;
  readonly client?: string | undefined;
  readonly error?: string | undefined;
  /** Whose key it was then. */
  readonly owner?: string | undefined;
  readonly team?: string | undefined;
  readonly tag?: string | undefined;
  /** Only those that have none of these. */
  readonly without?: (typeof WITHOUT)[number] | undefined;
  readonly search?: string | undefined;
  readonly range?: Range | undefined;
  /** A time that stays where it is, in milliseconds since the epoch; a range goes with the time. */
  readonly from?: number | undefined;
  /** Not included. */
  readonly to?: number | undefined;
}

const TEXT_FILTERS = [
  ...(['status', 'protocol', 'model', 'account', 'key', 'replica', 'search'] as const),
  ...(['session', 'client', 'error', 'owner', 'team', 'tag', 'without'] as const),
] as const;

/** All that narrows the list, none of it set. */
export const NO_FILTERS = Object.fromEntries(
  [...TEXT_FILTERS, 'range', 'from', 'to'].map((name) => [name, undefined]),
) as Readonly<Record<keyof RequestFilters, undefined>>;

/** What the API takes. */
const STATUS = /^(?:ok|error|cancelled|[1-5]xx|[1-5]\d\d)$/;
const TIME = /^\d{1,15}$/;

/** Longer texts are no search a person typed. */
const MAX_CHARACTERS = 320;

/** Reads the search part of the page's address; what does not fit there is left out. */
export function readFilters(search: Readonly<Record<string, unknown>>): RequestFilters {
  const filters: Record<string, string> = {};
  for (const name of TEXT_FILTERS) {
    const value = search[name];
    // The router reads numbers out of the address, and `status=429` is one.
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string' || text === '') continue;
    if (name === 'status' && !STATUS.test(text)) continue;
    if (name === 'without' && !WITHOUT.some((one) => one === text)) continue;
    filters[name] = text.slice(0, MAX_CHARACTERS);
  }
  const [from, to] = [readTime(search.from), readTime(search.to)];
  const times = {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const range = RANGES.find((one) => one === search.range);
  const isFixed = from !== undefined || to !== undefined;
  return { ...filters, ...times, ...(range === undefined || isFixed ? {} : { range }) };
}

function readTime(value: unknown): number | undefined {
  const text = String(value);
  return TIME.test(text) ? Number(text) : undefined;
}

/** As the address has it. */
export function writeFilters(filters: RequestFilters): Readonly<Record<string, string>> {
  const entries = Object.entries(filters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

const RANGE_MS: Readonly<Record<Range, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
};

/** @param now milliseconds since the epoch */
export function writeQuery(
  { range, search, ...others }: RequestFilters,
  now: number,
): RequestQuery {
  // What is pasted brings blanks along.
  const sought = search?.trim() || undefined;
  const query = { ...others, ...(sought !== undefined && { search: sought }) };
  return range === undefined ? query : { ...query, from: now - RANGE_MS[range] };
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
