// Which grants are still good: one line of refresh tokens each, where only the youngest counts.

import { setLast } from '../clock.ts';
import type { Grant } from './tokens.ts';

export interface Grants {
  /** A new family; its first refresh token is of generation 1. */
  start(grant: Grant): void;
  isRevoked(grant: Grant): boolean;
  /**
   * Uses up a refresh token. `reused` when it was not the youngest: then the whole family is revoked
   * (RFC 9700, 4.14.2). After a restart the first one seen of a family counts as the youngest.
   */
  rotate(grant: Grant, generation: number): Rotation;
  revoke(grant: Grant): void;
  /** Revokes every grant of an account there is, also those not seen since the start; gives the number of known ones. */
  revokeAll(email: string, now: number): number;
  /** Whether a service account's key was revoked: it makes no new grants until it is reopened. */
  isClosed(email: string): boolean;
  reopen(email: string): void;
  /** How many known grants of the account are good. */
  count(email: string): number;
}

type Rotation =
  | { readonly kind: 'next'; readonly generation: number }
  | { readonly kind: 'revoked' | 'reused' };

interface Family {
  readonly email: string;
  readonly youngest: number;
  readonly isRevoked: boolean;
}

/** The families longest unused are forgotten first; then the rule for restarts applies to them. */
const MAX_FAMILIES = 100_000;

export function createGrants(): Grants {
  const families = new Map<string, Family>();
  /** When all grants of an account were revoked: holds for grants not seen yet. */
  const revokedAt = new Map<string, number>();
  const closed = new Set<string>();
  const put = (id: string, family: Family): void => setLast(families, [id, family], MAX_FAMILIES);
  const isRevoked = ({ familyId, email, grantedAt }: Grant): boolean =>
    families.get(familyId)?.isRevoked ?? grantedAt <= (revokedAt.get(email) ?? -1);
  const revoke = ({ familyId, email }: Pick<Grant, 'familyId' | 'email'>): void => {
    const youngest = families.get(familyId)?.youngest ?? 0;
    put(familyId, { email, youngest, isRevoked: true });
  };
  const listGood = (email: string): string[] =>
    [...families].flatMap(([id, family]) =>
      family.email === email && !family.isRevoked ? [id] : [],
    );
  return {
    start: ({ familyId, email }) => put(familyId, { email, youngest: 1, isRevoked: false }),
    isRevoked,
    rotate(grant, generation) {
      if (isRevoked(grant)) return { kind: 'revoked' };
      const youngest = families.get(grant.familyId)?.youngest ?? generation;
      if (generation !== youngest) {
        revoke(grant);
        return { kind: 'reused' };
      }
      const next = generation + 1;
      put(grant.familyId, { email: grant.email, youngest: next, isRevoked: false });
      return { kind: 'next', generation: next };
    },
    revoke,
    revokeAll(email, now) {
      revokedAt.set(email, now);
      closed.add(email);
      const good = listGood(email);
      for (const familyId of good) revoke({ familyId, email });
      return good.length;
    },
    isClosed: (email) => closed.has(email),
    reopen: (email) => void closed.delete(email),
    count: (email) => listGood(email).length,
  };
}
