// Builds what everything else needs: the secret key, the database, what keeps secrets secret.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Credential } from '../accounts/account.ts';
import type { SeedAccount } from '../accounts/account-book.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { type Cluster, nameOfReplica } from '../cluster/cluster.ts';
import { Leader } from '../cluster/leases.ts';
import { configPath } from '../config/effective.ts';
import type { LiveConfig } from '../config/live.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { makePrivate } from '../lib/private-file.ts';
import { SecretIndex } from '../lib/redact.ts';
import { createVault } from '../sealing/seal.ts';
import { DATABASE_FILE, loadSecretKey } from '../sealing/secret-key.ts';
import type { Log } from '../server/settings.ts';
import { createConfigSecrets } from './config-secrets.ts';
import type { SharedDatabase } from './shared-database.ts';

/** What every part of the gateway is built with. */
export interface GatewayContext {
  /** The other processes that serve the same clients; the caller leaves it. */
  readonly cluster: Cluster;
  /** The workers of this machine, where this is one. */
  readonly siblings?: Cluster | undefined;
  readonly config: LiveConfig;
  /** PostgreSQL, where it keeps everything; undefined where the data folder does. */
  readonly shared?: SharedDatabase | undefined;
  /** Another gateway works on the data folder. */
  readonly isInUse?: boolean | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly version: string;
}

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** The caller closes the stores last. @throws StoreError and others when the data folder cannot be used */
export async function openFoundation(context: GatewayContext) {
  const { config, cluster, shared, isInUse, clock, log } = context;
  const { dataDir, secretKey: environmentKey } = config.current();
  const secretKey = loadSecretKey({ dataDir, environmentKey, log });
  const vault = createVault(secretKey);
  const { isLasting } = secretKey;
  const secrets = createConfigSecrets({ config, vault: isLasting ? vault : undefined, log });
  if (shared === undefined) keepConfigPrivate({ config, path: configPath(dataDir), log });
  await secrets.keepSealed();
  const openStores = async () => {
    // The database is a third of the start: its code is read while nothing else waits for it.
    const { openDatabase } = await import('../stores/sqlite/open-database.ts');
    const path = join(dataDir, DATABASE_FILE);
    return openDatabase({ path, vault, clock, log, isLasting, isInUse });
  };
  const stores = shared?.stores ?? (await openStores());
  const isAlone = cluster.state().kind === 'memory' && shared === undefined;
  const turns = isAlone ? undefined : { leases: stores.leases, holder: cluster.replica };
  return {
    secretKey,
    secrets,
    vault,
    stores,
    /** How several processes with the same stores take turns; undefined where this is the only one. */
    turns,
    /** What this process is called among those; undefined where this is the only one. */
    replicaName: isAlone ? undefined : nameOfReplica(cluster.replica),
    leader: turns && new Leader({ ...turns, clock }),
    /** Whether PostgreSQL answers; undefined where there is none. */
    reachability: shared?.reachability,
  };
}

const SECRETS: ReadonlySet<string> = new Set(['api_key', 'admin_password', 'client_secret']);

/** Now and after each change: people make and edit the file themselves, with whatever mode their editor gives it. */
function keepConfigPrivate({
  config,
  path,
  log,
}: Pick<GatewayContext, 'config' | 'log'> & { readonly path: string }): void {
  const check = (): void => {
    if (!holdsSecret(config.raw()) || !existsSync(path)) return;
    const outcome = makePrivate(path);
    if (outcome === 'repaired') {
      log.info({ path }, 'The config file holds a secret; from now on only its owner may read it.');
    } else if (outcome === 'exposed') {
      const message =
        'The config file holds a secret, and others may read it: run "chmod 600" on it.';
      log.warn({ path }, message);
    }
  };
  config.subscribe(check);
  check();
}

function holdsSecret(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([name, inner]) =>
    SECRETS.has(name) ? typeof inner === 'string' && inner !== '' : holdsSecret(inner),
  );
}

/** Every change of a credential goes through this store; the index holds digests alone. */
export async function watchCredentials(
  store: AccountStore,
): Promise<{ readonly store: AccountStore; readonly secrets: SecretIndex }> {
  const secrets = new SecretIndex();
  // One that cannot be read is told by its account's state, and is of no use to anybody else.
  for (const [id, credential] of await store.readCredentials()) {
    secrets.set(id, secretsOf(credential));
  }
  const watched: AccountStore = {
    ...store,
    // Perhaps one that another process stored.
    async readCredential(id) {
      const stored = await store.readCredential(id);
      if (stored !== undefined) secrets.set(id, secretsOf(stored.credential));
      return stored;
    },
    async insert(account) {
      secrets.set(account.record.id, secretsOf(account.credential));
      return store.insert(account).catch((error: unknown) => {
        secrets.delete(account.record.id);
        throw error;
      });
    },
    async replaceCredential(id, credential, expectedVersion) {
      const replaced = await store.replaceCredential(id, credential, expectedVersion);
      if (typeof replaced === 'object') secrets.set(id, secretsOf(credential));
      return replaced;
    },
    async remove(id) {
      const isRemoved = await store.remove(id);
      secrets.delete(id);
      return isRemoved;
    },
  };
  return { store: watched, secrets };
}

/** Those of accounts that come with the process. */
export function noteSeeds(secrets: SecretIndex, seeds: readonly SeedAccount[]): void {
  for (const { id, credential } of seeds) secrets.set(id, secretsOf(credential));
}

/** The lines of a key behind its first, which many keys share. */
const FIRST_LINE = 64;

function secretsOf(credential: Credential): readonly string[] {
  switch (credential.kind) {
    case 'api-key':
      return [credential.key];
    case 'oauth': {
      const { refreshToken, accessToken } = credential;
      return accessToken === undefined ? [refreshToken] : [refreshToken, accessToken];
    }
    case 'service-account':
      return [credential.privateKey.replace(/-----[^-]*-----|\s/g, '').slice(FIRST_LINE)];
    default:
      return credential satisfies never;
  }
}
