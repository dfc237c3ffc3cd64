// A day nobody looks after: accounts run dry and fill up, are revoked, refused and asked to verify; requests go on.

import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';
import { type SandboxPool, startSandboxPool } from '../support/sandbox-pool.ts';

export interface DayOptions {
  readonly accounts: number;
  /** So many of them have signed in; the others have a key. */
  readonly signedIn: number;
  readonly hours: number;
  readonly requestsPerHalfHour: number;
  /** What one account may ask in five hours. */
  readonly quota: number;
  readonly seed: number;
}

export interface DayResult {
  readonly asked: number;
  /** Failed although some account had room. */
  readonly failures: readonly string[];
  /** Failed while no account had any. */
  readonly excused: number;
  /** How often each kind of trouble came. */
  readonly troubles: Readonly<Record<string, number>>;
}

const HALF_HOUR_MS = 1_800_000;
const WINDOW_MS = 5 * 3_600_000;
const MODEL = 'alpha-3-flash';
/** By how often they come. */
const TROUBLES = [
  'dry',
  'dry',
  'dry',
  'limit',
  'limit',
  'limit',
  'fault',
  'fault',
  'fault',
  'revoke',
  'revoke',
  'verify',
] as const;

export async function liveThroughDay(options: DayOptions): Promise<DayResult> {
  const { accounts, signedIn, hours, requestsPerHalfHour, quota, seed } = options;
  const random = createRandom(seed);
  const names = Array.from({ length: accounts }, (_, at) => `p${at}@sandbox.example`);
  const pool = await startSandboxPool({
    names: names.slice(signedIn),
    sandbox: {
      quotas: {
        pro: {
          text: { requests: quota, windowMs: WINDOW_MS },
          image: { requests: 2, windowMs: WINDOW_MS },
        },
      },
      accessTokenLifetimeMs: 48 * 3_600_000,
    },
    random: () => random.next(),
    starts: true,
  });
  try {
    for (const name of names.slice(0, signedIn)) await pool.signIn(name, 'pro');
    for (const name of names.slice(signedIn)) await pool.addKey(name);
    const day = new Day(pool, names, random);
    for (let step = 0; step < hours * 2; step += 1) await day.liveHalfHour(requestsPerHalfHour);
    return day.result();
  } finally {
    await pool.close();
  }
}

class Day {
  readonly #pool: SandboxPool;
  readonly #names: readonly string[];
  readonly #random: Random;
  readonly #failures: string[] = [];
  readonly #troubles: Record<string, number> = {};
  #asked = 0;
  #excused = 0;

  constructor(pool: SandboxPool, names: readonly string[], random: Random) {
    this.#pool = pool;
    this.#names = names;
    this.#random = random;
  }

  async liveHalfHour(requests: number): Promise<void> {
    for (let at = 0; at < requests; at += 1) {
      if (this.#random.chance(0.1)) await this.#makeTrouble();
      await this.#ask();
      await this.#pool.clock.advance(HALF_HOUR_MS / requests);
    }
  }

  result(): DayResult {
    const { length } = this.#failures;
    if (length > this.#asked) throw new Error('More failures than requests.');
    return {
      asked: this.#asked,
      failures: this.#failures,
      excused: this.#excused,
      troubles: this.#troubles,
    };
  }

  async #ask(): Promise<void> {
    this.#asked += 1;
    const answer = await send(this.#pool.gateway.url, this.#random.pick(PROTOCOL_CALLS), {
      model: MODEL,
      stream: this.#random.chance(0.5),
      headers: { 'x-session-id': `session ${this.#random.below(30)}` },
    });
    if (answer.status === 200) return;
    if (await this.#hasRoom()) {
      this.#failures.push(`${answer.status} ${answer.text}`);
      return;
    }
    this.#excused += 1;
    // Nobody was asked: faults that wait for the next call would meet one request all together.
    await this.#pool.control('DELETE', '/sandbox/faults');
  }

  async #makeTrouble(): Promise<void> {
    const account = this.#random.pick(this.#names);
    const kind = this.#random.pick(TROUBLES);
    this.#troubles[kind] = (this.#troubles[kind] ?? 0) + 1;
    const { control } = this.#pool;
    switch (kind) {
      case 'dry':
        await control('POST', '/sandbox/quota', { account, remainingFraction: 0 });
        return;
      case 'limit': {
        const limit = { status: 429, reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '90s' };
        await control('POST', '/sandbox/faults', { ...limit, account });
        return;
      }
      case 'fault':
        await control('POST', '/sandbox/faults', { status: this.#random.pick([500, 502, 503]) });
        return;
      case 'verify': {
        const { verificationRequired } = (await this.#members()).get(account) ?? {};
        const change = { verificationRequired: verificationRequired !== true };
        await control('POST', `/sandbox/accounts/${account}`, change);
        return;
      }
      case 'revoke':
        // A third of the pool at most, so that the day does not end early.
        if ((this.#troubles.revoke ?? 0) <= this.#names.length / 3) {
          await control('POST', `/sandbox/accounts/${account}/revoke`, {});
        }
    }
  }

  async #hasRoom(): Promise<boolean> {
    const members = await this.#members();
    const resting = await this.#resting();
    for (const name of this.#names) {
      if (resting.has(name)) continue;
      const { verificationRequired, kind, grants } = members.get(name) ?? {};
      if (verificationRequired === true || (kind === 'person' && grants === 0)) continue;
      const { models } = await this.#pool.control('GET', `/sandbox/quota?account=${name}`);
      const rows = Array.isArray(models) ? models.filter(isJsonObject) : [];
      if (rows.some((row) => row.name === MODEL && Number(row.remaining) > 0)) return true;
    }
    return false;
  }

  /** Accounts the upstream asked to leave alone for a moment: by a limit on the rate, or to verify. */
  async #resting(): Promise<Set<string>> {
    const { accounts } = await this.#pool.gateway.must('GET', '/api/accounts');
    const list = Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
    const isResting = ({ cooldowns, status }: JsonObject): boolean =>
      (isJsonObject(status) && status.kind === 'blocked') ||
      (Array.isArray(cooldowns) &&
        cooldowns.some((one) => isJsonObject(one) && one.cause === 'rate' && one.model === MODEL));
    return new Set(list.filter(isResting).map(({ label }) => String(label)));
  }

  async #members(): Promise<Map<string, JsonObject>> {
    const { accounts } = await this.#pool.control('GET', '/sandbox/accounts');
    const list = Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
    return new Map(list.map((member) => [String(member.email), member]));
  }
}
