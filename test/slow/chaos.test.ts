// `npm run test:cluster`: three replicas behind nginx, while all that can break breaks, one after the other: replicas
// are killed, stopped, restarted and upgraded, stores are killed, and the network between them is cut.

import { request as sendRequest } from 'node:http';
import { setTimeout as last } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../fuzz/random.ts';
import { type Balancer, hasBalancer, startBalancer } from '../support/balancer.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { type Link, openLink } from '../support/link.ts';
import { buildCommit, findFirstCommit, type OldBuild } from '../support/old-build.ts';
import { POSTGRES_BIN, startPostgres, type TestServer } from '../support/postgres.ts';
import { startValkey, VALKEY, type ValkeyServer } from '../support/valkey.ts';

/** Of each run; docs/proven.md tells of one with 10,000. */
const REQUESTS = Number(process.env.ISTHMUS_CHAOS_REQUESTS ?? 1000);
const SEED = Number(process.env.ISTHMUS_CHAOS_SEED ?? 22);
/** Everything breaks once in so many. */
const REQUESTS_OF_ROUND = 2500;
const CLIENTS = 12;
const REPLICAS = 3;
/** Nothing here takes so long but what hangs. */
const HANGS_MS = 90_000;
const KEY = 'sk-chaos-0123456789abcdef';
/** The whole answer of each request: what ends in the middle has less. */
const WORDS = 12;

const isWhole =
  process.env.ISTHMUS_SLOW === '1' &&
  VALKEY !== undefined &&
  POSTGRES_BIN !== undefined &&
  hasBalancer('nginx');
if (process.env.ISTHMUS_SLOW === '1' && !isWhole) {
  console.warn('PostgreSQL, Valkey OR nginx IS MISSING: nothing of replicas that break is tried.');
}

/** The first with replicas on both stores: from there on one may upgrade replica by replica. */
const firstClustered = findFirstCommit(['src/cluster/valkey.ts', 'src/compose/shared-database.ts']);
if (firstClustered === undefined) {
  console.warn('THERE IS NO HISTORY OF THE REPOSITORY: no upgrade of replicas is tried.');
}

/** With the replay of nginx, or without any: then what a replica had in hand is lost with it. */
type Way = 'replayed' | 'once';

interface Outcome {
  readonly way: Way;
  readonly isStream: boolean;
  /** `false` is what says that it is whole, and is not. */
  readonly kind: 'whole' | 'cut' | 'lost' | 'false';
  /** The replica that answered or should have. */
  readonly port: number | undefined;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly detail: string;
}

/** A replica, and its own network to each store. */
interface Seat {
  readonly port: number;
  readonly toDatabase: Link;
  readonly toValkey: Link;
  gateway?: RunningGateway | undefined;
  isReady: boolean;
}

interface Death {
  readonly port: number;
  readonly at: number;
}

