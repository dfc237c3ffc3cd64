// Console sign-in: the password, sessions, the throttle of tries, and one-time links.

import { createHmac, hash, randomBytes } from 'node:crypto';
import { reachesStore } from '../accounts/account-store.ts';
import { clientError, type GatewayError } from '../canonical/error.ts';
import { type Cluster, ClusterUnavailable, type Topic } from '../cluster/cluster.ts';
import { StoredCopy } from '../cluster/stored-copy.ts';
import type { Clock } from '../lib/clock.ts';
import { touchLru } from '../lib/collections.ts';
import { told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { visitorOf } from '../lib/net.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import { WRITES } from './access-log.ts';
import { isSameText, type PasswordHasher } from './password-hash.ts';
import type { People, Person, Role } from './people.ts';

interface Browser {
  readonly address: string;
  /** The secret of the session it has already, which ends. */
  readonly cookie: string | undefined;
}

interface ConsoleLoginOptions {
  /** In plain or as a hash; undefined while nothing is configured. */
  readonly password: () => string | undefined;
  /** Waits while a password in plain is being replaced by its hash: sessions and feeds know theirs by how it is stored. */
  readonly passwordSettled: () => Promise<void>;
  /** What the command line on this machine shows instead. */
  readonly machineToken: string;
  readonly hasher: PasswordHasher;
  readonly sessions: ConsoleSessions;
  readonly people: Pick<People, 'get' | 'findByName' | 'hasOwner' | 'noteSignIn' | 'reread'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Keys the tags by which sessions know their password; the same after a restart. */
  readonly tagKey: Buffer;
  /** The other processes of this gateway; without it there are none. */
  readonly cluster?: Pick<Cluster, 'notices' | 'values'> | undefined;
}

const SESSIONS_TOPIC: Topic<SessionNotice> = { name: 'console sessions 1' };
const TRIES_TOPIC: Topic<TryNotice> = { name: 'console tries 1' };

/** Longer input is rejected without being hashed. */
const MAX_PASSWORD_CHARACTERS = 1_024;
const COOKIE_TAG_CHARACTERS = 8;
const SESSION_NAME_CHARACTERS = 8;

/** The same whether a person of that name exists or not. */
const WRONG_NAME_OR_PASSWORD = told`The name or the password is not right.`;
const WRONG_PASSWORD = told`The password is not right. It is WEB_PASSWORD, else admin_password of the config file, else the API key.`;

export function createConsoleLogin(options: ConsoleLoginOptions) {
  const { password, passwordSettled, machineToken, hasher, sessions, people, clock, tagKey } =
    options;
  const links = createSignInLinks(clock, options.cluster?.values);
  const throttle = createSignInThrottle(clock, options.cluster?.notices);
  const verify = rememberLast(hasher);
  const keyed = (text: string) => createHmac('sha256', tagKey).update(text);
  const tag = (): string => keyed(password() ?? '').digest('base64url');
  /** Tag of the person of a session, of the console password for a session without one; undefined for a person who is gone. */
  const tagOf = (personId: string | undefined): string | undefined => {
    if (personId === undefined) return tag();
    const person = people.get(personId);
    return person && tagOfPerson(person);
  };
  const tagOfPerson = ({ id, passwordHash = '', subject = '' }: Person): string =>
    keyed(JSON.stringify([id, passwordHash, subject])).digest('base64url');
  const cookieTag = keyed('name of the cookie').digest('hex').slice(0, COOKIE_TAG_CHARACTERS);
  const isPassword = shareTries(async (given, address) => {
    // Too long to be guessed, so looking at it is no try.
    if (isSameText(given, machineToken)) return true;
    await passwordSettled();
    return guess(given, address, (text) => verify(password(), text));
  });
  const guess = async (
    given: string,
    address: string,
    check: (text: string) => Promise<boolean>,
  ) => {
    throttle.begin(address);
    const isRight = await check(given.slice(0, MAX_PASSWORD_CHARACTERS + 1));
    if (!isRight || given.length > MAX_PASSWORD_CHARACTERS) return false;
    throttle.succeed(address);
    return true;
  };
  /** Without a person, or one without a password, it takes as long and is false. */
  const isPasswordOf = (person: Person | undefined, given: string, address: string) =>
    guess(given, address, (text) => hasher.verify(person?.passwordHash, text));
  const beginFor = async (person: Person, cookie: string | undefined): Promise<BegunSession> => {
    await people.noteSignIn(person.id);
    return sessions.begin(tagOfPerson(person), { replaced: cookie, personId: person.id });
  };
  const view = ({ session, expiresAt }: FoundSession): SignedInSession | undefined => {
    if (session.personId === undefined) return { expiresAt, role: 'owner', person: undefined };
    const person = people.get(session.personId);
    if (person === undefined) return undefined;
    const { id, name, role } = person;
    return { expiresAt, role, person: { id, name, since: session.createdAt } };
  };
  const sessionHere = (secret: string): SignedInSession | undefined => {
    const found = sessions.find(secret, tagOf);
    return found && view(found);
  };
  return {
    /** False while neither a console password nor an API key is configured, and no owner signs in as a person. */
    get needsPassword(): boolean {
      return password() !== undefined || people.hasOwner;
    },
    /** Checks a password; every wrong one counts. @throws GatewayError rate-limited after too many */
    isPassword,
    /** As `isPassword`, of a person's own. */
    isPasswordOf: (personId: string, given: string, address: string): Promise<boolean> =>
      isPasswordOf(people.get(personId), given, address),
    /** Whether it is what the command line on this machine shows. */
    isMachine: (given: string): boolean => isSameText(given, machineToken),
    /** @throws GatewayError unauthenticated, or as `isPassword` */
    async signIn(given: string, { address, cookie }: Browser): Promise<BegunSession> {
      await passwordSettled();
      // Of the password that is looked at: when it becomes another meanwhile, the session is none.
      const checked = tag();
      if (await isPassword(given, address)) return sessions.begin(checked, { replaced: cookie });
      throw clientError('unauthenticated', WRONG_PASSWORD, { field: 'password' });
    },
    /** As a person with a password of their own. @throws GatewayError unauthenticated, or as `isPassword` */
    async signInAs(
      { name, password: given }: { readonly name: string; readonly password: string },
      { address, cookie }: Browser,
    ): Promise<BegunSession> {
      const person = people.findByName(name);
      if ((await isPasswordOf(person, given, address)) && person !== undefined) {
        return beginFor(person, cookie);
      }
      throw clientError('unauthenticated', WRONG_NAME_OR_PASSWORD, { field: 'password' });
    },
    /** For who has just proved to be this person in another way. */
    beginFor: (person: Person, { cookie }: Browser): Promise<BegunSession> =>
      beginFor(person, cookie),
    /** A session for a browser that was let in before the password became another. */
    goOn: ({ cookie }: Browser): Promise<BegunSession> =>
      sessions.begin(tag(), { replaced: cookie }),
    /** Undefined for a secret that is used up, too old or none. Whether the browser is here is for the caller to know. */
    async redeemLink(secret: string, { cookie }: Browser): Promise<BegunSession | undefined> {
      if (!(await links.redeem(secret))) return undefined;
      await passwordSettled();
      return sessions.begin(tag(), { replaced: cookie });
    },
    createLink: links.create,
    /** Also one that began at another process a moment ago. */
    async findSession(secret: string): Promise<SignedInSession | undefined> {
      const known = sessionHere(secret);
      if (known !== undefined) return known;
      await sessions.lookAgain(secret, () => people.reread());
      return sessionHere(secret);
    },
    /** What its holder may do; undefined when there is none. Asking does not keep it alive. */
    roleOfSession(secret: string): Role | undefined {
      const found = sessions.peek(secret, tagOf);
      return found && view(found)?.role;
    },
    /** Distinguishes signed-in browsers in lists for people; it is no credential. */
    nameSession: (secret: string): string => nameOf(hashOf(secret)),
    /** Another one for every other password. */
    get passwordTag() {
      return tag();
    },
    /** Of the name of the cookie: this gateway's own, and the same on all of its replicas. */
    cookieTag,
    endAllSessions: (): Promise<void> => sessions.endAll(),
    sessionsOf: (personId: string): readonly ShownSession[] => sessions.of(personId, tagOf),
    endSessionsOf: (personId: string, name?: string): Promise<void> =>
      sessions.endOf(personId, name),
  };
}

interface SignedInSession {
  readonly expiresAt: number;
  readonly role: Role;
  /** Undefined of the console password and of one-time links. */
  readonly person:
    | { readonly id: string; readonly name: string; readonly since: number }
    | undefined;
}

interface ShownSession {
  readonly name: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
}

/** The tag that a session of a person, or of the console password, must have to stay valid. */
type TagOf = (personId: string | undefined) => string | undefined;

function nameOf(hashed: string): string {
  return hashed.slice(0, SESSION_NAME_CHARACTERS);
}

type PasswordCheck = (given: string, address: string) => Promise<boolean>;

/** The same password from the same address at the same moment is one try, not several. */
function shareTries(check: PasswordCheck): PasswordCheck {
  const running = new Map<string, Promise<boolean>>();
  return (given, address) => {
    const key = `${address} ${given}`;
    const known = running.get(key);
    if (known !== undefined) return known;
    const result = check(given, address).finally(() => running.delete(key));
    running.set(key, result);
    return result;
  };
}

/** Scripts show the password with every request: only the first one is worth a hash. */
function rememberLast(hasher: PasswordHasher): PasswordHasher['verify'] {
  const key = randomBytes(32);
  const digestOf = (text: string): string => createHmac('sha256', key).update(text).digest('hex');
  let right: { readonly stored: string; readonly digest: string } | undefined;
  return async (stored, given) => {
    const digest = digestOf(given);
    if (right !== undefined && right.stored === stored && isSameText(right.digest, digest)) {
      return true;
    }
    const isRight = await hasher.verify(stored, given);
    if (isRight && stored !== undefined) right = { stored, digest };
    return isRight;
  };
}

interface BegunSession {
  readonly secret: string;
  readonly expiresAt: number;
}

interface ConsoleSessionsOptions {
  readonly store: ConsoleSessionStore;
  readonly clock: Clock;
  readonly idleMs: () => number;
  readonly notices?: Cluster['notices'] | undefined;
  readonly log?: LineLog | undefined;
}

type SessionNotice =
  | { readonly kind: 'begun'; readonly session: ConsoleSession }
  | { readonly kind: 'ended'; readonly hashes: readonly string[] };

const SECRET_BYTES = 32;
/** Sessions that are remembered to have ended; the oldest are forgotten first. */
const MAX_ENDED = 1000;
/** However busy it is, a session ends after this. */
const MAX_SESSION_MS = 7 * 86_400_000;
/** How far behind the stored time of the last request may be. */
const SEEN_STEP_MS = 300_000;
const MAX_SESSIONS = 1_000;
/** So long after a look for an unknown session there is no other. */
const LOOK_STEP_MS = 100;

interface FoundSession {
  readonly session: ConsoleSession;
  readonly expiresAt: number;
}

interface Kept {
  session: ConsoleSession;
  /** When it was last seen as far as the store knows; undefined while that does not know it. */
  savedSeenAt: number | undefined;
}

export class ConsoleSessions {
  readonly #options: ConsoleSessionsOptions;
  /** Hashes of the sessions whose last use is to be saved. */
  readonly #seen: WriteBehind<string>;
  readonly #byHash: Map<string, Kept>;
  /** Their hashes: the store may have them still, where it was away when they ended. */
  readonly #ended = new Set<string>();
  readonly #copy: StoredCopy<readonly ConsoleSession[]>;
  readonly #unlisten: (() => void) | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<unknown> | undefined;

  constructor(options: ConsoleSessionsOptions, sessions: readonly ConsoleSession[] = []) {
    const { clock, log, notices } = options;
    this.#options = options;
    this.#copy = new StoredCopy({
      ...{ what: 'Console sessions', log, clock },
      read: () => options.store.list(),
      take: (stored) => this.#takeAll(stored),
    });
    this.#unlisten = notices?.listen(SESSIONS_TOPIC, {
      take: (notice) => this.#takeNotice(notice),
      catchUp: () => void this.#copy.reread(),
    });
    this.#byHash = new Map(
      sessions.map((session) => [session.hash, { session, savedSeenAt: session.lastSeenAt }]),
    );
    this.#seen = new WriteBehind<string>({
      clock,
      log,
      save: (hashes) => this.#saveSeen(hashes),
      keyOf: (one) => one,
      ...WRITES,
      failure: 'Console sessions cannot be saved; requests go on without it.',
    });
  }

  /** A new session; the one the browser had is over. @returns the secret for its cookie */
  async begin(
    passwordTag: string,
    { replaced, personId }: { readonly replaced?: string | undefined; readonly personId?: string },
  ): Promise<BegunSession> {
    const { clock, store } = this.#options;
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const now = clock.now();
    const times = { createdAt: now, lastSeenAt: now };
    const session = { hash: hashOf(secret), ...times, passwordTag, personId };
    await reachesStore(this.#end(this.#surplus(replaced)));
    // Whoever looks after a store that is away or full has to get in.
    const isSaved = await reachesStore(store.save(session));
    this.#byHash.set(session.hash, { session, savedSeenAt: isSaved ? now : undefined });
    if (!isSaved) this.#seen.add(session.hash);
    this.#copy.noteChange();
    this.#tell({ kind: 'begun', session });
    return { secret, expiresAt: this.#endOf(session) };
  }

  /** When the session of a cookie ends if nothing more comes; undefined when there is none. */
  find(secret: string, tagOf: TagOf): FoundSession | undefined {
    const kept = this.#running(secret, tagOf);
    if (kept === undefined) return undefined;
    const lastSeenAt = this.#options.clock.now();
    kept.session = { ...kept.session, lastSeenAt };
    const { savedSeenAt } = kept;
    if (savedSeenAt !== undefined && lastSeenAt - savedSeenAt >= SEEN_STEP_MS)
      this.#seen.add(kept.session.hash);
    return { session: kept.session, expiresAt: this.#endOf(kept.session) };
  }

  /**
   * Reads anew what other processes began, for a session that nobody here knows, unless that was done lately.
   * @param readMore what goes with it: whose it is
   */
  async lookAgain(secret: string, readMore: () => Promise<void>): Promise<void> {
    const { clock, notices } = this.#options;
    const hash = hashOf(secret);
    if (notices === undefined || this.#byHash.has(hash) || this.#ended.has(hash)) return;
    const now = clock.monotonic();
    if (now - this.#lookedAt >= LOOK_STEP_MS) {
      this.#lookedAt = now;
      this.#looking = Promise.all([this.#copy.reread(), readMore()]);
    }
    await this.#looking;
  }

  /** As `find`, but asking does not keep it alive. */
  peek(secret: string, tagOf: TagOf): FoundSession | undefined {
    const session = this.#running(secret, tagOf)?.session;
    return session && { session, expiresAt: this.#endOf(session) };
  }

  /** Those of a person that go on. */
  of(personId: string, tagOf: TagOf): readonly ShownSession[] {
    return this.#of(personId).flatMap((session) => {
      if (!this.#isRunning(session, tagOf)) return [];
      const { createdAt, lastSeenAt } = session;
      return [{ name: nameOf(session.hash), createdAt, lastSeenAt }];
    });
  }

  async endOf(personId: string, name?: string): Promise<void> {
    const hashes = this.#of(personId).map((session) => session.hash);
    await this.#end(hashes.filter((one) => name === undefined || nameOf(one) === name));
  }

  async endAll(): Promise<void> {
    await this.#end([...this.#byHash.keys()]);
  }

  async close(): Promise<void> {
    this.#unlisten?.();
    this.#copy.close();
    await this.#seen.close();
  }

  #tell(notice: SessionNotice): void {
    this.#options.notices?.tell(SESSIONS_TOPIC, notice);
  }

  #takeNotice(notice: SessionNotice): void {
    this.#copy.noteChange();
    if (notice.kind === 'ended') this.#forget(notice.hashes);
    else this.#takeStored([notice.session]);
  }

  #takeStored(sessions: readonly ConsoleSession[]): void {
    for (const session of sessions) {
      if (this.#byHash.has(session.hash) || this.#ended.has(session.hash)) continue;
      this.#byHash.set(session.hash, { session, savedSeenAt: session.lastSeenAt });
    }
  }

  #takeAll(sessions: readonly ConsoleSession[]): void {
    const hashes = new Set(sessions.map((session) => session.hash));
    for (const [one, { savedSeenAt }] of this.#byHash)
      if (savedSeenAt !== undefined && !hashes.has(one)) this.#byHash.delete(one);
    this.#takeStored(sessions);
  }

  #forget(hashes: readonly string[]): void {
    for (const one of hashes) {
      this.#byHash.delete(one);
      this.#ended.add(one);
    }
    for (const one of this.#ended) {
      if (this.#ended.size <= MAX_ENDED) break;
      this.#ended.delete(one);
    }
  }

  #of(personId: string): readonly ConsoleSession[] {
    const all = [...this.#byHash.values()].map(({ session }) => session);
    return all.filter((session) => session.personId === personId);
  }

  #running(secret: string, tagOf: TagOf): Kept | undefined {
    const kept = this.#byHash.get(hashOf(secret));
    return kept !== undefined && this.#isRunning(kept.session, tagOf) ? kept : undefined;
  }

  #isRunning(session: ConsoleSession, tagOf: TagOf): boolean {
    if (session.passwordTag !== tagOf(session.personId)) return false;
    return this.#options.clock.now() < this.#endOf(session);
  }

  #endOf({ createdAt, lastSeenAt }: ConsoleSession): number {
    return Math.min(createdAt + MAX_SESSION_MS, lastSeenAt + this.#options.idleMs());
  }

  /** The session that is replaced, those that are over, and the oldest of too many. */
  #surplus(replaced: string | undefined): readonly string[] {
    const now = this.#options.clock.now();
    const replacedHash = replaced === undefined ? undefined : hashOf(replaced);
    const over: string[] = [];
    const running: string[] = [];
    for (const { session } of this.#byHash.values()) {
      const isOver = session.hash === replacedHash || now >= this.#endOf(session);
      (isOver ? over : running).push(session.hash);
    }
    return [...over, ...running.slice(0, Math.max(0, running.length - MAX_SESSIONS + 1))];
  }

  async #end(hashes: readonly string[]): Promise<void> {
    if (hashes.length === 0) return;
    this.#forget(hashes);
    this.#copy.noteChange();
    this.#tell({ kind: 'ended', hashes });
    await this.#options.store.remove(hashes);
  }

  async #saveSeen(hashes: readonly string[]): Promise<void> {
    for (const one of hashes) {
      // It may have ended meanwhile.
      const kept = this.#byHash.get(one);
      if (kept === undefined) continue;
      const { session, savedSeenAt } = kept;
      if (savedSeenAt === undefined) await this.#saveBegun(session);
      else await this.#options.store.saveSeen(session);
      kept.savedSeenAt = session.lastSeenAt;
    }
  }

  /** Others forgot it when they read what is stored anew. */
  async #saveBegun(session: ConsoleSession): Promise<void> {
    await this.#options.store.save(session);
    this.#tell({ kind: 'begun', session });
  }
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** A signed-in browser. Times are milliseconds since the epoch. */
export interface ConsoleSession {
  /** SHA-256 of the secret in the cookie, in base64url. */
  readonly hash: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** Says which password it was signed in with; another one ends it. */
  readonly passwordTag: string;
  /** Undefined of the console password and of one-time links. */
  readonly personId?: string | undefined;
}

