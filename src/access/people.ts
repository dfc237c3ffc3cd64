// People who sign in to the console, their roles, and invitations: links that work once.

import { hash, randomBytes } from 'node:crypto';
import { reachesStore, StoreError } from '../accounts/account-store.ts';
import { clientError } from '../canonical/error.ts';
import type { Cluster, Topic } from '../cluster/cluster.ts';
import { StoredCopy } from '../cluster/stored-copy.ts';
import type { Clock } from '../lib/clock.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { foldCase } from '../lib/names.ts';
import { optional, TEXT } from '../lib/object-schema.ts';
import { TIME } from './access-log.ts';
import type { NewKey } from './api-keys.ts';
import { changeLatest } from './change-latest.ts';

/**
 * `viewer` reads, but no secret, and nothing of what people asked the models and were answered ·
 * `operator` runs the gateway as well: accounts, keys, routing, most settings ·
 * `owner` everything: people, how they sign in, the password, exports of credentials, where credentials are sent.
 */
export const ROLES = ['viewer', 'operator', 'owner'] as const;

export type Role = (typeof ROLES)[number];

export const PERSON_FIELDS = {
  id: TEXT,
  name: { ...TEXT, description: 'What they sign in with; unique without regard to case.' },
  role: { enum: ROLES },
  signsInBy: { enum: ['password', 'provider'], description: '`provider` is OpenID Connect.' },
  roleFrom: {
    enum: ['owner', 'provider'],
    description: 'Who decides about the role: an owner, or the provider at each sign-in.',
  },
  createdAt: TIME,
  lastSignInAt: optional(TIME),
} as const;

/** Times are milliseconds since the epoch. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Whether claims of the provider decide about the role at each sign-in. */
  readonly isRoleClaimed: boolean;
  /** Undefined of who signs in by the provider. */
  readonly passwordHash: string | undefined;
  /** Issuer and subject of who signs in by the provider; each of one person alone. */
  readonly subject: string | undefined;
  readonly createdAt: number;
  readonly lastSignInAt: number | undefined;
  readonly revision: number;
}

/** Keeps the console usable: without a console password there has to be an owner left. */
interface OwnerRule {
  /** @throws StoreError `conflict` instead when no owner would be left */
  readonly keepsOwner: boolean;
}

/** Every method may throw StoreError. What people say survives a power cut. */
export interface PeopleStore {
  /** Oldest first. */
  list(): Promise<readonly Person[]>;
  /** @throws StoreError `conflict` for a name or a subject that somebody has */
  insert(person: Person, nameKey: string): Promise<void>;
  /** All but the last sign-in. @throws StoreError `missing`, or `stale` when the stored revision is not the one before */
  update(person: Person, rule: OwnerRule): Promise<void>;
  /** False when there was none. */
  remove(id: string, rule: OwnerRule): Promise<boolean>;
  saveSignIn(id: string, at: number): Promise<void>;
}

interface PeopleOptions {
  readonly store: PeopleStore;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly createId: (prefix: string) => string;
  /** Whether the console has a password of its own, with which anyone who knows it signs in as owner. */
  readonly hasPassword: () => boolean;
  readonly notices?: Cluster['notices'] | undefined;
  readonly log?: LineLog | undefined;
}

type PeopleNotice =
  | { readonly kind: 'stored' }
  | { readonly kind: 'signed-in'; readonly id: string; readonly at: number };

const TOPIC: Topic<PeopleNotice> = { name: 'people 1' };

export type NewPerson = Pick<Person, 'name' | 'role'> &
  Partial<Pick<Person, 'isRoleClaimed' | 'passwordHash' | 'subject'>>;

type PersonChange = Partial<Pick<Person, 'role' | 'passwordHash'>>;

export class People {
  readonly #options: PeopleOptions;
  readonly #byId = new Map<string, Person>();
  readonly #copy: StoredCopy<readonly Person[]>;
  readonly #unlisten: (() => void) | undefined;

