// Access control: IP rules, API keys, console sign-in and the access log.

import { randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import {
  type AccessLogStore,
  createAccessLog,
  type DoorLog,
  type RedactorFor,
} from './access-log.ts';
import type { ClientKeyStore, StoredKey } from './api-key.ts';
import { ApiKeys } from './api-keys.ts';
import {
  type ConsoleSession,
  type ConsoleSessionStore,
  ConsoleSessions,
  createConsoleLogin,
  createSignInLinks,
} from './console-sign-in.ts';
import { createGuessLimit } from './guess-limit.ts';
import {
  AddressFilter,
  type AddressFilterSettings,
  type AddressRule,
  type AddressRuleStore,
} from './ip-rules.ts';
import { createPasswordHasher } from './password-hash.ts';

export type AccessControl = ReturnType<typeof createAccessControl>;

export interface AccessStores {
  readonly clientKeys: ClientKeyStore;
  readonly addressRules: AddressRuleStore;
  readonly accessLog: AccessLogStore;
  readonly consoleSessions: ConsoleSessionStore;
}

export interface AccessSettings {
  readonly addressFilter: AddressFilterSettings;
  /** In plain or as a hash; undefined while nothing is configured, then only local requests pass. */
  readonly consolePassword: string | undefined;
  readonly sessionIdleMs: number;
}

export interface AccessControlOptions {
  /** Undefined keeps everything in memory. */
  readonly stores?: AccessStores | undefined;
  readonly settings: () => AccessSettings;
  /** Waits while the console password is being hashed where it is kept. */
  readonly passwordSettled?: (() => Promise<void>) | undefined;
  /** Bytes for one purpose, the same for the life of the stores; random ones without stores. */
  readonly derive?: ((purpose: string) => Buffer) | undefined;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  /** Keeps credentials out of the access log. */
  readonly redactorFor?: RedactorFor | undefined;
  readonly log?: DoorLog | undefined;
}

/** @throws StoreError */
export async function loadAccessControl(
  options: AccessControlOptions & { readonly stores: AccessStores },
): Promise<AccessControl> {
  const { addressRules, clientKeys, consoleSessions } = options.stores;
  const [rules, keys, sessions] = await Promise.all([
    addressRules.list(),
    clientKeys.list(),
    consoleSessions.list(),
  ]);
  return createAccessControl(options, { rules, keys, sessions });
}

interface StoredAccess {
  readonly rules?: readonly AddressRule[];
  readonly keys?: readonly StoredKey[];
  readonly sessions?: readonly ConsoleSession[];
}

/** Without stores everything is kept in memory and ends with the process. */
export function createAccessControl(options: AccessControlOptions, content: StoredAccess = {}) {
  const { stores, settings, clock, createId, log, derive = () => randomBytes(32) } = options;
  const hasher = createPasswordHasher();
  const idleMs = () => settings().sessionIdleMs;
  const sessions = new ConsoleSessions(
    { store: stores?.consoleSessions, clock, idleMs, log },
    content.sessions,
  );
  const filterSettings = () => settings().addressFilter;
  const addresses = new AddressFilter(
    { store: stores?.addressRules, settings: filterSettings, clock, createId, log },
    content.rules,
  );
  const digestKey = derive('client keys v1');
  const keys = new ApiKeys(
    { store: stores?.clientKeys, digestKey, clock, createId, log },
    content.keys,
  );
  const { redactorFor } = options;
  const accessLog = createAccessLog({ store: stores?.accessLog, clock, redactorFor, log });
  const login = createConsoleLogin({
    password: () => settings().consolePassword,
    passwordSettled: options.passwordSettled,
    machineToken: createMachineToken(derive),
    hasher,
    sessions,
    links: createSignInLinks(clock),
    clock,
    tagKey: derive('console sessions v1'),
  });
  return {
    addresses,
    keys,
    guesses: createGuessLimit(clock),
    login,
    accessLog,
    hasher,
    /** Saves what has gathered; the stores can be closed then. */
    async close(): Promise<void> {
      await Promise.all([sessions.close(), addresses.close(), keys.close(), accessLog.close()]);
    },
  };
}

/**
 * The credential of the command line on this machine, in place of the console password, of which the
 * config file holds only a hash. It is derived from the secret key, which gives access to everything anyway.
 */
export function createMachineToken(derive: (purpose: string) => Buffer): string {
  return `machine-${derive('console of this machine v1').toString('base64url')}`;
}
