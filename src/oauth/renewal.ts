// Renews the access token of one account, so that no rotated refresh token is ever lost or used twice.

import type {
  OAuthCredential,
  ServiceAccountCredential,
  VersionedCredential,
} from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { StoreError } from '../accounts/account-store.ts';
import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import {
  type OAuthDirectory,
  OAuthFault,
  type OAuthLog,
  type Reach,
  type TokenEndpoint,
  type TokenReply,
} from './oauth-client.ts';

/** An access token in hand, and how long it is good by the monotonic clock. */
export interface HeldToken {
  readonly accessToken: string;
  /** All three in monotonic milliseconds. */
  readonly renewedAt: number;
  /** From here on it is renewed in the background while it is used. */
  readonly renewFrom: number;
  /** From here on it is renewed before it is used. */
  readonly staleFrom: number;
  readonly expiresAt: number;
}

/** With less left than this, a token is renewed before it is used. */
const MARGIN_MS = 90_000;
const AHEAD_MS = 300_000;
const AHEAD_JITTER_MS = 60_000;

/**
 * @param monotonic when the token was asked for, so that the way here counts against it
 * @param random a number in [0, 1), which spreads the renewals of many accounts
 */
function holdToken(
  accessToken: string,
  lifetimeMs: number,
  { monotonic, random }: { readonly monotonic: number; readonly random: number },
): HeldToken {
  const expiresAt = monotonic + lifetimeMs;
  // A token of a few minutes is used for half of its life at least.
  const half = lifetimeMs / 2;
  const aheadMs = AHEAD_MS + (2 * random - 1) * AHEAD_JITTER_MS;
  return {
    accessToken,
    renewedAt: monotonic,
    renewFrom: expiresAt - Math.min(aheadMs, half),
    staleFrom: expiresAt - Math.min(MARGIN_MS, half),
    expiresAt,
  };
}

/** `gone` the account was removed · `storage` its credential could not be read or a new one not kept. */
class RenewalFault extends Error {
  readonly kind: 'gone' | 'storage';

  constructor(kind: 'gone' | 'storage', message: string) {
    super(message);
    this.name = 'RenewalFault';
    this.kind = kind;
  }
}

function storageFault(error: unknown): RenewalFault {
  const fault = error instanceof StoreError ? error.fault : 'unavailable';
  const words =
    fault === 'unreadable'
      ? told`the stored credential cannot be read with this secret key`
      : told`the account storage does not answer`;
  return new RenewalFault('storage', words);
}

export function isRevoked(error: unknown): boolean {
  return error instanceof OAuthFault && error.kind === 'revoked';
}

/** The error callers get: `credential-revoked` only for the provider's own confirmed word. */
export function toGatewayError(fault: unknown): GatewayError {
  if (isRevoked(fault)) {
    return new GatewayError({
      kind: 'upstream-auth',
      source: 'upstream',
      message: told`The provider revoked the sign-in of this account. Sign it in again.`,
      failure: { kind: 'credential-revoked', status: statusOf(fault), detail: detailOf(fault) },
      cause: fault,
    });
  }
  return new GatewayError({
    kind: isTimeout(fault) ? 'timeout' : 'upstream-unavailable',
    source: 'upstream',
    message: told`No access token could be had for this account just now. Try again shortly.`,
    failure: { kind: 'credential-unavailable', status: statusOf(fault), detail: detailOf(fault) },
    cause: isOurs(fault) ? fault : new Error('the renewal failed unexpectedly', { cause: fault }),
  });
}

/** Fields for the log: nothing a provider or a driver wrote unscrubbed. */
export function describeFault(fault: unknown): object {
  if (fault instanceof OAuthFault) return { fault: fault.kind, ...fault.facts };
  if (fault instanceof RenewalFault) return { fault: fault.kind, detail: fault.message };
  return { fault: 'unexpected', detail: fault instanceof Error ? fault.name : typeof fault };
}

function isOurs(fault: unknown): boolean {
  return fault instanceof OAuthFault || fault instanceof RenewalFault;
}

