// What the account book refuses, in words that name the way out.

import { GatewayError } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import type { Account, AccountOrigin } from './account.ts';
import { StoreError } from './account-store.ts';
import type { Credential } from './credential.ts';
import { isSameLabel } from './label-key.ts';

export function readOnly(origin: Exclude<AccountOrigin, 'stored'>): GatewayError {
  const message =
    origin === 'environment'
      ? told`This account comes from the environment: change UPSTREAM_API_KEYS or GEMINI_API_KEY and start again, or disable it for this run.`
      : told`This account belongs to the sandbox and cannot be changed; it can be disabled for this run.`;
  return new GatewayError({ kind: 'invalid-request', source: 'client', message });
}

export function otherKind({ record }: Account, { kind }: Credential): GatewayError {
  return new GatewayError({
    kind: 'invalid-request',
    source: 'client',
    field: 'credential.kind',
    message: told`${record.label} is an account of kind ${record.kind}: give it such a credential, or add a new account for the ${kind}.`,
  });
}

/**
 * Storage refuses the labels of stored accounts; it does not know those that come with the process.
 * @throws StoreError `conflict`
 */
export function refuseSeedLabel(
  accounts: readonly Account[],
  { upstreamId, label }: { readonly upstreamId: string; readonly label: string },
): void {
  const taken = accounts.some(
    ({ record, origin }) =>
      origin !== 'stored' && record.upstreamId === upstreamId && isSameLabel(record.label, label),
  );
  if (!taken) return;
  throw new StoreError(
    'conflict',
    told`The upstream ${upstreamId} has an account ${label} already.`,
  );
}
