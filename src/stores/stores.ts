// Every store of a database, for the folders whose interfaces they are.

import type { Clock } from '../lib/clock.ts';
import type { Vault } from '../sealing/seal.ts';
import {
  createAccessLogStore,
  createAddressRuleStore,
  createAuditStore,
  createClientKeyStore,
  createConsoleSessionStore,
  createInvitationStore,
  createPeopleStore,
} from './access-stores.ts';
import { createAccountStore, createHeldCredentials, type StoreLog } from './account-store.ts';
import { createBudgetStore } from './budget-store.ts';
import type { Database } from './database.ts';
import { createLeaseStore } from './lease-store.ts';
import { createMonitorStore } from './monitor-store.ts';
import { createRequestFigures } from './request-figures.ts';
import { createDurableResponseStore } from './response-store.ts';
import { createSealedStore, createSignatureStore } from './signature-store.ts';

export interface StoresOptions {
  /** Seals what is stored. */
  readonly vault: Vault;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Hears of damaged rows. */
  readonly log?: StoreLog | undefined;
  /** Of all kept answers together; the store's own bound when absent. */
  readonly maxKeptBytes?: number | undefined;
}

export function createStores(database: Database, options: StoresOptions) {
  const { vault, clock, log, maxKeptBytes } = options;
  const tables = { vault, log };
  const monotonic = () => clock.monotonic();
  const held = database.dialect.isShared ? createHeldCredentials(monotonic) : undefined;
  return {
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
      vault,
      now: () => clock.now(),
      maxBytes: maxKeptBytes,
    }),
    requests: createMonitorStore(database, clock),
    requestFigures: createRequestFigures({ database, monotonic }),
    leases: createLeaseStore(database, () => clock.now()),
  };
}