describe.skipIf(!isWhole)(`three replicas behind nginx, ${REQUESTS} requests`, () => {
  let database: TestServer;
  let store: ValkeyServer;
  let balancer: Balancer;
  let old: OldBuild | undefined;
  const seats: Seat[] = [];
  const deaths: Death[] = [];

  beforeAll(async () => {
    database = await startPostgres();
    store = await startValkey();
    const databaseUrl = new URL(await database.createDatabase());
    const valkeyUrl = new URL(store.url);
    for (let place = 0; place < REPLICAS; place += 1) {
      seats.push({
        port: await freePort(),
        toDatabase: await openLink(Number(databaseUrl.port)),
        toValkey: await openLink(Number(valkeyUrl.port)),
        isReady: false,
      });
    }
    urls = { databaseUrl, valkeyUrl };
    const ports = seats.map(({ port }) => port);
    // Each answer names the replica it is of.
    balancer = await startBalancer('nginx', ports, (config) =>
      config.replace(/listen .*;\n/, '$&    add_header X-Replica $upstream_addr always;\n'),
    );
  }, 300_000);

  afterAll(async () => {
    for (const seat of seats) await seat.gateway?.stop();
    await balancer.close();
    for (const seat of seats) {
      await seat.toDatabase.close();
      await seat.toValkey.close();
    }
    await store.close();
    await database.close();
    old?.remove();
  }, 300_000);

  let urls: { readonly databaseUrl: URL; readonly valkeyUrl: URL };

  const start = async (seat: Seat, main?: string): Promise<void> => {
    const through = (url: URL, { port }: Link): string => {
      const changed = new URL(url);
      changed.port = String(port);
      return changed.href;
    };
    const environment = {
      DATABASE_URL: through(urls.databaseUrl, seat.toDatabase),
      REDIS_URL: through(urls.valkeyUrl, seat.toValkey),
      ISTHMUS_SECRET_KEY: 'the-secret-key-of-all-replicas',
      API_KEY: KEY,
      WEB_PASSWORD: 'a-console-password',
      TRUSTED_PROXIES: '127.0.0.1',
      // Longer than a busy machine leaves a connection waiting.
      ISTHMUS_DRAIN_DELAY: '3',
      LOG_LEVEL: 'warn',
    };
    seat.gateway = await startGateway(environment, ['--port', String(seat.port)], [], main);
    seat.isReady = true;
  };
  /** In the middle of a stream, for those are what it cuts. */
  const kill = async (seat: Seat): Promise<void> => {
    while (!streaming.has(seat.port)) await new Promise(setImmediate);
    deaths.push({ port: seat.port, at: performance.now() });
    seat.isReady = false;
    seat.gateway?.signal('SIGKILL');
    await seat.gateway?.ended;
    await seat.gateway?.stop();
  };
  const restart = async (seat: Seat, main?: string): Promise<void> => {
    // As a balancer that asks does: nothing new is sent to whoever says that it leaves.
    seat.isReady = false;
    await seat.gateway?.stop();
    await start(seat, main);
  };
  const eachSeat = async (work: (seat: Seat) => Promise<void>): Promise<void> => {
    for (const seat of seats) await work(seat);
  };

  const faults = (random: () => number): readonly (readonly [string, () => Promise<void>])[] => {
    const any = (): Seat => seats[Math.floor(random() * REPLICAS)] ?? raise();
    const cut = (link: (seat: Seat) => Link, how: 'refuse' | 'silence') => async () => {
      const seat = any();
      await link(seat)[how]();
      await last(1000 + 1500 * random());
      await link(seat).heal();
    };
    return [
      ['kill of a replica', () => killed(any())],
      ['kill of another replica', () => killed(any())],
      [
        'stop of a replica, and going on',
        async () => {
          const seat = any();
          seat.gateway?.signal('SIGSTOP');
          await last(1000 + 1000 * random());
          seat.gateway?.signal('SIGCONT');
        },
      ],
      ['cut to PostgreSQL, refused', cut(({ toDatabase }) => toDatabase, 'refuse')],
      ['cut to PostgreSQL, silent', cut(({ toDatabase }) => toDatabase, 'silence')],
      ['cut to Valkey, refused', cut(({ toValkey }) => toValkey, 'refuse')],
      ['cut to Valkey, silent', cut(({ toValkey }) => toValkey, 'silence')],
      [
        'crash of PostgreSQL',
        async () => {
          await database.kill();
          await last(1000);
          await database.start();
        },
      ],
      [
        'crash of Valkey',
        async () => {
          await store.kill();
          await last(1000);
          await store.restart();
        },
      ],
      ['rolling restart', () => eachSeat((seat) => restart(seat))],
    ];
  };
  const killed = async (seat: Seat): Promise<void> => {
    await kill(seat);
    await start(seat);
  };

  test('nothing is lost but what a killed replica had in hand, and nothing at all with replay', async () => {
    await eachSeat((seat) => start(seat));
    const random = createRandom(SEED).next;
    const rounds = Math.ceil(REQUESTS / REQUESTS_OF_ROUND);
    const plans = Array.from({ length: rounds }, () => shuffle(faults(random), random));
    await run('breaking', plans.flat());
    await expectHealed();
  }, 3_600_000);

  test.skipIf(firstClustered === undefined)(
    'an upgrade from the first clustered version, one replica after the other, loses nothing',
    async () => {
      const build = buildCommit(firstClustered ?? '');
      old = build;
      for (const seat of seats) await seat.gateway?.stop();
      // That version opens no database of a newer one.
      urls = { ...urls, databaseUrl: new URL(await database.createDatabase()) };
      await eachSeat((seat) => start(seat, build.main));
      const upgrades = seats.map(
        (seat, place) => [`upgrade of replica ${place + 1}`, () => restart(seat)] as const,
      );
      await run('upgrade', upgrades);
      await expectHealed();
    },
    3_600_000,
  );

  /** Asks on and on, while one fault follows the other, spread over all requests. */
  async function run(
    name: string,
    plan: readonly (readonly [string, () => Promise<void>])[],
  ): Promise<void> {
    const outcomes: Outcome[] = [];
    let isOver = false;
    const client = async (index: number): Promise<void> => {
      const way = index % 2 === 0 ? 'replayed' : 'once';
      for (let turn = index; !isOver; turn += 1) outcomes.push(await ask(way, turn));
    };
    const load = Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
    const reached = (count: number): Promise<void> =>
      expect
        .poll(() => outcomes.length, { timeout: 1_800_000, interval: 20 })
        .toBeGreaterThanOrEqual(count);
    for (const [index, [what, fault]] of plan.entries()) {
      await reached(((index + 1) * REQUESTS) / (plan.length + 1));
      const beganAt = performance.now();
      await fault();
      report(`${name}: ${what}`, outcomes, beganAt);
    }
    await reached(REQUESTS);
    isOver = true;
    await load;
    report(`${name}: all`, outcomes, 0);
    expect(outcomes.filter((outcome) => !isForgiven(outcome))).toEqual([]);
  }

  /** What a killed replica had in hand; of what nginx sends again only streams that had begun. */
  function isForgiven({ kind, way, isStream, port, beganAt, endedAt }: Outcome): boolean {
    if (kind === 'whole') return true;
    const wasInHand = deaths.some(
      (death) => death.port === port && beganAt <= death.at && death.at <= endedAt,
    );
    const isCutStream = isStream && kind === 'cut';
    return wasInHand && (isCutStream || (way === 'once' && kind === 'lost'));
  }

  async function ask(way: Way, turn: number): Promise<Outcome> {
    const isStream = turn % 4 === 0;
    const beganAt = performance.now();
    const end = (kind: Outcome['kind'], port: number | undefined, detail: string): Outcome => ({
      ...{ way, isStream, kind, port, beganAt, endedAt: performance.now(), detail },
    });
    if (way === 'replayed') {
      return post(Number(new URL(balancer.url).port), isStream, (_port, kind, detail, replica) =>
        end(kind, replica, detail),
      );
    }
    // As a balancer does that never sends twice: only who takes no connection is passed over.
    for (let place = turn; ; place += 1) {
      const seat = seats[place % REPLICAS];
      if (seat?.isReady !== true) {
        if (performance.now() - beganAt > HANGS_MS) return end('lost', undefined, 'none is ready');
        await new Promise(setImmediate);
        continue;
      }
      const outcome = await post(seat.port, isStream, (port, kind, detail) =>
        detail.includes('ECONNREFUSED') ? undefined : end(kind, port, detail),
      );
      if (outcome !== undefined) return outcome;
    }
  }

  async function expectHealed(): Promise<void> {
    for (const { port } of seats) {
      await expect
        .poll(
          async () => {
            const metrics = await fetch(`http://127.0.0.1:${port}/metrics`, {
              headers: { authorization: 'Bearer a-console-password' },
            });
            const text = await metrics.text();
            return ['isthmus_database_up 1', 'isthmus_valkey_up 1'].filter(
              (line) => !text.includes(line),
            );
          },
          { timeout: 60_000 },
        )
        .toEqual([]);
    }
  }
});

