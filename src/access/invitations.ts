// Invitations: links that work once and expire, with which somebody gets a sign-in to the console or a key of their own.

import { hash, randomBytes } from 'node:crypto';
import { StoreError } from '../accounts/account-store.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import type { NewKey } from './api-keys.ts';
import type { Role } from './people.ts';

export type Gift =
  | { readonly kind: 'person'; readonly role: Role }
  | { readonly kind: 'key'; readonly key: Omit<NewKey, 'name'> };

/** Times are milliseconds since the epoch. */
export interface Invitation {
  readonly id: string;
  /** Of the person, or of the key. */
  readonly name: string;
  readonly gift: Gift;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The name of who made it; undefined of the console password. */
  readonly createdBy: string | undefined;
}

/** Every method may throw StoreError. What people say survives a power cut. */
export interface InvitationStore {
  /** Oldest first, also those that are over. */
  list(): Promise<readonly Invitation[]>;
  insert(invitation: Invitation, digest: string): Promise<void>;
  find(digest: string): Promise<Invitation | undefined>;
  /** As `find`, to one asker alone: it is gone then. */
  take(digest: string): Promise<Invitation | undefined>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
  removeBefore(expiresAt: number): Promise<void>;
}

interface InvitationsOptions {
  readonly store: InvitationStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly createId: (prefix: string) => string;
}

type NewInvitation = Pick<Invitation, 'name' | 'gift' | 'createdBy'> & {
  readonly lifetimeMs: number;
};

const MAX_WAITING = 1_000;
/** 256 bits: too long to be guessed, so that looking one up is no try. */
const SECRET_BYTES = 32;

export function createInvitations({ store, clock, createId }: InvitationsOptions) {
  const fresh = (invitation: Invitation | undefined): Invitation | undefined =>
    invitation !== undefined && clock.now() < invitation.expiresAt ? invitation : undefined;
  return {
    /** Those that wait, oldest first. */
    async list(): Promise<readonly Invitation[]> {
      return (await store.list()).filter((one) => fresh(one) !== undefined);
    },
    /** @returns the secret of the link, which nobody can see again. @throws StoreError `conflict` for too many */
    async create({ lifetimeMs, ...given }: NewInvitation) {
      const createdAt = clock.now();
      await store.removeBefore(createdAt);
      if ((await store.list()).length >= MAX_WAITING) throw new StoreError('conflict', TOO_MANY);
      const secret = randomBytes(SECRET_BYTES).toString('base64url');
      const expiresAt = createdAt + lifetimeMs;
      const invitation = { ...given, id: createId('inv_'), createdAt, expiresAt };
      await store.insert(invitation, digestOf(secret));
      return { invitation, secret };
    },
    /** Undefined for a secret that was used, revoked, is too old or none: nobody learns which. */
    find: async (secret: string): Promise<Invitation | undefined> =>
      fresh(await store.find(digestOf(secret))),
    /**
     * Uses an invitation up, for one asker alone of all processes. When what it gives cannot be given, it waits again.
     * @throws what `give` throws
     */
    async use<Given>(
      secret: string,
      give: (invitation: Invitation) => Promise<Given>,
    ): Promise<Given | undefined> {
      const digest = digestOf(secret);
      const invitation = fresh(await store.take(digest));
      if (invitation === undefined) return undefined;
      try {
        return await give(invitation);
      } catch (error) {
        await store.insert(invitation, digest);
        throw error;
      }
    },
    /** @throws StoreError `missing` */
    async revoke(id: string): Promise<void> {
      if (await store.remove(id)) return;
      throw new StoreError(
        'missing',
        told`There is no invitation of this id. It may have been used.`,
      );
    },
  };
}

const TOO_MANY = told`There are ${MAX_WAITING} invitations that wait already. Revoke some first.`;

function digestOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
