// What the imports are built of.

import type { AccountBook } from '../accounts/account-book.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdentityReader } from './identity.ts';
import type { OAuthFetch } from './oauth-fetch.ts';
import type { OAuthDirectory, OAuthLog } from './oauth-settings.ts';
import type { AccountPlacer } from './place-account.ts';
import type { TokenEndpoint } from './token-endpoint.ts';
import type { OAuthTokenSource } from './token-source.ts';

export interface ImportParts {
  readonly options: AccountTransferOptions;
  readonly endpoint: TokenEndpoint;
  readonly identities: IdentityReader;
  readonly placer: AccountPlacer;
}

export interface AccountTransferOptions {
  readonly book: AccountBook;
  readonly oauth: OAuthDirectory;
  readonly tokens: Pick<OAuthTokenSource, 'accessFor' | 'forget'>;
  readonly fetch: OAuthFetch;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly log: OAuthLog;
  /** Whether an upstream of that id is configured. */
  readonly hasUpstream: (id: string) => boolean;
  readonly sealing: PassphraseSealing;
}

/** @see src/sealing/passphrase.ts */
export interface PassphraseSealing {
  /** @throws RangeError when the passphrase is too short or too long */
  sealWithPassphrase(plain: string, passphrase: string): Promise<string>;
  /** @throws Error with a message for people when it does not open */
  openWithPassphrase(sealed: string, passphrase: string): Promise<string>;
}

export interface ImportRequest {
  readonly upstreamId: string;
  readonly text: string;
  /** For the verification, and for the accounts from then on. */
  readonly proxyUrl?: string | undefined;
  /** Stops before the next item; what was begun is finished. */
  readonly signal: AbortSignal;
}