/** Replicas with a stream that has begun, by the port that was asked. */
const streaming = new Set<number>();

/** Each on a connection of its own. @param onEnd given the replica that nginx says it was, where it says so */
function post<Result>(
  port: number,
  isStream: boolean,
  onEnd: (port: number, kind: Outcome['kind'], detail: string, replica?: number) => Result,
): Promise<Result> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(HANGS_MS);
    let replica: number | undefined;
    let text = '';
    let hasBegun = false;
    const end = (kind: Outcome['kind'], detail: string): void => {
      streaming.delete(port);
      resolve(onEnd(port, kind, detail, replica));
    };
    const broken = (error: Error): void => {
      const detail = `${'code' in error ? error.code : ''} ${error.message}`;
      // After its last event nothing is missing.
      if (text.includes('[DONE]')) end(judgeWords(isStream, text), detail);
      else end(hasBegun && isStream ? 'cut' : 'lost', detail);
    };
    const sent = sendRequest(
      {
        ...{ port, host: '127.0.0.1', path: '/v1/chat/completions', method: 'POST', signal },
        ...{ agent: false, headers: { ...HEADERS, authorization: `Bearer ${KEY}` } },
      },
      (response) => {
        hasBegun = response.statusCode === 200;
        replica = Number(/:(\d+)$/.exec(String(response.headers['x-replica'] ?? ''))?.[1]);
        if (isStream && hasBegun) streaming.add(port);
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', broken);
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          end(judge(status, isStream, text), `${status} ${text.slice(-300)}`);
        });
      },
    );
    sent.on('error', broken);
    sent.end(
      JSON.stringify({
        ...{ model: 'alpha-3-flash', stream: isStream },
        messages: [
          {
            role: 'user',
            content: `${isStream ? 'UPSTREAM-SLOW 30 ' : ''}UPSTREAM-WORDS ${WORDS}`,
          },
        ],
      }),
    );
  });
}

