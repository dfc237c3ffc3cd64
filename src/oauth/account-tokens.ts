// The access token of one account: given while it is good, renewed once for all who need a newer one.

import type {
  AccessOptions,
  Account,
  OAuthCredential,
  ServiceAccountCredential,
  VersionedCredential,
} from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { StoreError } from '../accounts/account-store.ts';
import { type GatewayError, upstreamError } from '../canonical/error.ts';
import type { LeaseStore } from '../cluster/leases.ts';
import { unlessAborted } from '../lib/clock.ts';
import { textOf, told } from '../lib/localized-message.ts';
import {
  type EndpointOptions,
  NEVER,
  type OAuthDirectory,
  OAuthFault,
  type Reach,
  TokenEndpoint,
  toCredential,
} from './oauth-client.ts';

export interface TokenSourceOptions extends EndpointOptions {
  readonly book: Pick<
    AccountBook,
    'readCredential' | 'replaceCredential' | 'proxyUrl' | 'subscribe'
  >;
  readonly oauth: OAuthDirectory;
  readonly random: () => number;
  /** Where other processes use the same accounts: who of them renews. A refresh token may be good for once only. */
  readonly turns?: { readonly leases: LeaseStore; readonly holder: string } | undefined;
}

interface TokenParts extends TokenSourceOptions {
  readonly endpoint: TokenEndpoint;
  /** Ends the wait before a refusal is believed; requests under way are let finish. */
  readonly closing: AbortSignal;
}

/** Names the account, in the log too. */
type Subject = Readonly<Record<'accountId' | 'upstreamId', string>>;

/** An access token in hand, and how long it is good by the monotonic clock. */
interface HeldToken {
  readonly credentialKind: 'access-token';
  readonly credential: string;
  /** All in monotonic milliseconds. */
  readonly renewedAt: number;
  /** From here on it is renewed in the background while it is used. */
  readonly renewFrom: number;
  /** From here on it is renewed before it is used. */
  readonly staleFrom: number;
  readonly expiresAt: number;
}

type Access = HeldToken | { readonly credentialKind: 'api-key'; readonly credential: string };

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 300_000;
/** A longer one spares nobody where nobody was reached, and the network of this machine may be back at any moment. */
const MAX_UNREACHED_MS = 10_000;
const UNREACHED: readonly unknown[] = ['unreachable', 'too-slow', 'gateway-proxy'];
/** Which may be over within seconds; a provider that is slow has been waited for. */
const PASSING: readonly unknown[] = ['unreachable', 'busy', 'storage'];
/** A key that was replaced in storage is in use after this, also without a notice of it. */
const KEY_KEPT_MS = 1000;
/** Who says `refresh` without naming the refused token means an older one than a token this young. */
const JUST_RENEWED_MS = 10_000;

/** With less left than this, a token is renewed before it is used. */
const MARGIN_MS = 90_000;
const AHEAD_MS = 300_000;
const AHEAD_JITTER_MS = 60_000;
const CONFIRM_AFTER_MS = 5000;
/** How long one process may take for a renewal; the call itself has 10 s. */
const TURN_MS = 30_000;
/** Of that so much must be left when the call begins. */
const CALL_MS = 15_000;
/** Until it is looked again whether another process is done. */
const OTHERS_MS = 2000;
const MAX_ROUNDS = 6;

/** Rotated, but not on disk: its access token is not used before it is. */
interface Unsaved {
  readonly credential: OAuthCredential;
  readonly version: number;
  readonly token: HeldToken;
}

const NONE: ReadonlySet<string> = new Set();

/** Renews so that no rotated refresh token is ever lost or used twice. */
class AccountTokens {
  readonly #parts: TokenParts;
  readonly #subject: Subject;
  #held: Access | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** After a failed renewal: until then all get its error, or the old token while it lasts. */
  #pause: { until: number; failures: number; error: GatewayError } | undefined;
  #renewing: Promise<Access> | undefined;
  #generation = 0;
  /** A stored access token that is not over yet, found while renewing. */
  #fallback: HeldToken | undefined;
  #unsaved: Unsaved | undefined;
  /** The version whose refusal was waited out once; refused again, the refusal stands. */
  #refusedVersion: number | undefined;

  constructor(parts: TokenParts, subject: Subject) {
    this.#parts = parts;
    this.#subject = subject;
  }

  /** @throws GatewayError */
  access(request: Pick<AccessOptions, 'refresh' | 'refused'>): Access | Promise<Access> {
    const refused = request.refresh ? this.#refusedOf(request.refused) : NONE;
    const held = this.#held;
    if (held === undefined) return this.#renewed(refused);
    const now = this.#parts.clock.monotonic();
    if (held.credentialKind === 'api-key') {
      return now < this.#readAt + KEY_KEPT_MS ? held : this.#renewed(NONE);
    }
    if (now >= held.staleFrom || refused.has(held.credential)) return this.#renewed(refused);
    if (now >= held.renewFrom && !this.#isPaused()) {
      // Callers that wait for it get the failure; the log has it already.
      this.#startRenewal(NONE).catch(() => {});
    }
    return held;
  }

