// The access token of one account: given while it is good, renewed once for all who need a newer one.

import type { AccessOptions, Account } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import {
  createTokenEndpoint,
  type OAuthDirectory,
  type OAuthFetch,
  type OAuthLog,
  unlessAborted,
} from './oauth-client.ts';
import {
  type Access,
  describeFault,
  type HeldToken,
  isRevoked,
  Renewal,
  retryAfterOf,
  toGatewayError,
} from './renewal.ts';

interface TokenRequest {
  readonly refresh: boolean;
  readonly refused?: string | undefined;
}

interface Credentials {
  readonly credential: string;
  readonly credentialKind: 'api-key' | 'access-token';
}

interface AccountTokensOptions {
  readonly renewal: Renewal;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: OAuthLog;
  /** Fields that name the account in the log. */
  readonly subject: object;
}

/** A failed renewal: until then all get its error, or the old token while it lasts. */
interface Pause {
  readonly until: number;
  readonly failures: number;
  readonly error: GatewayError;
}

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 300_000;
/** A key that was replaced in storage is in use after this, also when nobody said so. */
const KEY_KEPT_MS = 1000;
/** Who says `refresh` without naming the refused token means an older one than a token this young. */
const JUST_RENEWED_MS = 10_000;

const NONE: ReadonlySet<string> = new Set();

class AccountTokens {
  readonly #options: AccountTokensOptions;
  #held: Access | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #pause: Pause | undefined;
  #renewing: Promise<Access> | undefined;
  #generation = 0;

  constructor(options: AccountTokensOptions) {
    this.#options = options;
  }

