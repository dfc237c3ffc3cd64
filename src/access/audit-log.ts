// Records every change of what the gateway is set to: by whom, from where, what, before and after.

import type { Clock } from '../lib/clock.ts';
import { differenceOf } from '../lib/difference.ts';
import type { JsonValue } from '../lib/json.ts';
import type { LineLog } from '../lib/log.ts';
import { COUNT, named, optional, TEXT, type ValueOf } from '../lib/object-schema.ts';
import { type RedactorFor, TIME } from './access-log.ts';

/**
 * `session` a browser that signed in · `password` who showed the console password with the request ·
 * `machine` the command line on the gateway's own machine · `local` a program of that machine while no
 * password is set · `visitor` a public page, such as the one a provider's sign-in comes back to ·
 * `file` an edit of the config file.
 */
export const AUDIT_ACTORS = ['session', 'password', 'machine', 'local', 'visitor', 'file'] as const;

export type AuditActor = (typeof AUDIT_ACTORS)[number];

export const AUDIT_ENTRY_SCHEMA = named('AuditEntry', {
  /** Rises with time. */
  id: { type: 'integer' },
  at: TIME,
  actor: { enum: AUDIT_ACTORS },
  session: optional({ ...TEXT, description: 'Tells the signed-in browsers apart.' }),
  person: optional({ ...TEXT, description: 'The name of who signed in; absent of the password.' }),
  address: optional({
    ...TEXT,
    description: 'Absent of edits of the config file and of commands.',
  }),
  action: {
    ...TEXT,
    description: 'Method and path of the route, `file`, or a command that works without a gateway.',
  },
  subject: {
    ...TEXT,
    description: 'What was changed: the path, the name of the file, or what the command is called.',
  },
  requestId: optional({ ...TEXT, description: 'As in the log.' }),
  status: {
    ...COUNT,
    description: 'Of the answer; 0 of edits of the config file and of commands.',
  },
  fields: optional({ ...TEXT, description: 'Names of the fields that were sent, with commas.' }),
  before: optional({ ...TEXT, description: 'JSON of what differed, before. Secrets are masked.' }),
  after: optional({ ...TEXT, description: 'JSON of what differed, after. Secrets are masked.' }),
});

export type StoredAuditEntry = ValueOf<typeof AUDIT_ENTRY_SCHEMA>;
export type AuditEntry = Omit<StoredAuditEntry, 'id'>;

interface AuditPage {
  readonly actor?: AuditActor | undefined;
  readonly person?: string | undefined;
  /** The beginning of the subject, or of the action. */
  readonly about?: string | undefined;
  /** Milliseconds since the epoch; the first is within, the second is not. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Only entries before this id. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** There is no way to change an entry. Every method may throw StoreError. */
export interface AuditStore {
  /** Keeps the latest `most` in all, and none from before `since`. */
  add(entry: AuditEntry, kept: { readonly most: number; readonly since: number }): Promise<void>;
  /** The latest first. */
  list(page: AuditPage): Promise<readonly StoredAuditEntry[]>;
}

interface AuditLogOptions {
  readonly store: AuditStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly redactorFor: RedactorFor;
  readonly log: LineLog;
}

/** What was done; `before` and `after` are views that hold no secrets. */
export interface Change extends Omit<AuditEntry, 'at' | 'fields' | 'before' | 'after'> {
  /** Names alone: a value may be a secret. */
  readonly fields: readonly string[];
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

const MAX_ENTRIES = 100_000;
const MAX_AGE_MS = 400 * 86_400_000;
const MAX_NAME_CHARACTERS = 1_024;
const MAX_VALUE_CHARACTERS = 16_384;

export function createAuditLog({ store, clock, redactorFor, log }: AuditLogOptions) {
  return {
    /** What was changed stays changed when it cannot be recorded; the log says so. */
    async add({ before, after, ...change }: Change): Promise<void> {
      const redactor = redactorFor([]);
      const clean = (text: string, most: number): string => redactor.text(text).slice(0, most);
      const write = (value: JsonValue | undefined): string | undefined =>
        value === undefined ? undefined : clean(JSON.stringify(value), MAX_VALUE_CHARACTERS);
      const { fields, subject, action } = change;
      const difference = differenceOf(before, after);
      const at = clock.now();
      const entry: AuditEntry = {
        ...change,
        at,
        subject: clean(subject, MAX_NAME_CHARACTERS),
        fields: fields.length === 0 ? undefined : clean(fields.join(', '), MAX_NAME_CHARACTERS),
        before: write(difference.before),
        after: write(difference.after),
      };
      try {
        await store.add(entry, { most: MAX_ENTRIES, since: at - MAX_AGE_MS });
      } catch (error) {
        log.warn({ error, action }, 'A change was made, but the audit log could not be written.');
      }
    },
    list: (page: AuditPage): Promise<readonly StoredAuditEntry[]> => store.list(page),
  };
}
