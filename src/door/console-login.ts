// Who may use the console: passwords, the sessions they begin, and one-time links.

import { createHmac, randomBytes } from 'node:crypto';
import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/told.ts';
import type { BegunSession, ConsoleSessions } from './console-sessions.ts';
import { isSameText, type PasswordHasher } from './password-hash.ts';
import type { SignInLinks } from './sign-in-links.ts';
import { createSignInThrottle } from './sign-in-throttle.ts';

export interface ConsoleLogin {
  /** False while neither a console password nor an API key is configured. */
  readonly needsPassword: boolean;
  /**
   * Checks a password; every wrong one counts, wherever it was shown.
   * @throws GatewayError rate-limited after too many
   */
  isPassword(given: string, address: string): Promise<boolean>;
  /** @throws GatewayError unauthenticated, or as `isPassword` */
  signIn(given: string, by: Browser): Promise<BegunSession>;
  /** A session for a browser that was let in before the password became another. */
  goOn(by: Browser): Promise<BegunSession>;
  /** Undefined for a secret that is used up, too old or none. Whether the browser is here is for the caller to know. */
  redeemLink(secret: string, by: Browser): Promise<BegunSession | undefined>;
  createLink(): string;
  findSession(secret: string): { readonly expiresAt: number } | undefined;
  /** As `findSession`, but asking does not keep it alive. */
  hasSession(secret: string): boolean;
  /** Another one for every other password. */
  readonly passwordTag: string;
  /** Of the name of the cookie: this gateway's own, and the same on all of its replicas. */
  readonly cookieTag: string;
  endAllSessions(): Promise<void>;
}

interface Browser {
  readonly address: string;
  /** The secret of the session it has already, which ends. */
  readonly cookie: string | undefined;
}

export interface ConsoleLoginOptions {
  /** In plain or as a hash; undefined while nothing is configured. */
  readonly password: () => string | undefined;
  /** Waits while a password in plain is being replaced by its hash: sessions and feeds know theirs by how it is stored. */
  readonly passwordSettled?: (() => Promise<void>) | undefined;
  /** What the command line on this machine shows instead. */
  readonly machineToken: string;
  readonly hasher: PasswordHasher;
  readonly sessions: ConsoleSessions;
  readonly links: SignInLinks;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Keys the tags by which sessions know their password; the same after a restart. */
  readonly tagKey: Buffer;
}

/** Longer ones are none: hashing them would only cost. */
const MOST_CHARACTERS = 1_024;
const COOKIE_TAG_CHARACTERS = 8;

export function createConsoleLogin(options: ConsoleLoginOptions): ConsoleLogin {
  const { password, machineToken, hasher, sessions, links, clock, tagKey } = options;
  const settled = options.passwordSettled ?? (async () => {});
  const throttle = createSignInThrottle(clock);
  const verify = rememberLast(hasher);
  const tag = (): string =>
    createHmac('sha256', tagKey)
      .update(password() ?? '')
      .digest('base64url');
  const cookieTag = createHmac('sha256', tagKey)
    .update('name of the cookie')
    .digest('hex')
    .slice(0, COOKIE_TAG_CHARACTERS);
  const isPassword = shareTries(async (given, address) => {
    // Too long to be guessed, so looking at it is no try.
    if (isSameText(given, machineToken)) return true;
    await settled();
    throttle.begin(address);
    const isRight = await verify(password(), given.slice(0, MOST_CHARACTERS + 1));
    if (!isRight || given.length > MOST_CHARACTERS) return false;
    throttle.succeed(address);
    return true;
  });
  return {
    get needsPassword() {
      return password() !== undefined;
    },
    isPassword,
    async signIn(given, { address, cookie }) {
      await settled();
      // Of the password that is looked at: when it becomes another meanwhile, the session is none.
      const checked = tag();
      if (await isPassword(given, address)) return sessions.begin(checked, cookie);
      throw new GatewayError({
        kind: 'unauthenticated',
        source: 'client',
        field: 'password',
        message: told`The password is not right. It is WEB_PASSWORD, else admin_password of the config file, else the API key.`,
      });
    },
    goOn: ({ cookie }) => sessions.begin(tag(), cookie),
    async redeemLink(secret, { cookie }) {
      if (!links.redeem(secret)) return undefined;
      await settled();
      return sessions.begin(tag(), cookie);
    },
    createLink: () => links.create(),
    findSession: (secret) => sessions.find(secret, tag()),
    hasSession: (secret) => sessions.has(secret, tag()),
    get passwordTag() {
      return tag();
    },
    cookieTag,
    endAllSessions: () => sessions.endAll(),
  };
}

/** The same password from the same address at the same moment is one try, not several. */
function shareTries(check: ConsoleLogin['isPassword']): ConsoleLogin['isPassword'] {
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
