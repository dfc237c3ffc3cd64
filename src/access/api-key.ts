// An API key with its limits, its secret, its blocked hours, and the store it needs.

import { createHmac, randomBytes } from 'node:crypto';
import { createZoneFormat } from '../lib/calendar.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import {
  COUNT,
  NAME,
  named,
  object,
  optional,
  optionals,
  TEXT,
  type ValueOf,
} from '../lib/object-schema.ts';
import { checksumOf } from '../lib/redact.ts';
import { TIME } from './access-log.ts';

const LIMIT = { type: 'integer', minimum: 0, maximum: 1_000_000_000_000 } as const;

/** Daily hours, in a time zone, at which a key is refused; when `to` is before `from`, they last over midnight. */
export const CURFEW_SCHEMA = named(
  'Curfew',
  {
    from: { type: 'string', maxLength: 5, description: 'Such as `23:00`.' },
    to: { type: 'string', maxLength: 5, description: 'Such as `06:00`; may be the next day.' },
    timeZone: { type: 'string', maxLength: 64, description: 'Such as `Europe/Berlin`.' },
  },
  { description: 'Hours at which the key is refused.' },
);

/** Absent ones do not limit. Of IPv6 each /64 is one address. */
export const KEY_AMOUNTS = {
  maxAddresses: { ...LIMIT, minimum: 1, description: 'Addresses within a day.' },
  requestsPerMinute: { ...LIMIT, minimum: 1 },
  tokensPerMinute: { ...LIMIT, minimum: 1 },
  maxConcurrency: { ...LIMIT, minimum: 1, description: 'Requests that run at the same time.' },
} as const;

/** What is recorded of the requests of a key; everything that the settings say when absent. */
export const RECORDING = {
  enum: ['no-bodies', 'counts'],
  description:
    'What is recorded of its requests: `no-bodies` never keeps what was asked and answered, whatever the settings say; `counts` keeps models, status, tokens and times alone. All that the settings say when absent.',
} as const;

/** Whose a key is: what people say of it, for usage to be summed by. */
export const KEY_HOLDER = {
  owner: { ...NAME, description: 'Whose it is, such as an e-mail address.' },
  team: { ...NAME, description: 'Budgets of a team count the keys of all its members.' },
} as const;

export const KEY_TAGS = {
  type: 'array',
  maxItems: 20,
  uniqueItems: true,
  items: { ...NAME, maxLength: 64 },
  description: 'Free words to sum usage by.',
} as const;

/** What a key may do. */
const LIMITS = {
  allowedModels: {
    type: 'array',
    maxItems: 200,
    items: { type: 'string', minLength: 1, maxLength: 256 },
    description:
      'Names as clients send them, or patterns with `*`, whatever model they lead to; empty allows all.',
  },
  ...optionals(KEY_AMOUNTS),
  curfew: optional(CURFEW_SCHEMA),
  recording: optional(RECORDING),
} as const;

export const KEY_FIELDS = {
  id: TEXT,
  name: TEXT,
  prefix: { ...TEXT, description: 'The beginning of the secret.' },
  enabled: { type: 'boolean' },
  createdAt: TIME,
  expiresAt: optional({ ...TIME, description: 'Absent when it never expires.' }),
  ...optionals(KEY_HOLDER),
  tags: KEY_TAGS,
  ...LIMITS,
  lastUsedAt: optional(TIME),
} as const;

/** Rises with each change by a person. */
export const REVISION = { type: 'integer', description: 'For `If-Match`.' } as const;

const LIMITS_SCHEMA = object(LIMITS);
const KEY_SCHEMA = object({ ...KEY_FIELDS, revision: REVISION });

export type KeyLimits = ValueOf<typeof LIMITS_SCHEMA>;
type BlockedHours = ValueOf<typeof CURFEW_SCHEMA>;
export type ClientKey = ValueOf<typeof KEY_SCHEMA>;

export const KEY_USE_SCHEMA = object({ requests: COUNT, tokens: COUNT, images: COUNT });

export interface DayUse extends ValueOf<typeof KEY_USE_SCHEMA> {
  /** `2026-01-31`, of UTC. */
  readonly day: string;
}

