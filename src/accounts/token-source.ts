// What the pool asks for before each call: the credential an account uses now.

import type { AccountAccess } from '../upstreams/upstream.ts';
import type { Account } from './account.ts';

export interface TokenSource {
  /**
   * The access to use now. A valid one is given at once; an OAuth or service-account token that has
   * under 90 s left, or any with `refresh`, is renewed first, once for all who ask.
   * @throws GatewayError with `failure` kind `credential-revoked` when the token endpoint refuses the
   * grant for good, `credential-unavailable` when it cannot be reached or fails.
   */
  accessFor(account: Account, options: AccessOptions): Promise<AccountAccess>;
}

export interface AccessOptions {
  /** True after the upstream answered 401. */
  readonly refresh: boolean;
  /**
   * With `refresh`: the credential the upstream refused. Who holds an older one than the present
   * gets the present one; without it, one that was just renewed counts as newer.
   */
  readonly refused?: string | undefined;
  readonly signal: AbortSignal;
}
