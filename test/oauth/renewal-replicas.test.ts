// Replicas on one PostgreSQL with an account whose refresh token is good for once, also while the network is cut.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { openPostgres, PostgresDatabase } from '../../src/stores/postgres/session.ts';
import { type Link, openLink } from '../support/link.ts';
import {
  createTestPostgres,
  POSTGRES_BIN,
  startPostgres,
  type TestPostgres,
  type TestServer,
} from '../support/postgres.ts';
import { NEVER, openWorkshop, type Workshop } from './workshop.ts';

/** Of the event loop: what came over the network meanwhile is taken. */
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const MINUTE_MS = 60_000;

interface Replica {
  readonly workshop: Workshop;
  readonly link: Link;
  readonly database: PostgresDatabase;
}

describe.skipIf(POSTGRES_BIN === undefined)('a refresh token that is good once', () => {
  let server: TestServer;
  let postgres: TestPostgres;
  let replicas: readonly Replica[];
  let account: Account;
  let provider: Workshop['provider'];
  beforeAll(async () => {
    server = await startPostgres();
    postgres = await createTestPostgres(server);
  });
  afterAll(async () => {
    await postgres.close();
    await server.close();
  });
  beforeEach(async () => {
    await postgres.empty();
    const first = await openReplica();
    ({ provider } = first.workshop);
    const refreshToken = provider.grant('one@example.com');
    account = await first.workshop.add('one@example.com', { kind: 'oauth', refreshToken });
    const [ahead, behind] = [MINUTE_MS, -MINUTE_MS];
    replicas = [
      first,
      await openReplica(first.workshop, ahead),
      await openReplica(first.workshop, behind),
    ];
  });
  afterEach(async () => {
    for (const { database, link } of replicas) {
      await database.close();
      await link.close();
    }
  });

  test('is used once by 12 callers at three replicas', async () => {
    const asked = Array.from({ length: 12 }, (_, index) => access(index % 3));
    expect(new Set(await settled(asked)).size).toBe(1);
    await expectOneRenewal();
  });

  test('is used once while a replica is cut off, which has the new token as soon as it is back', async () => {
    at(0).link.silence();
    const cutOff = Promise.allSettled(Array.from({ length: 4 }, () => access(0)));
    const asked = Array.from({ length: 8 }, (_, index) => access(1 + (index % 2)));
    const [token] = await settled(asked);
    const outcomes = await cutOff;
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    await at(0).link.heal();
    expect(await healed(0)).toBe(token);
    await expectOneRenewal();
  });

  test('is used once when the replica that renews is cut off before it can store the new one', async () => {
    const sent = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    provider.script(async (process) => {
      const reply = process();
      sent.resolve();
      await goOn.promise;
      return reply;
    });
    const renewing = access(0).catch(() => undefined);
    await sent.promise;
    at(0).link.silence();
    let isServed = false;
    const waiting = [access(1), access(2)];
    void Promise.all(waiting).then(() => {
      isServed = true;
    });
    goOn.resolve();
    await renewing;
    expect(isServed).toBe(false);
    await at(0).link.heal();
    const token = await healed(0);
    expect(await settled(waiting)).toEqual([token, token]);
    await expectOneRenewal();
  });

  test('gives tokens that are renewed in turn and never used after their end, whose clocks differ by a minute', async () => {
    const seenAt = new Map<string, number>();
    const { clock, pass } = at(0).workshop;
    for (let minute = 0; minute < 150; minute += 1) {
      for (let place = 0; place < 3; place += 1) {
        const [token = ''] = await settled([access((place + minute) % 3)]);
        const since = seenAt.get(token) ?? clock.now();
        seenAt.set(token, since);
        expect(clock.now() - since).toBeLessThan(60 * MINUTE_MS);
      }
      await pass(MINUTE_MS);
    }
    // Of an hour each; they are renewed some minutes before.
    expect(seenAt.size).toBeLessThanOrEqual(4);
    expect(provider.count('/token')).toBe(seenAt.size);
  });

  function at(place: number): Replica {
    const replica = replicas[place];
    if (replica === undefined) throw new Error('There is no such replica.');
    return replica;
  }

  function access(place: number): Promise<string> {
    return at(place)
      .workshop.tokens.accessFor(account, { refresh: false, signal: NEVER })
      .then(({ credential }) => credential);
  }

  /** Lets those that wait for another's turn look again, as often as that takes. */
  async function settled<Value>(promises: readonly Promise<Value>[]): Promise<Value[]> {
    let isOver = false;
    const all = Promise.all(promises).finally(() => {
      isOver = true;
    });
    // The clock goes on as the database does, or a turn would be over before its work could be done.
    while (!isOver) {
      await at(1).workshop.book.readCredential(account.record.id);
      await at(0).workshop.pass(10);
    }
    return all;
  }

  /** What a replica gives that has its database back: it pauses a little after each failure. */
  async function healed(place: number): Promise<string> {
    const { book, pass } = at(place).workshop;
    for (;;) {
      // Its clock stands still until the database answers: hours would pass, and the token be over.
      const isBack = await book.readCredential(account.record.id).then(
        () => true,
        () => false,
      );
      const token = isBack ? await access(place).catch(() => undefined) : undefined;
      if (token !== undefined) return token;
      await (isBack ? pass(500) : nextTurn());
    }
  }

  async function expectOneRenewal(): Promise<void> {
    expect(provider.count('/token')).toBe(1);
    const stored = await at(1).workshop.book.readCredential(account.record.id);
    expect(stored?.credential).toMatchObject({ kind: 'oauth' });
    const { credential } = stored ?? {};
    expect(credential?.kind === 'oauth' && provider.isAlive(credential.refreshToken)).toBe(true);
  }

  /** With a network of its own to the database. */
  async function openReplica(beside?: Workshop, aheadMs = 0): Promise<Replica> {
    const url = new URL(postgres.url);
    const link = await openLink(Number(url.port));
    url.port = String(link.port);
    const { clock, vault } = postgres;
    const database = new PostgresDatabase({
      ...{ url: url.href, clock, random: Math.random, poolSize: 4 },
      ...{ connectTimeoutMs: 1000, statementTimeoutMs: 1000 },
    });
    const { accounts: store, leases } = await openPostgres({ database, vault, clock });
    const own = { store, leases };
    const workshop = beside?.restart({ ...own, aheadMs }) ?? openWorkshop(own);
    return {
      workshop: await workshop,
      ...{ link, database },
    };
  }
});