  constructor(options: PeopleOptions, stored: readonly Person[] = []) {
    this.#options = options;
    this.#takeAll(stored);
    this.#copy = new StoredCopy({
      ...{ what: 'People', log: options.log, clock: options.clock },
      read: () => options.store.list(),
      take: (people) => this.#takeAll(people),
    });
    this.#unlisten = options.notices?.listen(TOPIC, {
      take: (notice) => this.#takeNotice(notice),
      catchUp: () => void this.#copy.reread(),
    });
  }

  /** Takes over what another process stored. */
  reread(): Promise<void> {
    return this.#copy.reread();
  }

  /** Oldest first. */
  list(): readonly Person[] {
    return [...this.#byId.values()];
  }

  get(id: string): Person | undefined {
    return this.#byId.get(id);
  }

  /** @throws StoreError `missing` */
  async find(id: string, revision = 0): Promise<Person> {
    const person = await this.#copy.find(
      () => this.#byId.get(id),
      (known) => known.revision < revision,
    );
    if (person !== undefined) return person;
    throw new StoreError('missing', told`There is no person of this id. List them to see all.`);
  }

  findByName(name: string): Person | undefined {
    const key = foldCase(name);
    return this.list().find((person) => foldCase(person.name) === key);
  }

  findBySubject(subject: string): Person | undefined {
    return this.list().find((person) => person.subject === subject);
  }

  /** Whether there is an owner who can sign in: then the console requires signing in. */
  get hasOwner(): boolean {
    return this.list().some(({ role }) => role === 'owner');
  }

  /** @throws StoreError `conflict` for a name that somebody has */
  async add({ name, role, isRoleClaimed = false, ...how }: NewPerson): Promise<Person> {
    const { store, clock, createId } = this.#options;
    const person: Person = {
      ...{ id: createId('per_'), name, role, isRoleClaimed },
      ...{ passwordHash: how.passwordHash, subject: how.subject },
      ...{ createdAt: clock.now(), lastSignInAt: undefined, revision: 1 },
    };
    await store.insert(person, foldCase(name));
    this.#byId.set(person.id, person);
    this.#changed();
    return person;
  }

  /** Without a revision it changes whatever is there. @throws StoreError; `conflict` where no owner would be left */
  change(id: string, change: PersonChange, revision?: number): Promise<Person> {
    return changeLatest(this.#copy, revision, () => this.#change(id, change, revision));
  }

  async #change(id: string, change: PersonChange, revision?: number): Promise<Person> {
    const known = await this.find(id, revision);
    if (revision !== undefined && revision !== known.revision) {
      const message = told`${known.name} was changed meanwhile: they are at revision ${known.revision}, not ${revision}.`;
      throw new StoreError('stale', message);
    }
    const person = { ...known, ...change, revision: known.revision + 1 };
    await this.#options.store.update(person, this.#ownerRule);
    const changed = { ...person, lastSignInAt: this.get(id)?.lastSignInAt ?? known.lastSignInAt };
    this.#byId.set(id, changed);
    this.#changed();
    return changed;
  }

  /** @throws StoreError `missing`, or `conflict` where no owner would be left */
  async remove(id: string): Promise<void> {
    await this.find(id);
    await this.#options.store.remove(id, this.#ownerRule);
    this.#byId.delete(id);
    this.#changed();
  }

  async noteSignIn(id: string): Promise<void> {
    const at = this.#options.clock.now();
    this.#noteSignIn(id, at);
    this.#tell({ kind: 'signed-in', id, at });
    // Who cannot be written down signs in all the same.
    await reachesStore(this.#options.store.saveSignIn(id, at));
  }

  close(): void {
    this.#unlisten?.();
    this.#copy.close();
  }

  get #ownerRule(): OwnerRule {
    return { keepsOwner: !this.#options.hasPassword() && this.hasOwner };
  }

  #noteSignIn(id: string, at: number): void {
    const person = this.#byId.get(id);
    if (person !== undefined) this.#byId.set(id, { ...person, lastSignInAt: at });
  }

  #changed(): void {
    this.#copy.noteChange();
    this.#tell({ kind: 'stored' });
  }

  #tell(notice: PeopleNotice): void {
    this.#options.notices?.tell(TOPIC, notice);
  }

  #takeNotice(notice: PeopleNotice): void {
    if (notice.kind === 'stored') void this.#copy.reread();
    else this.#noteSignIn(notice.id, notice.at);
  }

  #takeAll(people: readonly Person[]): void {
    this.#byId.clear();
    for (const person of people) this.#byId.set(person.id, person);
  }
}

export const LAST_OWNER: Sentence = told`This is the last owner, and the console has no password: nobody could change people and sign-in any more. Make somebody else an owner first, or set WEB_PASSWORD.`;

export function nameTaken(name: string): Sentence {
  return told`There is already a person named ${name}.`;
}

export const MIN_PASSWORD_CHARACTERS = 8;

/** @throws GatewayError invalid-request */
export function checkOwnPassword(password: string): void {
  if ([...password].length >= MIN_PASSWORD_CHARACTERS) return;
  const message = told`password: must have at least ${MIN_PASSWORD_CHARACTERS} characters.`;
  throw clientError('invalid-request', message, { field: 'password' });
}

const ROLE_WORDS: Readonly<Record<Role, Sentence>> = {
  viewer: told`viewer`,
  operator: told`operator`,
  owner: told`owner`,
};

export function includesRole(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

/** What people asked the models, and were answered, is for who runs the gateway. */
export function maySeeBodies({ role }: { readonly role: Role }): boolean {
  return includesRole(role, 'operator');
}

/** @throws GatewayError forbidden */
export function requireRole({ role }: { readonly role: Role }, least: Role): void {
  if (includesRole(role, least)) return;
  const message = told`This needs the role ${ROLE_WORDS[least]}, and you are signed in as ${ROLE_WORDS[role]}. Nothing was done.`;
  throw clientError('forbidden', message);
}

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
    /** @returns the secret of the link, which is shown this once. @throws StoreError `conflict` for too many */
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
    /** Undefined for a secret that was used, revoked, expired or never existed, without saying which. */
    find: async (secret: string): Promise<Invitation | undefined> =>
      fresh(await store.find(digestOf(secret))),
    /** Uses an invitation up, once among all processes. If `give` throws, it waits again. */
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