/** Every method may throw StoreError. */
export interface ConsoleSessionStore {
  list(): Promise<readonly ConsoleSession[]>;
  /** A new one. */
  save(session: ConsoleSession): Promise<void>;
  /** When it was seen last. Nothing where it has ended meanwhile. */
  saveSeen(session: Pick<ConsoleSession, 'hash' | 'lastSeenAt'>): Promise<void>;
  remove(hashes: readonly string[]): Promise<void>;
}

/** Tries that an address has within one minute before it has to wait. */
const FREE_TRIES = 5;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_WAIT_MS = 15 * MINUTE_MS;
/** Tries of all unknown addresses together; NIST SP 800-63B, 5.2.2, allows 100 in a row. */
const MAX_TRIES_PER_MINUTE = 20;
const MAX_TRIES_PER_HOUR = 100;
/** Addresses that are remembered; the longest unseen goes first. */
const MAX_ADDRESSES = 10_000;
const MAX_TRUSTED = 1_000;

interface Tries {
  /** Of the current minute. */
  count: number;
  since: number;
  /** Tries that were refused or wrong beyond the free ones; doubles the wait. */
  beyond: number;
  blockedUntil: number;
  lastAt: number;
}

/** Limits guesses of passwords, per address and in all. Monotonic: setting the clock changes nothing. */
function createSignInThrottle(
  clock: Pick<Clock, 'monotonic'>,
  notices: Cluster['notices'] | undefined,
) {
  const byVisitor = new Map<string, Tries>();
  const trusted = new Map<string, number>();
  let recent: number[] = [];

  const triesOf = (visitor: string, now: number): Tries => {
    const known = byVisitor.get(visitor);
    const isFresh = known !== undefined && now - known.lastAt < DAY_MS;
    const tries = isFresh
      ? known
      : { count: 0, since: now, beyond: 0, blockedUntil: 0, lastAt: now };
    touchLru(byVisitor, [visitor, tries], MAX_ADDRESSES);
    return tries;
  };
  const checkEverybody = (visitor: string, now: number): void => {
    const trustedAt = trusted.get(visitor);
    if (trustedAt !== undefined && now - trustedAt < DAY_MS) return;
    recent = recent.filter((at) => now - at < HOUR_MS);
    const lastMinute = recent.filter((at) => now - at < MINUTE_MS);
    const [oldestOfHour = now] = recent.slice(-MAX_TRIES_PER_HOUR);
    const [oldestOfMinute = now] = lastMinute.slice(-MAX_TRIES_PER_MINUTE);
    if (recent.length >= MAX_TRIES_PER_HOUR) throw tooMany(oldestOfHour + HOUR_MS - now);
    if (lastMinute.length >= MAX_TRIES_PER_MINUTE) throw tooMany(oldestOfMinute + MINUTE_MS - now);
  };
  /** A try that may be looked at, here or by another process. */
  const count = (visitor: string, now: number): void => {
    const tries = triesOf(visitor, now);
    const trustedAt = trusted.get(visitor);
    if (trustedAt === undefined || now - trustedAt >= DAY_MS) recent.push(now);
    if (now - tries.since >= MINUTE_MS && tries.beyond === 0) {
      tries.count = 0;
      tries.since = now;
    }
    tries.count += 1;
    tries.lastAt = now;
    if (tries.count < FREE_TRIES) return;
    // The last free try is looked at; the next one waits, each time twice as long.
    tries.blockedUntil = now + Math.min(MINUTE_MS * 2 ** tries.beyond, MAX_WAIT_MS);
    tries.beyond += 1;
  };
  const trust = (visitor: string): void => {
    byVisitor.delete(visitor);
    touchLru(trusted, [visitor, clock.monotonic()], MAX_TRUSTED);
  };
  notices?.listen(TRIES_TOPIC, {
    take({ visitor, isRight }) {
      if (isRight) trust(visitor);
      else count(visitor, clock.monotonic());
    },
  });

  return {
    /** Counts a try before it is checked, so that many at once count too. @throws GatewayError rate-limited */
    begin(address: string): void {
      const now = clock.monotonic();
      const visitor = visitorOf(address);
      const { blockedUntil } = triesOf(visitor, now);
      if (now < blockedUntil) throw tooMany(blockedUntil - now);
      checkEverybody(visitor, now);
      count(visitor, now);
      notices?.tell(TRIES_TOPIC, { visitor, isRight: false });
    },
    /** The try was right: the address is trusted for a day and its tries are forgotten. */
    succeed(address: string): void {
      const visitor = visitorOf(address);
      trust(visitor);
      notices?.tell(TRIES_TOPIC, { visitor, isRight: true });
    },
  };
}

