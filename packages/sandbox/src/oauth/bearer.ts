// Who an access token speaks for.

import { reasonDetail, SandboxError } from '../errors.ts';
import type { Member } from '../state/members.ts';
import type { OAuthServices } from './oauth-services.ts';
import { meaningsOf, type ScopeMeaning } from './scopes.ts';

export type BearerServices = Pick<OAuthServices, 'tokens' | 'grants' | 'members' | 'clock'>;

/** True for what looks like an access token of a sandbox, good or not. */
export function isAccessToken(text: string): boolean {
  return text.startsWith('sandbox-access.');
}

/**
 * The member a good access token was made for.
 * @throws SandboxError 401 when it is forged, expired or revoked, 403 without the needed scope.
 */
export function authenticateToken(
  text: string,
  needed: ScopeMeaning,
  { tokens, grants, members, clock }: BearerServices,
): Member {
  const token = tokens.readAccess(text);
  if (token === undefined) throw unauthenticated('ACCESS_TOKEN_TYPE_UNSUPPORTED', 'is not valid');
  const { grant, expiresAt } = token;
  if (expiresAt <= clock.now()) throw unauthenticated('ACCESS_TOKEN_EXPIRED', 'has expired');
  if (grants.isRevoked(grant)) throw unauthenticated('ACCESS_TOKEN_REVOKED', 'was revoked');
  if (!meaningsOf(grant.scopes).has(needed)) {
    throw new SandboxError(403, `The access token lacks the scope "${needed}".`, [
      reasonDetail('ACCESS_TOKEN_SCOPE_INSUFFICIENT', { scope: needed }),
    ]);
  }
  return members.restore(grant.email, grant.tier);
}

function unauthenticated(reason: string, what: string): SandboxError {
  return new SandboxError(401, `The access token ${what}.`, [reasonDetail(reason)]);
}
