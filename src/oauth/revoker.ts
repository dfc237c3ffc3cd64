// Removes an account and takes its grant back at the provider (RFC 7009), as well as that works.

import type { AccountBook } from '../accounts/account-book.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import {
  type EndpointOptions,
  NEVER,
  type OAuthDirectory,
  OAuthFault,
  TokenEndpoint,
} from './oauth-client.ts';

/** What became of the grant; the account is gone in each case. */
type Revocation =
  | { readonly kind: 'revoked' }
  /** An API key or key file, or a provider without a revocation address: end it there yourself. */
  | { readonly kind: 'not-possible'; readonly reason: Sentence }
  | { readonly kind: 'failed'; readonly reason: Sentence };

export type Revoker = ReturnType<typeof createRevoker>;

interface RevokerOptions extends EndpointOptions {
  readonly book: Pick<AccountBook, 'find' | 'readCredential' | 'remove' | 'proxyUrl'>;
  readonly oauth: OAuthDirectory;
}

export function createRevoker(options: RevokerOptions) {
  const { book, oauth, log } = options;
  const endpoint = new TokenEndpoint(options);
  return {
    /** @throws StoreError when the account could not be removed; nothing was revoked then */
    async removeAndRevoke(accountId: string): Promise<Revocation> {
      const upstreamId = book.find(accountId)?.record.upstreamId;
      const proxyUrl = book.proxyUrl(accountId);
      const token = await readToken(book, accountId);
      await book.remove(accountId);
      if (typeof token === 'object') return token;
      const settings = upstreamId === undefined ? undefined : oauth.get(upstreamId);
      if (settings?.revocationUrl === undefined) return NO_ADDRESS;
      try {
        await endpoint.revoke(settings, token, { signal: NEVER, proxyUrl });
      } catch (error) {
        const known = error instanceof OAuthFault ? error : undefined;
        // Refused because it was revoked before is as good as revoked now.
        if (known?.facts.code === 'invalid_token') return { kind: 'revoked' };
        const reason = known?.sentence ?? told`the revocation failed`;
        log.warn(
          { accountId, upstreamId, reason: reason.text },
          'the grant of a removed account still stands',
        );
        return { kind: 'failed', reason };
      }
      return { kind: 'revoked' };
    },
  };
}

const NO_ADDRESS: Revocation = {
  kind: 'not-possible',
  reason: told`this upstream has no revocation_url; end the access at the provider`,
};

/** An account whose credential cannot be read can still be removed. */
async function readToken(
  book: RevokerOptions['book'],
  accountId: string,
): Promise<string | Revocation> {
  try {
    const stored = await book.readCredential(accountId);
    if (stored?.credential.kind === 'oauth') return stored.credential.refreshToken;
    return { kind: 'not-possible', reason: told`the account has no grant that could be revoked` };
  } catch {
    return { kind: 'failed', reason: told`its stored credential could not be read` };
  }
}