interface TryNotice {
  readonly visitor: string;
  readonly isRight: boolean;
}

function tooMany(waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / 1000);
  const message = told`Too many tries to sign in. Try again in ${seconds} s, or restart the gateway on its own machine and use the sign-in link it prints.`;
  return clientError('rate-limited', message, { retryAfterMs: waitMs });
}

const LIFETIME_MS = 600_000;
const MAX_LINKS = 20;

/** One-time links that sign in a browser on this machine without a password, at whichever process it comes to. */
function createSignInLinks(clock: Pick<Clock, 'monotonic'>, values: Cluster['values'] | undefined) {
  /** Hash → monotonic end. */
  const waiting = new Map<string, number>();
  const keyOf = (hashed: string): string => `sign-in link ${hashed}`;
  return {
    /** The secret of a new link; the links before it go on working. */
    create(): string {
      const secret = randomBytes(32).toString('base64url');
      const hashed = hash('sha256', secret);
      waiting.set(hashed, clock.monotonic() + LIFETIME_MS);
      const [oldest] = waiting.keys();
      if (waiting.size > MAX_LINKS && oldest !== undefined) waiting.delete(oldest);
      // Where the others cannot be reached it works here.
      values?.put(keyOf(hashed), 'waits', LIFETIME_MS).catch(() => undefined);
      return secret;
    },
    /** True once for each secret, while it is fresh. */
    async redeem(secret: string): Promise<boolean> {
      const hashed = hash('sha256', secret);
      const expiresAt = waiting.get(hashed);
      waiting.delete(hashed);
      if (values !== undefined) {
        try {
          return (await values.take(keyOf(hashed))) !== undefined;
        } catch (error) {
          if (!(error instanceof ClusterUnavailable)) throw error;
        }
      }
      return expiresAt !== undefined && clock.monotonic() < expiresAt;
    },
  };
}