function isTimeout(fault: unknown): boolean {
  return fault instanceof OAuthFault && fault.kind === 'too-slow';
}

/** The wait the provider asked for, in milliseconds. */
export function retryAfterOf(fault: unknown): number | undefined {
  return fault instanceof OAuthFault ? fault.facts.retryAfterMs : undefined;
}

function detailOf(fault: unknown): string | undefined {
  return fault instanceof OAuthFault || fault instanceof RenewalFault ? fault.message : undefined;
}

function statusOf(fault: unknown): number | undefined {
  return fault instanceof OAuthFault ? fault.facts.status : undefined;
}

export interface RenewalOptions {
  readonly book: Pick<AccountBook, 'readCredential' | 'replaceCredential' | 'proxyUrl'>;
  readonly oauth: OAuthDirectory;
  readonly endpoint: TokenEndpoint;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: OAuthLog;
  /** Ends the wait before a refusal is believed; requests under way are let finish. */
  readonly closing: AbortSignal;
}

/** Names the account, in the log too. */
export interface RenewalSubject {
  readonly accountId: string;
  readonly upstreamId: string;
}

export type Access =
  | { readonly kind: 'api-key'; readonly key: string }
  | { readonly kind: 'token'; readonly token: HeldToken };

/** Rotated, but not on disk: its access token is not used before it is. */
interface Unsaved {
  readonly credential: OAuthCredential;
  readonly version: number;
  readonly token: HeldToken;
}

const CONFIRM_AFTER_MS = 5000;
const MAX_ROUNDS = 6;
/** No call is cut short by a shutdown: the answer may hold the only copy of a rotated token. */
const NEVER = new AbortController().signal;

export class Renewal {
  /** A stored access token that is not over yet, found while renewing. */
  fallback: HeldToken | undefined;
  readonly #subject: RenewalSubject;
  readonly #options: RenewalOptions;
  #unsaved: Unsaved | undefined;
  /** The version whose refusal was waited out once; refused again, the refusal stands. */
  #refusedVersion: number | undefined;

  constructor(subject: RenewalSubject, options: RenewalOptions) {
    this.#subject = subject;
    this.#options = options;
  }

