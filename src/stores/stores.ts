// Every store of a database, for the folders whose interfaces they are; leases and settings, a table each, are here.

import { sql } from 'kysely';
import type { LeaseStore } from '../cluster/leases.ts';
import type { SettingsStore } from '../config/stored.ts';
import type { Clock } from '../lib/clock.ts';
import type { WarnLog } from '../lib/log.ts';
import type { Vault } from '../sealing/seal.ts';
import {
  createAccessLogStore,
  createAddressRuleStore,
  createAuditStore,
  createBudgetStore,
  createClientKeyStore,
  createConsoleSessionStore,
  createInvitationStore,
  createPeopleStore,
} from './access-stores.ts';
import { createAccountStore, createHeldCredentials } from './account-store.ts';
import { changeDataKey, openDigestKey } from './data-key.ts';
import { type Database, firstOf, run } from './database.ts';
import {
  createDurableResponseStore,
  createSealedStore,
  createSignatureStore,
} from './expiring-stores.ts';
import { createMonitorStore } from './monitor-store.ts';
import { createRequestFigures } from './request-figures.ts';
import { builder } from './schema.ts';

export interface StoresOptions {
  /** Of the secret key. */
  readonly vault: Vault;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Hears of damaged rows. */
  readonly log?: WarnLog | undefined;
  /** Of all kept answers together; the store's own bound when absent. */
  readonly maxKeptBytes?: number | undefined;
}

interface OpenedDatabase extends StoresOptions {
  /** What messages call it. */
  readonly name: string;
  /** Seals what is stored. */
  readonly dataVault: Vault;
}

/** Of a database that has the shape of this program. */
export async function openStores<Opened extends Database>(
  database: Opened,
  options: OpenedDatabase,
) {
  const { name, vault, dataVault, clock, log, maxKeptBytes } = options;
  const digestKey = await database.read(() => openDigestKey({ name, vault }));
  let current = vault;
  const tables = { vault: dataVault, log };
  const monotonic = () => clock.monotonic();
  const held = database.dialect.isShared ? createHeldCredentials(monotonic) : undefined;
  return {
    /** What the digests of client keys are made with; undefined while it is derived from the secret key. */
    digestKey,
    database,
    accounts: createAccountStore(database, { ...tables, held }),
    signatures: createSignatureStore(database),
    callTraces: createSealedStore(database, tables, {
      table: 'call_traces',
      damaged: 'A stored trace of an upstream’s tools is damaged; it is left out.',
    }),
    sessions: createSealedStore(database, tables, {
      table: 'session_bindings',
      damaged: 'A stored session is damaged; it is left out.',
    }),
    access: {
      clientKeys: createClientKeyStore(database, log),
      budgets: createBudgetStore(database),
      addressRules: createAddressRuleStore(database),
      accessLog: createAccessLogStore(database),
      audit: createAuditStore(database),
      consoleSessions: createConsoleSessionStore(database),
      people: createPeopleStore(database),
      invitations: createInvitationStore(database),
    },
    storedResponses: createDurableResponseStore(database, {
      vault: dataVault,
      now: () => clock.now(),
      maxBytes: maxKeptBytes,
    }),
    requests: createMonitorStore(database, clock),
    requestFigures: createRequestFigures({ database, monotonic }),
    leases: createLeaseStore(database, () => clock.now()),
    /** From then on the database opens with this vault's key only; no stored secret is sealed again. See `changeDataKey`. */
    async changeKey(next: Vault, nextDigestKey: Buffer): Promise<void> {
      await database.write('power-cut', () =>
        changeDataKey({ name, vault: current }, next, nextDigestKey),
      );
      current = next;
    },
    close: () => database.close(),
  };
}

/** @param now of this process; it counts only where no other machine asks the database */
function createLeaseStore(database: Database, now: () => number): LeaseStore {
  const clock = () => database.dialect.now(now());
  const endingIn = (ttlMs: number) => sql<number>`${clock()} + ${sql.lit(Math.ceil(ttlMs))}`;
  return {
    // A fence that was told may not come again, whatever happens to the machine.
    take: (name, holder, ttlMs) =>
      database.write('power-cut', function* () {
        const isOwn = sql`leases.holder = excluded.holder and leases.expires_at > ${clock()}`;
        const taken = builder
          .insertInto('leases')
          .values({ name, holder, fence: 1, expiresAt: endingIn(ttlMs) })
          .onConflict((conflict) =>
            conflict
              .column('name')
              .doUpdateSet({
                holder,
                fence: sql`leases.fence + case when ${isOwn} then 0 else 1 end`,
                expiresAt: endingIn(ttlMs),
              })
              .where(sql<boolean>`leases.expires_at <= ${clock()} or leases.holder = ${holder}`),
          )
          .returning('fence');
        return yield* firstOf(taken);
      }),
    release: (name, holder, fence) =>
      database.write('crash', function* () {
        yield* run(
          builder
            .updateTable('leases')
            .set({ expiresAt: 0 })
            .where('name', '=', name)
            .where('holder', '=', holder)
            .where('fence', '=', fence)
            .where('expiresAt', '>', clock()),
        );
      }),
  };
}

const NAME = 'gateway';

export function createSettingsStore(database: Database): SettingsStore {
  return {
    read: () =>
      database.read(() =>
        firstOf(
          builder.selectFrom('settings').select(['revision', 'document']).where('name', '=', NAME),
        ),
      ),
    replace: (document, over) =>
      database.write('power-cut', function* () {
        const first = builder
          .insertInto('settings')
          .values({ name: NAME, revision: 1, document })
          .onConflict((conflict) => conflict.column('name').doNothing());
        const next = builder
          .updateTable('settings')
          .set({ document, revision: sql<number>`revision + 1` })
          .where('name', '=', NAME)
          .where('document', '=', over ?? '');
        return (yield* run(over === undefined ? first : next)) > 0;
      }),
  };
}