  /** The stored credential was replaced by another hand: nothing known of the old one counts. */
  forget(): void {
    this.#generation += 1;
    this.#held = undefined;
    this.#pause = undefined;
  }

  /** Resolves when no renewal is under way. */
  async settled(): Promise<void> {
    await this.#renewing?.catch(() => {});
  }

  /** The access tokens a caller must not be given who asks for another than the refused one. */
  #refusedOf(refused: string | undefined): ReadonlySet<string> {
    if (refused !== undefined) return new Set([refused]);
    if (this.#held?.credentialKind !== 'access-token') return NONE;
    const { renewedAt, credential } = this.#held;
    const isYoung = this.#parts.clock.monotonic() - renewedAt < JUST_RENEWED_MS;
    return isYoung ? NONE : new Set([credential]);
  }

  async #renewed(refused: ReadonlySet<string>): Promise<Access> {
    const wasUnderWay = this.#renewing !== undefined;
    try {
      if (!wasUnderWay && this.#pause !== undefined && this.#isPaused()) throw this.#pause.error;
      const access = await this.#startRenewal(refused);
      // A renewal begun for another reason may have brought just what was refused.
      const isStill = wasUnderWay && refused.has(access.credential);
      return isStill ? await this.#startRenewal(refused) : access;
    } catch (error) {
      const access = this.#lasting(refused);
      if (access === undefined) throw error;
      return access;
    }
  }

  #startRenewal(refused: ReadonlySet<string>): Promise<Access> {
    // The present token is what is to be replaced, whatever a clock that was set says of its end.
    const held = this.#held;
    const known = held?.credentialKind === 'access-token' ? [held.credential] : [];
    this.#renewing ??= this.#renew(new Set([...refused, ...known])).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(refused: ReadonlySet<string>): Promise<Access> {
    const startedIn = this.#generation;
    try {
      const access = await this.#renewStored(refused);
      if (startedIn !== this.#generation) return access;
      this.#held = access;
      this.#readAt = this.#parts.clock.monotonic();
      this.#pause = undefined;
      return access;
    } catch (fault) {
      const error = toGatewayError(fault);
      if (startedIn === this.#generation) this.#pauseAfter(fault, error);
      throw error;
    }
  }

  #pauseAfter(fault: unknown, error: GatewayError): void {
    const { clock, random, log } = this.#parts;
    const known = fault instanceof OAuthFault ? fault : undefined;
    const failures = (this.#pause?.failures ?? 0) + 1;
    const mostMs = UNREACHED.includes(known?.kind) ? MAX_UNREACHED_MS : MAX_PAUSE_MS;
    const stepMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), mostMs);
    const jitteredMs = stepMs * (1 - random() / 5);
    const waitMs = Math.min(Math.max(jitteredMs, known?.facts.retryAfterMs ?? 0), MAX_PAUSE_MS);
    this.#pause = { until: clock.monotonic() + waitMs, failures, error };
    // Nothing a provider or a driver wrote unscrubbed.
    const facts = known?.facts ?? { detail: fault instanceof Error ? fault.name : typeof fault };
    const detail = facts.detail && textOf(facts.detail);
    const fields = { ...this.#subject, fault: known?.kind ?? 'unexpected', ...facts, detail };
    const words =
      known?.kind === 'revoked'
        ? 'the provider refused the refresh token of an account'
        : 'the access token of an account could not be renewed';
    log.warn({ ...fields, failures, waitMs }, words);
  }