  /**
   * @param refused access tokens that must not be given again, although storage may hold them
   * @throws OAuthFault, RenewalFault
   */
  async run(refused: ReadonlySet<string>): Promise<Access> {
    this.fallback = undefined;
    const late = await this.#saveLate(refused);
    if (late !== undefined) return late;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const stored = await this.#read();
      try {
        const access = await this.#renew(stored, refused);
        if (access !== undefined) return access;
      } catch (error) {
        if (!isRevoked(error) || !(await this.#isDoubtful(stored.version))) throw error;
      }
    }
    throw new RenewalFault('storage', told`the stored credential keeps changing`);
  }

  /** A rotated token that could not be kept before; nothing else is asked while it cannot be now. */
  async #saveLate(refused: ReadonlySet<string>): Promise<Access | undefined> {
    if (this.#unsaved === undefined) return undefined;
    const token = await this.#saveRotated(this.#unsaved);
    if (token === undefined || refused.has(token.accessToken)) return undefined;
    if (token.staleFrom <= this.#options.clock.monotonic()) return undefined;
    return { kind: 'token', token };
  }

  async #read(): Promise<VersionedCredential> {
    const stored = await this.#options.book
      .readCredential(this.#subject.accountId)
      .catch((error: unknown) => {
        throw storageFault(error);
      });
    if (stored === undefined) throw new RenewalFault('gone', told`the account was removed`);
    return stored;
  }

  /** Undefined when another credential came first: it is the one to go on with. */
  async #renew(
    { credential, version }: VersionedCredential,
    refused: ReadonlySet<string>,
  ): Promise<Access | undefined> {
    if (credential.kind === 'api-key') return { kind: 'api-key', key: credential.key };
    if (credential.kind === 'service-account') {
      return { kind: 'token', token: await this.#trade(credential) };
    }
    const stored = this.#storedToken(credential, refused);
    const { clock } = this.#options;
    if (stored !== undefined && stored.expiresAt - clock.monotonic() > MARGIN_MS) {
      return { kind: 'token', token: stored };
    }
    this.fallback = stored;
    const token = await this.#refresh(credential, version);
    return token && { kind: 'token', token };
  }

  #storedToken(
    { accessToken, expiresAt }: OAuthCredential,
    refused: ReadonlySet<string>,
  ): HeldToken | undefined {
    const { clock } = this.#options;
    const remainingMs = (expiresAt ?? 0) - clock.now();
    if (accessToken === undefined || remainingMs <= 0 || refused.has(accessToken)) return undefined;
    return this.#hold(accessToken, remainingMs, clock.monotonic());
  }

  async #refresh(credential: OAuthCredential, version: number): Promise<HeldToken | undefined> {
    const { oauth, clock, endpoint } = this.#options;
    const settings = oauth.get(this.#subject.upstreamId);
    if (settings === undefined) throw new OAuthFault('unconfigured');
    const [sentAt, sentAtWall] = [clock.monotonic(), clock.now()];
    const reply = await endpoint.refresh(settings, credential.refreshToken, this.#reach());
    const token = this.#hold(reply.accessToken, reply.lifetimeMs, sentAt);
    const next = { credential: withReply(credential, reply, sentAtWall), version, token };
    const isRotated = next.credential.refreshToken !== credential.refreshToken;
    return isRotated ? this.#saveRotated(next) : this.#saveCopy(next);
  }

  async #trade(key: ServiceAccountCredential): Promise<HeldToken> {
    const { oauth, clock, endpoint } = this.#options;
    const sentAt = clock.monotonic();
    const settings = oauth.get(this.#subject.upstreamId);
    const reply = await endpoint.tradeAssertion(settings, key, this.#reach());
    return this.#hold(reply.accessToken, reply.lifetimeMs, sentAt);
  }

  /** What cannot be saved now is saved before anything else is asked. */
  async #saveRotated(next: Unsaved): Promise<HeldToken | undefined> {
    this.#unsaved = next;
    const token = await this.#save(next);
    this.#unsaved = undefined;
    return token;
  }

  /** The refresh token on disk still stands, so nothing is lost by going on without a copy. */
  async #saveCopy(next: Unsaved): Promise<HeldToken | undefined> {
    try {
      return await this.#save(next);
    } catch (fault) {
      if (!(fault instanceof RenewalFault) || fault.kind === 'gone') throw fault;
      const fields = { ...this.#subject, reason: fault.message };
      this.#options.log.warn(fields, 'a new access token is kept in memory only');
      return next.token;
    }
  }

  async #save({ credential, version, token }: Unsaved): Promise<HeldToken | undefined> {
    const saved = await this.#options.book
      .replaceCredential(this.#subject.accountId, credential, version)
      .catch((error: unknown) => {
        throw storageFault(error);
      });
    if (saved === 'missing') {
      this.#unsaved = undefined;
      throw new RenewalFault('gone', told`the account was removed`);
    }
    return saved === 'stale' ? undefined : token;
  }

  /** True when it is worth another try; false when the refusal stands. */
  async #isDoubtful(version: number): Promise<boolean> {
    if ((await this.#read()).version !== version) return true;
    if (this.#refusedVersion === version) return false;
    this.#refusedVersion = version;
    await this.#options.clock.sleep(CONFIRM_AFTER_MS, this.#options.closing);
    return true;
  }

  #reach(): Reach {
    return { signal: NEVER, proxyUrl: this.#options.book.proxyUrl(this.#subject.accountId) };
  }

  #hold(accessToken: string, lifetimeMs: number, monotonic: number): HeldToken {
    return holdToken(accessToken, lifetimeMs, { monotonic, random: this.#options.random() });
  }
}

function withReply(
  credential: OAuthCredential,
  { accessToken, refreshToken, lifetimeMs, scopes }: TokenReply,
  sentAt: number,
): OAuthCredential {
  return {
    kind: 'oauth',
    refreshToken: refreshToken ?? credential.refreshToken,
    accessToken,
    expiresAt: sentAt + lifetimeMs,
    scopes: scopes ?? credential.scopes,
  };
}