  /** @throws GatewayError */
  access(request: TokenRequest): Credentials | Promise<Credentials> {
    const refused = this.#refusedOf(request);
    const held = this.#held;
    if (held === undefined) return this.#renewed(refused);
    const now = this.#options.clock.monotonic();
    const credentials = credentialsOf(held);
    if (held.kind === 'api-key') {
      return now < this.#readAt + KEY_KEPT_MS ? credentials : this.#renewed(NONE);
    }
    if (refused.has(credentials.credential) || now >= held.token.staleFrom) {
      return this.#renewed(refused);
    }
    if (now >= held.token.renewFrom && !this.#isPaused()) {
      // Whoever waits for it learns of a failure; the log has it already.
      this.#startRenewal(NONE).catch(() => {});
    }
    return credentials;
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

  /** The access tokens this caller must not be given. */
  #refusedOf({ refresh, refused }: TokenRequest): ReadonlySet<string> {
    if (!refresh) return NONE;
    if (refused !== undefined) return new Set([refused]);
    if (this.#held?.kind !== 'token') return NONE;
    const { renewedAt, accessToken } = this.#held.token;
    const isYoung = this.#options.clock.monotonic() - renewedAt < JUST_RENEWED_MS;
    return isYoung ? NONE : new Set([accessToken]);
  }

  async #renewed(refused: ReadonlySet<string>): Promise<Credentials> {
    const wasUnderWay = this.#renewing !== undefined;
    try {
      if (!wasUnderWay && this.#pause !== undefined && this.#isPaused()) throw this.#pause.error;
      const credentials = credentialsOf(await this.#startRenewal(refused));
      // A renewal begun for another reason may have brought just what was refused.
      const isStill = wasUnderWay && refused.has(credentials.credential);
      return isStill ? credentialsOf(await this.#startRenewal(refused)) : credentials;
    } catch (error) {
      const credentials = this.#lasting(refused);
      if (credentials === undefined) throw error;
      return credentials;
    }
  }

  #startRenewal(refused: ReadonlySet<string>): Promise<Access> {
    // The present token is what is to be replaced, whatever a clock that was set says of its end.
    const known = this.#held?.kind === 'token' ? [this.#held.token.accessToken] : [];
    this.#renewing ??= this.#renew(new Set([...refused, ...known])).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(refused: ReadonlySet<string>): Promise<Access> {
    const { renewal, clock } = this.#options;
    const startedIn = this.#generation;
    try {
      const access = await renewal.run(refused);
      if (startedIn !== this.#generation) return access;
      this.#held = access;
      this.#readAt = clock.monotonic();
      this.#pause = undefined;
      return access;
    } catch (fault) {
      const error = toGatewayError(fault);
      if (startedIn === this.#generation) this.#pauseAfter(fault, error);
      throw error;
    }
  }

  #pauseAfter(fault: unknown, error: GatewayError): void {
    const { clock, random, log, subject } = this.#options;
    const failures = (this.#pause?.failures ?? 0) + 1;
    const stepMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    const jitteredMs = stepMs * (1 - random() / 5);
    const waitMs = Math.min(Math.max(jitteredMs, retryAfterOf(fault) ?? 0), MAX_PAUSE_MS);
    this.#pause = { until: clock.monotonic() + waitMs, failures, error };
    const words = isRevoked(fault)
      ? 'the provider refused the refresh token of an account'
      : 'the access token of an account could not be renewed';
    log.warn({ ...subject, ...describeFault(fault), failures, waitMs }, words);
  }

  #isPaused(): boolean {
    return this.#pause !== undefined && this.#options.clock.monotonic() < this.#pause.until;
  }

  /** What is in hand while it is not over, unless it is what was refused. */
  #lasting(refused: ReadonlySet<string>): Credentials | undefined {
    const access = this.#held ?? fallbackOf(this.#options.renewal.fallback);
    if (access === undefined) return undefined;
    const isOver =
      access.kind === 'token' && access.token.expiresAt <= this.#options.clock.monotonic();
    const credentials = credentialsOf(access);
    return isOver || refused.has(credentials.credential) ? undefined : credentials;
  }
}

function fallbackOf(token: HeldToken | undefined): Access | undefined {
  return token && { kind: 'token', token };
}

function credentialsOf(access: Access): Credentials {
  return access.kind === 'api-key'
    ? { credential: access.key, credentialKind: 'api-key' }
    : { credential: access.token.accessToken, credentialKind: 'access-token' };
}

export type OAuthTokenSource = ReturnType<typeof createTokenSource>;

export interface TokenSourceOptions {
  readonly book: Pick<
    AccountBook,
    'readCredential' | 'replaceCredential' | 'proxyUrl' | 'subscribe'
  >;
  readonly oauth: OAuthDirectory;
  readonly clock: Clock;
  readonly random: () => number;
  readonly fetch: OAuthFetch;
  readonly log: OAuthLog;
}

/**
 * Renewals are one at a time per account, limited to 10 s a call, and go on when a caller leaves.
 * Lifetimes count from `expires_in` on the monotonic clock: within 5 min ± 1 min of the end a token
 * in use is renewed in the background, within 90 s before it is given. Nothing is renewed unused.
 */
export function createTokenSource(options: TokenSourceOptions) {
  const { book, oauth, clock, random, log } = options;
  const endpoint = createTokenEndpoint(options);
  const closing = new AbortController();
  const accounts = new Map<string, AccountTokens>();
  const unsubscribe = book.subscribe(({ kind, account }) => {
    if (kind === 'removed') accounts.delete(account.record.id);
  });

  const tokensOf = (id: string, upstreamId: string): AccountTokens => {
    const known = accounts.get(id);
    if (known !== undefined) return known;
    const subject = { accountId: id, upstreamId };
    const parts = { book, oauth, endpoint, clock, random, log, closing: closing.signal };
    const renewal = new Renewal(subject, parts);
    const tokens = new AccountTokens({ renewal, clock, random, log, subject });
    accounts.set(id, tokens);
    return tokens;
  };

  return {
    async accessFor({ record }: Account, { refresh, refused, signal }: AccessOptions) {
      signal.throwIfAborted();
      const given = tokensOf(record.id, record.upstreamId).access({ refresh, refused });
      const credentials: Credentials =
        given instanceof Promise ? await unlessAborted(signal, given) : given;
      return {
        accountId: record.id,
        ...credentials,
        projectId: record.projectId,
        proxyUrl: book.proxyUrl(record.id),
      };
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