const HEADERS = { 'content-type': 'application/json' };

/** Of an answer that came to its end. */
function judge(status: number, isStream: boolean, text: string): Outcome['kind'] {
  if (status !== 200) return 'lost';
  if (isStream && !/data: \[DONE\]\s*$/.test(text)) return 'cut';
  return judgeWords(isStream, text);
}

function judgeWords(isStream: boolean, text: string): Outcome['kind'] {
  return countWords(isStream, text) === WORDS ? 'whole' : 'false';
}

function countWords(isStream: boolean, text: string): number {
  const bodies = isStream
    ? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json))
    : [JSON.parse(text)];
  const content = bodies
    .map(({ choices: [choice] }) => (choice?.delta ?? choice?.message)?.content ?? '')
    .join('');
  return content.split(/\s+/).filter((word: string) => word !== '').length;
}

function report(what: string, outcomes: readonly Outcome[], since: number): void {
  const seen = outcomes.filter(({ endedAt }) => endedAt >= since);
  const count = (is: (outcome: Outcome) => boolean): number => seen.filter(is).length;
  const slowest = Math.max(0, ...seen.map(({ beganAt, endedAt }) => endedAt - beganAt));
  console.log(
    `${what}: ${seen.length} requests, ${count(({ isStream }) => isStream)} of them streams; ` +
      `replayed: ${count(({ way, kind }) => way === 'replayed' && kind === 'lost')} lost, ` +
      `${count(({ way, kind }) => way === 'replayed' && kind === 'cut')} streams cut; ` +
      `sent once: ${count(({ way, kind }) => way === 'once' && kind === 'lost')} lost, ` +
      `${count(({ way, kind }) => way === 'once' && kind === 'cut')} streams cut; ` +
      `slowest ${(slowest / 1000).toFixed(1)} s`,
  );
}

function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item);
}

function raise(): never {
  throw new Error('There is no such replica.');
}