/** What is shown of a secret that was replaced and still works for a while. */
const PREVIOUS_SECRET = {
  prefix: { ...TEXT, description: 'The beginning of the secret.' },
  endsAt: { ...TIME, description: 'It is refused from then on.' },
  lastUsedAt: optional({ ...TIME, description: 'Absent when nobody used it since.' }),
} as const;

export const PREVIOUS_SECRET_SCHEMA = object(PREVIOUS_SECRET);

export interface PreviousSecret extends ValueOf<typeof PREVIOUS_SECRET_SCHEMA> {
  readonly digest: string;
}

export interface StoredKey {
  readonly key: ClientKey;
  /** HMAC-SHA-256 of the secret, in hexadecimal. */
  readonly digest: string;
  /** Secrets that were replaced, also those that are over. */
  readonly previous: readonly PreviousSecret[];
  /** Of the latest day that was saved. */
  readonly use: DayUse | undefined;
  /** Address → when it came last. */
  readonly addresses: ReadonlyMap<string, number>;
}

export interface KeyProgress {
  readonly id: string;
  readonly lastUsedAt: number | undefined;
  readonly use: DayUse;
  readonly addresses: ReadonlyMap<string, number>;
  readonly previous: readonly Pick<PreviousSecret, 'digest' | 'lastUsedAt'>[];
}

/** Every method may throw StoreError. What people say survives a power cut. */
export interface ClientKeyStore {
  /** Oldest first. One whose limits cannot be read is there too, disabled. */
  list(): Promise<readonly StoredKey[]>;
  /** True for the digest of a secret in use. */
  has(digest: string): Promise<boolean>;
  insert(key: ClientKey, digest: string): Promise<void>;
  /** @throws StoreError `missing`, or `stale` when the stored revision is not the one before */
  update(key: ClientKey): Promise<void>;
  /** Gives the key another secret; the previous ones become those given. @throws StoreError as `update` */
  replaceSecret(key: ClientKey, digest: string, previous: readonly PreviousSecret[]): Promise<void>;
  /** False when there was none. Its counts go with it. */
  remove(id: string): Promise<boolean>;
  /** Replaces the counts of that day and the addresses; of a key that is gone there is nothing to save. */
  saveProgress(progress: readonly KeyProgress[]): Promise<void>;
}

const SECRET_BYTES = 20;
const BODY_CHARACTERS = 31;

/** `sk-`, 160 random bits and a checksum, in digits and small letters: one double click takes it all. */
export function createKeySecret(): string {
  const value = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`);
  const body = `sk-${value.toString(36).padStart(BODY_CHARACTERS, '0')}`;
  return body + checksumOf(body);
}

/** Keyed, so that a stolen database does not even tell which of two guesses is a key. */
export function digestKeySecret(secret: string, digestKey: Buffer): string {
  return createHmac('sha256', digestKey).update(secret).digest('hex');
}

const HOUR = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** What is wrong with blocked hours, starting with its field; undefined when nothing is. */
export function blockedHoursProblem({ from, to, timeZone }: BlockedHours): Sentence | undefined {
  if (!HOUR.test(from)) return told`curfew.from: must be a time such as 23:00`;
  if (!HOUR.test(to)) return told`curfew.to: must be a time such as 06:00`;
  if (from === to) return told`curfew.to: must be another time than curfew.from`;
  if (createWallClock(timeZone) === undefined) {
    return told`curfew.timeZone: must be the name of a time zone such as Europe/Berlin or UTC`;
  }
  return undefined;
}

/** Whether the wall time at `now` is blocked, `to` excluded. An unknown time zone blocks the key. */
export function createBlockedHoursCheck({ from, to, timeZone }: BlockedHours) {
  const wallClock = createWallClock(timeZone);
  return (now: number): boolean => {
    if (wallClock === undefined) return true;
    const time = wallClock.format(now);
    return from < to ? from <= time && time < to : from <= time || time < to;
  };
}

function createWallClock(timeZone: string): Intl.DateTimeFormat | undefined {
  return createZoneFormat('en-GB', {
    ...{ timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  });
}
