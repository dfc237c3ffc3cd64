// The form of a key: its fields as they are typed, and what is sent when they are saved.

import type { Key, KeyChange, NewKey } from '../../../../src/admin/contract.ts';
import {
  type AmountRange,
  isGoodAmount,
  takeAmount,
  writeGrouped,
} from '../../components/read-amount.ts';

export const EXPIRIES = ['never', 'day', 'week', 'month', 'quarter', 'custom'] as const;
type Expiry = (typeof EXPIRIES)[number];

const MOST = 1_000_000_000_000;

/** The limits that are amounts, with what each may be. */
export const LIMIT_RANGES = {
  maxAddresses: { least: 1, most: MOST, isWhole: true },
  requestsPerMinute: { least: 1, most: MOST, isWhole: true },
  tokensPerMinute: { least: 1, most: MOST, isWhole: true },
  maxConcurrency: { least: 1, most: MOST, isWhole: true },
} as const satisfies Readonly<Record<string, AmountRange>>;

export type LimitField = keyof typeof LIMIT_RANGES;

// The keys of an object written above.
const LIMIT_FIELDS = Object.keys(LIMIT_RANGES) as readonly LimitField[];

/** Limits are as they are typed, '' where there is none. */
export interface KeyValues {
  readonly name: string;
  readonly owner: string;
  readonly team: string;
  readonly tags: string[];
  readonly expiry: Expiry;
  /** As `datetime-local` has it, by the clock of this browser. */
  readonly expiresAt: string;
  readonly allowedModels: string[];
  readonly maxAddresses: string;
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly maxConcurrency: string;
  readonly hasCurfew: boolean;
  readonly curfewFrom: string;
  readonly curfewTo: string;
  readonly curfewZone: string;
  readonly recording: Recording;
}

/** What is recorded of the requests of a key; `all` is what the settings say. */
export const RECORDINGS = ['all', 'no-bodies', 'counts'] as const;
type Recording = (typeof RECORDINGS)[number];

const DAY_MS = 86_400_000;

const EXPIRY_DAYS: Readonly<Record<Exclude<Expiry, 'never' | 'custom'>, number>> = {
  day: 1,
  week: 7,
  month: 30,
  quarter: 90,
};

export function readValues(key: Key | undefined, timeZone: string): KeyValues {
  const expiresAt = key?.expiresAt ?? undefined;
  const curfew = key?.curfew ?? undefined;
  return {
    name: key?.name ?? '',
    owner: key?.owner ?? '',
    team: key?.team ?? '',
    tags: [...(key?.tags ?? [])],
    expiry: expiresAt === undefined ? 'never' : 'custom',
    expiresAt: expiresAt === undefined ? '' : writeLocal(new Date(expiresAt)),
    allowedModels: [...(key?.allowedModels ?? [])],
    maxAddresses: showLimit(key?.maxAddresses),
    requestsPerMinute: showLimit(key?.requestsPerMinute),
    tokensPerMinute: showLimit(key?.tokensPerMinute),
    maxConcurrency: showLimit(key?.maxConcurrency),
    hasCurfew: curfew !== undefined,
    curfewFrom: curfew?.from ?? '23:00',
    curfewTo: curfew?.to ?? '06:00',
    curfewZone: curfew?.timeZone ?? timeZone,
    recording: key?.recording ?? 'all',
  };
}

/** In characters, as the gateway has it. */
export const MAX_NAME_LENGTH = 128;
export const MAX_TAGS = 20;
/** In characters, each. */
export const MAX_TAG_LENGTH = 64;

/** What a form that is saved is judged against. */
export interface KeySaving {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Undefined while a key is made. */
  readonly edited: Key | undefined;
}

export function writeChange(values: KeyValues, { now, edited }: KeySaving): KeyChange {
  const { curfewFrom: from, curfewTo: to, curfewZone: timeZone } = values;
  return {
    name: values.name.trim(),
    owner: values.owner.trim() || null,
    team: values.team.trim() || null,
    tags: values.tags,
    ...(keepsExpiry(values, edited) ? {} : { expiresAt: writeExpiry(values, now) }),
    allowedModels: values.allowedModels,
    maxAddresses: writeLimit(values, 'maxAddresses'),
    requestsPerMinute: writeLimit(values, 'requestsPerMinute'),
    tokensPerMinute: writeLimit(values, 'tokensPerMinute'),
    maxConcurrency: writeLimit(values, 'maxConcurrency'),
    curfew: values.hasCurfew ? { from, to, timeZone } : null,
    recording: values.recording === 'all' ? null : values.recording,
  };
}

/** A key that is made has nothing to take away. */
export function writeNewKey(change: KeyChange, name: string): NewKey {
  const given = Object.entries(change).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(given), name };
}

export type KeyProblem = 'name' | 'name-length' | 'expiresAt' | 'curfew' | 'limit';

export function findProblem(values: KeyValues, { now, edited }: KeySaving): KeyProblem | undefined {
  const { name, expiry, expiresAt, hasCurfew } = values;
  if (name.trim() === '') return 'name';
  if (name.trim().length > MAX_NAME_LENGTH) return 'name-length';
  const isChosen = expiry === 'custom' && !keepsExpiry(values, edited);
  if (isChosen && !(new Date(expiresAt).getTime() > now)) return 'expiresAt';
  if (hasCurfew && !hasCurfewTimes(values)) return 'curfew';
  return badLimits(values).length > 0 ? 'limit' : undefined;
}

/** The field says it to the minute: what nobody changed there stays as exact as it is, also when it is over. */
function keepsExpiry({ expiry, expiresAt }: KeyValues, edited: Key | undefined): boolean {
  const known = edited?.expiresAt ?? undefined;
  return known !== undefined && expiry === 'custom' && expiresAt === writeLocal(new Date(known));
}

/** A field of a time that cannot be read is empty. */
export function hasCurfewTimes({
  curfewFrom: from,
  curfewTo: to,
}: Pick<KeyValues, 'curfewFrom' | 'curfewTo'>): boolean {
  return from !== '' && to !== '' && from !== to;
}

/** Those that hold what is no amount. */
export function badLimits(values: KeyValues): readonly LimitField[] {
  return LIMIT_FIELDS.filter((field) => !isGoodAmount(values[field], LIMIT_RANGES[field]));
}

/** Whether the clocks of a curfew's zone stand inside it. */
export function isInCurfew(
  { from, to, timeZone }: { readonly from: string; readonly to: string; readonly timeZone: string },
  now: number,
): boolean {
  const clock = clockIn(timeZone, now);
  return from < to ? clock >= from && clock < to : clock >= from || clock < to;
}

/** `14:05`, by the clocks of a zone. */
export function clockIn(timeZone: string, now: number): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return format.format(now);
}

function writeExpiry({ expiry, expiresAt }: KeyValues, now: number): number | null {
  if (expiry === 'never') return null;
  if (expiry === 'custom') return new Date(expiresAt).getTime();
  return now + EXPIRY_DAYS[expiry] * DAY_MS;
}

function showLimit(limit: number | null | undefined): string {
  return typeof limit === 'number' ? writeGrouped(limit) : '';
}

function writeLimit(values: KeyValues, field: LimitField): number | null {
  return takeAmount(values[field], LIMIT_RANGES[field]) ?? null;
}

function writeLocal(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
