// Keeps the index of what accounts prove themselves with current, used or not, for whoever hides it in texts.

import type { SeedAccount } from '../accounts/account-book.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import type { Credential } from '../accounts/credential.ts';
import { SecretIndex } from '../lib/secret-spelling.ts';

/** Every change of a credential goes through this store; the index holds digests alone. */
export async function watchCredentials(
  store: AccountStore,
): Promise<{ readonly store: AccountStore; readonly secrets: SecretIndex }> {
  const secrets = new SecretIndex();
  for (const { record } of await store.list()) {
    // One that cannot be read is told by its account's state, and is of no use to anybody else.
    const stored = await store.readCredential(record.id).catch(() => undefined);
    if (stored !== undefined) secrets.set(record.id, secretsOf(stored.credential));
  }
  const watched: AccountStore = {
    ...store,
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