  #isPaused(): boolean {
    return this.#pause !== undefined && this.#parts.clock.monotonic() < this.#pause.until;
  }

  /** What is in hand while it is not over, unless it is what was refused. */
  #lasting(refused: ReadonlySet<string>): Access | undefined {
    const access = this.#held ?? this.#fallback;
    if (access === undefined || refused.has(access.credential)) return undefined;
    const isToken = access.credentialKind === 'access-token';
    return isToken && access.expiresAt <= this.#parts.clock.monotonic() ? undefined : access;
  }

  /** @param refused access tokens that must not be given again, although storage may hold them. @throws OAuthFault */
  async #renewStored(refused: ReadonlySet<string>): Promise<Access> {
    this.#fallback = undefined;
    const late = await this.#saveLate(refused);
    if (late !== undefined) return late;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const stored = await this.#read();
      try {
        const access = await this.#renewCredential(stored, refused);
        if (access !== undefined) return access;
      } catch (error) {
        const isRevoked = error instanceof OAuthFault && error.kind === 'revoked';
        if (!isRevoked || !(await this.#isDoubtful(stored.version))) throw error;
      }
    }
    throw new OAuthFault('storage', { detail: told`the stored credential keeps changing` });
  }

  /** A rotated token that could not be kept before; nothing else is asked while it cannot be now. */
  async #saveLate(refused: ReadonlySet<string>): Promise<HeldToken | undefined> {
    if (this.#unsaved === undefined) return undefined;
    const token = await this.#saveRotated(this.#unsaved);
    if (token === undefined || refused.has(token.credential)) return undefined;
    return token.staleFrom <= this.#parts.clock.monotonic() ? undefined : token;
  }

  async #read(): Promise<VersionedCredential> {
    const { book } = this.#parts;
    const stored = await book.readCredential(this.#subject.accountId).catch(throwStorageFault);
    if (stored === undefined) throw new OAuthFault('gone');
    return stored;
  }

  /** Undefined when another credential came first: it is the one to go on with. */
  async #renewCredential(
    { credential, version }: VersionedCredential,
    refused: ReadonlySet<string>,
  ): Promise<Access | undefined> {
    if (credential.kind === 'api-key') {
      return { credentialKind: 'api-key', credential: credential.key };
    }
    if (credential.kind === 'service-account') return this.#trade(credential);
    const stored = this.#storedToken(credential, refused);
    const goodUntil = (stored?.expiresAt ?? 0) - MARGIN_MS;
    if (stored !== undefined && goodUntil > this.#parts.clock.monotonic()) return stored;
    this.#fallback = stored;
    return this.#refreshInTurn(credential, version);
  }

  /** Undefined when another process renews it, or has: what it stored is to be read then. */
  async #refreshInTurn(
    credential: OAuthCredential,
    version: number,
  ): Promise<HeldToken | undefined> {
    const { turns, clock, closing } = this.#parts;
    if (turns === undefined) return this.#refresh(credential, version);
    const { leases, holder } = turns;
    const name = `token of ${this.#subject.accountId}`;
    const takenAt = clock.monotonic();
    const lease = await leases.take(name, holder, TURN_MS).catch(throwStorageFault);
    if (lease === undefined) {
      await clock.sleep(OTHERS_MS, closing);
      return undefined;
    }
    try {
      const isNewest = (await this.#read()).version === version;
      // A process that stood still may have lost its turn.
      const isInTime = clock.monotonic() - takenAt < TURN_MS - CALL_MS;
      return isNewest && isInTime ? await this.#refresh(credential, version) : undefined;
    } finally {
      // What is not given back ends by itself.
      await leases.release(name, holder, lease.fence).catch(() => undefined);
    }
  }

  #storedToken({ accessToken, expiresAt }: OAuthCredential, refused: ReadonlySet<string>) {
    const { clock } = this.#parts;
    const remainingMs = (expiresAt ?? 0) - clock.now();
    if (accessToken === undefined || remainingMs <= 0 || refused.has(accessToken)) return undefined;
    return this.#hold(accessToken, remainingMs, clock.monotonic());
  }

  async #refresh(credential: OAuthCredential, version: number): Promise<HeldToken | undefined> {
    const { oauth, clock, endpoint } = this.#parts;
    const settings = oauth.get(this.#subject.upstreamId);
    if (settings === undefined) throw new OAuthFault('unconfigured');
    const [sentAt, sentAtWall] = [clock.monotonic(), clock.now()];
    const reply = await endpoint.refresh(settings, credential.refreshToken, this.#reach());
    const token = this.#hold(reply.accessToken, reply.lifetimeMs, sentAt);
    const next = { credential: toCredential(reply, credential, sentAtWall), version, token };
    const isRotated = next.credential.refreshToken !== credential.refreshToken;
    return isRotated ? this.#saveRotated(next) : this.#saveCopy(next);
  }

  async #trade(key: ServiceAccountCredential): Promise<HeldToken> {
    const { oauth, clock, endpoint } = this.#parts;
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
      if (!(fault instanceof OAuthFault) || fault.kind !== 'storage') throw fault;
      const fields = { ...this.#subject, reason: fault.message };
      this.#parts.log.warn(fields, 'a new access token is kept in memory only');
      return next.token;
    }
  }

  async #save({ credential, version, token }: Unsaved): Promise<HeldToken | undefined> {
    const { accountId } = this.#subject;
    const saved = await this.#parts.book
      .replaceCredential(accountId, credential, version)
      .catch(throwStorageFault);
    if (saved === 'missing') {
      this.#unsaved = undefined;
      throw new OAuthFault('gone');
    }
    return saved === 'stale' ? undefined : token;
  }

  /** True when it is worth another try; false when the refusal stands. */
  async #isDoubtful(version: number): Promise<boolean> {
    if ((await this.#read()).version !== version) return true;
    if (this.#refusedVersion === version) return false;
    this.#refusedVersion = version;
    await this.#parts.clock.sleep(CONFIRM_AFTER_MS, this.#parts.closing);
    return true;
  }

  /** No call is cut short by a shutdown: the answer may hold the only copy of a rotated token. */
  #reach(): Reach {
    return { signal: NEVER, proxyUrl: this.#parts.book.proxyUrl(this.#subject.accountId) };
  }

  /** @param askedAt when the token was asked for, so that the way here counts against it */
  #hold(accessToken: string, lifetimeMs: number, askedAt: number): HeldToken {
    const expiresAt = askedAt + lifetimeMs;
    // A token of a few minutes is used for half of its life at least.
    const half = lifetimeMs / 2;
    // Spreads the renewals of many accounts.
    const aheadMs = AHEAD_MS + (2 * this.#parts.random() - 1) * AHEAD_JITTER_MS;
    return {
      credentialKind: 'access-token',
      credential: accessToken,
      renewedAt: askedAt,
      renewFrom: expiresAt - Math.min(aheadMs, half),
      staleFrom: expiresAt - Math.min(MARGIN_MS, half),
      expiresAt,
    };
  }
}

export type OAuthTokenSource = ReturnType<typeof createTokenSource>;

/**
 * Renewals are one at a time per account, limited to 10 s a call, and go on when a caller leaves.
 * Lifetimes count from `expires_in` on the monotonic clock: within 5 min ± 1 min of the end a token
 * in use is renewed in the background, within 90 s before it is given. Nothing is renewed unused.
 */
export function createTokenSource(options: TokenSourceOptions) {
  const { book } = options;
  const closing = new AbortController();
  const parts = { ...options, endpoint: new TokenEndpoint(options), closing: closing.signal };
  const accounts = new Map<string, AccountTokens>();
  const unsubscribe = book.subscribe(({ kind, account }) => {
    if (kind === 'removed') accounts.delete(account.record.id);
    // Perhaps by another process.
    if (kind === 'reauthenticated') accounts.get(account.record.id)?.forget();
  });
  return {
    async accessFor({ record }: Account, { refresh, refused, signal }: AccessOptions) {
      signal.throwIfAborted();
      const { id: accountId, upstreamId, projectId } = record;
      let tokens = accounts.get(accountId);
      if (tokens === undefined) {
        tokens = new AccountTokens(parts, { accountId, upstreamId });
        accounts.set(accountId, tokens);
      }
      const given = tokens.access({ refresh, refused });
      const { credential, credentialKind } =
        given instanceof Promise ? await unlessAborted(signal, given) : given;
      const proxyUrl = book.proxyUrl(accountId);
      return { accountId, credential, credentialKind, projectId, proxyUrl };
    },
    /** To be called after an account's credential was replaced: by a sign-in, an import, a person. */
    forget: (accountId: string) => accounts.get(accountId)?.forget(),
    /** Waits for renewals under way: their answers may hold the only copy of a rotated token. */
    async close() {
      unsubscribe();
      closing.abort(new Error('the gateway is closing'));
      await Promise.all([...accounts.values()].map((tokens) => tokens.settled()));
    },
  };
}

function throwStorageFault(error: unknown): never {
  const isUnreadable = error instanceof StoreError && error.fault === 'unreadable';
  const detail = isUnreadable
    ? told`the stored credential cannot be read with this secret key`
    : told`the account storage does not answer`;
  throw new OAuthFault('storage', { detail });
}

/** The error callers get: `credential-revoked` only for the provider's own confirmed word. */
function toGatewayError(fault: unknown): GatewayError {
  const known = fault instanceof OAuthFault ? fault : undefined;
  const facts = { status: known?.facts.status, detail: known?.sentence };
  if (known?.kind === 'revoked') {
    return upstreamError(
      'upstream-auth',
      told`The provider revoked the sign-in of this account. Sign it in again.`,
      { failure: { kind: 'credential-revoked', ...facts }, cause: fault },
    );
  }
  if (known?.kind === 'gateway-proxy') {
    return upstreamError(
      'upstream-unavailable',
      told`The upstream could not be reached through the proxy of the gateway.`,
      { failure: { kind: 'gateway-proxy', ...facts }, cause: fault },
    );
  }
  return upstreamError(
    known?.kind === 'too-slow' ? 'timeout' : 'upstream-unavailable',
    told`No access token is available for this account right now. Try again shortly.`,
    {
      failure: {
        ...{ kind: 'credential-unavailable', ...facts },
        ...(PASSING.includes(known?.kind) ? {} : { isTriedOut: true }),
      },
      cause: known ?? new Error('the renewal failed unexpectedly', { cause: fault }),
    },
  );
}
