// The token source of accounts that hold an API key: nothing to renew, the key is the token.

import type { TokenSource } from '../../src/accounts/account.ts';
import type { AccountBook } from '../../src/accounts/account-book.ts';
import { GatewayError } from '../../src/canonical/error.ts';

/** @throws GatewayError with failure `credential-revoked` for an account without a key. */
export function createApiKeySource(
  book: Pick<AccountBook, 'readCredential' | 'proxyUrl'>,
): TokenSource {
  return {
    async accessFor({ record }) {
      const credential = (await book.readCredential(record.id))?.credential;
      if (credential?.kind !== 'api-key') throw withoutKey();
      const { id: accountId, projectId } = record;
      const proxyUrl = book.proxyUrl(accountId);
      return {
        accountId,
        credential: credential.key,
        credentialKind: 'api-key',
        projectId,
        proxyUrl,
      };
    },
  };
}

function withoutKey(): GatewayError {
  return new GatewayError({
    kind: 'upstream-auth',
    source: 'gateway',
    message: 'The account has no API key: give it one, or remove it.',
    failure: { kind: 'credential-revoked' },
  });
}
