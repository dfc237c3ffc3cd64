// What the OAuth endpoints share.

import type { TierQuotas } from '../accounts.ts';
import type { SandboxClock } from '../clock.ts';
import type { Faults } from '../state/faults.ts';
import type { Members } from '../state/members.ts';
import type { SandboxClient } from './clients.ts';
import type { Codes } from './codes.ts';
import type { Grants } from './grants.ts';
import type { ServiceAccountKeys } from './service-account-keys.ts';
import type { Tokens } from './tokens.ts';

export interface OAuthServices {
  readonly clock: SandboxClock;
  readonly clients: readonly SandboxClient[];
  readonly tokens: Tokens;
  readonly codes: Codes;
  readonly grants: Grants;
  readonly keys: ServiceAccountKeys;
  readonly members: Members;
  readonly faults: Faults;
  readonly tiers: TierQuotas;
  readonly accessTokenLifetimeMs: number;
  /** The sandbox's own address, without a trailing slash. */
  issuer(): string;
}
