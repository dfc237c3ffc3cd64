// Replicas on any machines: what they share is kept by Valkey (or Redis from 6.2 on), and without it each decides alone.

import { Redis } from 'ioredis';
import type { Clock, Timer } from '../lib/clock.ts';
import { parseJson } from '../lib/json.ts';
import { createListeners } from '../lib/listeners.ts';
import type { LineLog } from '../lib/log.ts';
import {
  type Bank,
  type CanWait,
  type Cluster,
  type ClusterState,
  ClusterUnavailable,
  type CounterName,
  type CountWindow,
  type CreditGrant,
  type CreditRequest,
  GATHER_MS,
  NoticeListeners,
  WaitingNotices,
} from './cluster.ts';
import { LocalBank } from './counters.ts';

export interface ValkeyClusterOptions {
  /** `redis://` or `rediss://`, also spelled `valkey://`; the path is the number of the database. */
  readonly url: string;
  readonly replica: string;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'startTimer'>;
  readonly log: LineLog;
}

/** One hash slot, so that scripts also run where Valkey is a cluster of its own. */
const PREFIX = '{isthmus}:';
const NOTICES = `${PREFIX}notices`;
const MEMBERS = `${PREFIX}members`;
/** Before the name of a replica: a hash of what it holds of counters. */
const HELD = `${PREFIX}held:`;
/** Notices that wait for a replica that was away; whoever missed more reads anew. */
const KEPT_NOTICES = 20_000;
/** Longer would be a request's wait. */
const COMMAND_MS = 500;
const CONNECT_MS = 2000;
const BLOCK_MS = 5000;
const HEARTBEAT_MS = 2000;
const GONE_MS = 10_000;
/** Listened to here alone: another replica could not tell its notices for a while. */
const MISSED = 'cluster.missed';
const JOINED = 'cluster.joined';

/**
 * What is stored and was not counted is mostly what a replica used alone and has not told of yet. So long it is not
 * counted again when that tells of it; what it has not stored is counted once it is.
 */
const RAISED_SECONDS = 3600;

/**
 * Before what counts. The last of ARGV: until when, by the server's clock. Whoever asked has given it up by then and
 * counts it elsewhere: a server that stood still would do it late, on a connection where nobody hears of it.
 */
const IN_TIME = `
local time = redis.call('TIME')
if tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000 > tonumber(ARGV[#ARGV]) then return redis.error_reply('LATE') end
`;

/**
 * KEYS: counter, what is held. ARGV: window, limit, amount, batch, initial, 1 for what is held, certain. As
 * `LocalBank.lease`, by the server's clock. What is kept beside the counter of a minute outlives it: where that is missing as
 * well, the server lost both.
 */
const LEASE = `${IN_TIME}
local now = tonumber(time[1])
local limit, amount, batch, initial = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local used, seconds, counts = 0, {}, {}
local keep = ARGV[1] == 'long' and 3456000 or 172800
if ARGV[1] ~= 'minute' then
  local stored = redis.call('GET', KEYS[1])
  used = tonumber(stored or 0)
  local held = tonumber(redis.call('HGET', KEYS[2], KEYS[1]) or 0)
  local least = ARGV[6] == '1' and tonumber(ARGV[7]) + held or 0
  if not stored or least > used then
    local known = used
    used = stored and least or initial + held
    redis.call('SET', KEYS[1], used, 'EX', keep)
    if stored then
      redis.call('INCRBY', KEYS[1] .. ':raised', used - known)
      redis.call('EXPIRE', KEYS[1] .. ':raised', ${RAISED_SECONDS})
    end
  end
else
  local fields = redis.call('HGETALL', KEYS[1])
  for index = 1, #fields, 2 do
    local second, count = tonumber(fields[index]), tonumber(fields[index + 1])
    if now - second >= 60 or second > now then redis.call('HDEL', KEYS[1], fields[index]) else
      used = used + count
      counts[second] = count
      table.insert(seconds, second)
    end
  end
  if not redis.call('SET', KEYS[1] .. ':kept', 1, 'EX', 120, 'GET') and initial > 0 then
    redis.call('HINCRBY', KEYS[1], now, initial)
    redis.call('EXPIRE', KEYS[1], 120)
    used = used + initial
    if not counts[now] then table.insert(seconds, now) end
    counts[now] = (counts[now] or 0) + initial
  end
end
local room, granted = limit - used, 0
if amount <= room then
  granted = amount + math.max(0, math.min(batch - amount, math.floor((room - amount) / 8)))
end
if granted > 0 then
  if ARGV[1] ~= 'minute' then
    redis.call('INCRBY', KEYS[1], granted)
    redis.call('EXPIRE', KEYS[1], keep)
  else
    redis.call('HINCRBY', KEYS[1], now, granted)
    redis.call('EXPIRE', KEYS[1], 120)
  end
  if ARGV[6] == '1' then
    redis.call('HINCRBY', KEYS[2], KEYS[1], granted)
    redis.call('EXPIRE', KEYS[2], keep)
  end
end
local wait = 0
if granted < amount and ARGV[1] == 'minute' then
  table.sort(seconds)
  local left = used
  for _, second in ipairs(seconds) do
    if left <= limit - amount then break end
    left = left - counts[second]
    if left <= limit - amount then
      wait = (second + 60 - now) * 1000 - math.floor(tonumber(time[2]) / 1000)
    end
  end
end
return {granted, used + granted, wait}`;

/** KEYS: counter, held. ARGV: window; amount, negative if used; how much is held no more. As `LocalBank.giveBack`. */
const GIVE_BACK = `${IN_TIME}
local now, amount, held = tonumber(time[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if held > 0 then
  local known = tonumber(redis.call('HGET', KEYS[2], KEYS[1]) or 0)
  if known > held then redis.call('HINCRBY', KEYS[2], KEYS[1], -held) else
    redis.call('HDEL', KEYS[2], KEYS[1])
    amount = amount - (held - known)
  end
end
if amount == 0 then return end
if ARGV[1] ~= 'minute' then
  if redis.call('EXISTS', KEYS[1]) == 0 then return end
  if redis.call('INCRBY', KEYS[1], -amount) < 0 then redis.call('SET', KEYS[1], 0) end
  redis.call('EXPIRE', KEYS[1], ARGV[1] == 'long' and 3456000 or 172800)
  return
end
if amount < 0 then redis.call('HINCRBY', KEYS[1], now, -amount) else
  local fields, seconds, counts = redis.call('HGETALL', KEYS[1]), {}, {}
  for index = 1, #fields, 2 do
    local second = tonumber(fields[index])
    counts[second] = tonumber(fields[index + 1])
    table.insert(seconds, second)
  end
  table.sort(seconds, function(left, right) return left > right end)
  for _, second in ipairs(seconds) do
    local taken = math.min(amount, counts[second])
    if taken > 0 then redis.call('HINCRBY', KEYS[1], second, -taken) end
    amount = amount - taken
  end
end
redis.call('EXPIRE', KEYS[1], 120)`;

/**
 * After a time without Valkey. KEYS: counter, what is held. ARGV: window, what was used meanwhile, what is held now, what
 * was used before as far as is known.
 */
const RESTATE = `${IN_TIME}
local held = tonumber(ARGV[3])
local missing = held - tonumber(redis.call('HGET', KEYS[2], KEYS[1]) or 0)
local keep = ARGV[1] == 'long' and 3456000 or 172800
local used = tonumber(ARGV[2])
local raised = math.min(used, tonumber(redis.call('GET', KEYS[1] .. ':raised') or 0))
if raised > 0 then
  redis.call('DECRBY', KEYS[1] .. ':raised', raised)
  used = used - raised
end
if held > 0 then
  redis.call('HSET', KEYS[2], KEYS[1], held)
  redis.call('EXPIRE', KEYS[2], keep)
else redis.call('HDEL', KEYS[2], KEYS[1]) end
if ARGV[1] == 'minute' then
  redis.call('HINCRBY', KEYS[1], time[1], used)
  redis.call('EXPIRE', KEYS[1], 120)
elseif ARGV[4] ~= '' or redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('SET', KEYS[1], ARGV[4], 'NX')
  if redis.call('INCRBY', KEYS[1], used + missing) < 0 then redis.call('SET', KEYS[1], 0) end
  redis.call('EXPIRE', KEYS[1], keep)
end`;

/**
 * KEYS: members. ARGV: this replica; milliseconds until one is gone; how the keys begin of what they hold; 1 when it leaves.
 * Answers whether this one was known, all there are, and the time. What those held that are gone is there again. Where nobody was
 * heard of for so long Valkey was away, and all have as long again to come back.
 */
const MEET = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local latest = tonumber(redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or now)
if now - latest > tonumber(ARGV[2]) then
  for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], now, name) end
end
local isNew = redis.call('ZADD', KEYS[1], ARGV[4] == '1' and 0 or now, ARGV[1])
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))) do
  local fields = redis.call('HGETALL', ARGV[3] .. name)
  for index = 1, #fields, 2 do
    local known = redis.call('GET', fields[index])
    if known then
      redis.call('SET', fields[index], math.max(0, tonumber(known) - tonumber(fields[index + 1])), 'KEEPTTL')
    end
  end
  redis.call('DEL', ARGV[3] .. name)
  redis.call('ZREM', KEYS[1], name)
end
return {isNew, redis.call('ZRANGE', KEYS[1], 0, -1), now}`;

type ScriptArgs = (string | number)[];

/** The first two as long as it takes: what is answered late may have been done in time. */
interface Scripts {
  lease(counter: string, held: string, ...args: ScriptArgs): Promise<[number, number, number]>;
  giveBack(counter: string, held: string, ...args: ScriptArgs): Promise<null>;
  restate(counter: string, held: string, ...args: ScriptArgs): Promise<null>;
  meet(members: string, ...args: ScriptArgs): Promise<[isNew: number, replicas: string[]]>;
}

/** What the client calls an error that the server answered. */
const REFUSAL = 'ReplyError';

const LOST = 'Valkey cannot be used: until it can, this replica decides by itself.';

/** Joins, or goes on alone until Valkey is there: never rejects. */
export async function joinValkeyCluster(options: ValkeyClusterOptions): Promise<Cluster> {
  const cluster = new ValkeyCluster(options);
  await cluster.start();
  return cluster;
}

class ValkeyCluster implements Cluster {
  readonly replica: string;
  readonly notices: Cluster['notices'];
  readonly values: Cluster['values'];
  readonly bank: Bank;
  readonly subscribe: Cluster['subscribe'];
  readonly #options: ValkeyClusterOptions;
  readonly #redis: Redis;
  readonly #inTime: Deadline;
  readonly #scripts: Scripts;
  readonly #reader: NoticeReader;
  readonly #listeners: NoticeListeners;
  readonly #bank: FallbackBank;
  readonly #tellState: (state: ClusterState) => void;
  #state: ClusterState;
  #untold: { readonly topic: string; notice: unknown }[] = [];
  readonly #waiting = new WaitingNotices();
  /** What is untold is told before anything else happens. */
  #isDue = false;
  #gathering: Timer | undefined;
  #heartbeat: Timer | undefined;
  #isClosed = false;
  /** Why it does not serve, as far as it or the way to it says. */
  #reason: Pick<Error, 'name' | 'message'> | undefined;

  constructor(options: ValkeyClusterOptions) {
    const { url, replica, clock, log } = options;
    this.#options = options;
    this.replica = replica;
    const onFault = (error: unknown): void => {
      log.warn({ error }, 'A notice of another replica could not be taken.');
    };
    this.#listeners = new NoticeListeners(onFault);
    const changes = createListeners<ClusterState>(onFault);
    this.#tellState = changes.tell;
    this.subscribe = changes.add;
    this.#redis = connect(url);
    this.#redis.on('error', (error) => {
      this.#reason = error;
    });
    this.#inTime = createDeadline(clock);
    this.#scripts = defineScripts(this.#redis, clock, this.#inTime);
    this.#reader = new NoticeReader(connect(url), {
      ...{ replica, inTime: this.#inTime },
      take: (topic, notice, from) => this.#take(topic, notice, from),
      onGap: () => this.#listeners.catchUp(),
    });
    this.#bank = new FallbackBank({
      clock,
      held: `${HELD}${replica}`,
      scripts: this.#scripts,
      inTime: this.#inTime,
      isConnected: () => this.#state.isConnected,
      onFault: (error) => this.#lose(error),
    });
    this.bank = this.#bank;
    const since = clock.now();
    this.#state = { kind: 'valkey', isConnected: false, since, replicas: [replica] };
    this.notices = {
      tell: ({ name }, notice, canWait) => this.#tell(name, notice, canWait),
      listen: (topic, listener) => this.#listeners.add(topic, listener),
    };
    this.values = {
      put: async (key, value, lifetimeMs) => {
        await this.#ask(() => this.#redis.set(`${PREFIX}value:${key}`, value, 'PX', lifetimeMs));
      },
      get: (key) => this.#askText(() => this.#redis.get(`${PREFIX}value:${key}`)),
      take: (key) => this.#askText(() => this.#redis.getdel(`${PREFIX}value:${key}`)),
    };
  }

  readonly state = (): ClusterState => {
    const isRefused = !this.#state.isConnected && this.#reason?.name === REFUSAL;
    return isRefused ? { ...this.#state, refusal: this.#reason?.message } : this.#state;
  };

  readonly catchUp = (): void => this.#listeners.catchUp();

  /** Resolves when it is joined, or when Valkey cannot be used. */
  async start(): Promise<void> {
    const { log } = this.#options;
    await this.#beat();
    if (this.#state.isConnected) return;
    log.warn({ error: this.#reason?.message }, LOST);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#heartbeat?.cancel();
    this.#gathering?.cancel();
    this.#flush();
    if (this.#state.isConnected) {
      const { meet } = this.#scripts;
      await meet(MEMBERS, this.replica, GONE_MS, HELD, 1).catch(() => undefined);
    }
    this.#reader.close();
    this.#redis.disconnect();
  }

  #tell<Notice>(topic: string, notice: Notice, canWait?: CanWait<Notice>): void {
    if (!this.#state.isConnected) return;
    const entry: { topic: string; notice: unknown } = { topic, notice };
    if (canWait === undefined || !this.#waiting.join(topic, entry, canWait))
      this.#untold.push(entry);
    if (canWait !== undefined) {
      this.#gathering ??= this.#options.clock.startTimer(GATHER_MS, () => {
        this.#gathering = undefined;
        this.#flush();
      });
      return;
    }
    if (!this.#isDue) queueMicrotask(() => this.#flush());
    this.#isDue = true;
  }

  #flush(): void {
    this.#isDue = false;
    if (this.#untold.length === 0) return;
    const text = JSON.stringify(this.#untold.map(({ topic, notice }) => [topic, notice]));
    this.#untold = [];
    this.#waiting.clear();
    const limit = ['MAXLEN', '~', KEPT_NOTICES] as const;
    const added = this.#redis.xadd(NOTICES, ...limit, '*', 'from', this.replica, 'notices', text);
    this.#inTime(added).catch((error: unknown) => this.#lose(error));
  }

  #take(topic: string, notice: unknown, from: string): void {
    if (topic === MISSED) this.#listeners.catchUp();
    else if (topic === JOINED) void this.#meet();
    else this.#listeners.take(topic, notice, from);
  }

  /** Says that this replica is there, and finds out whether Valkey is. */
  async #beat(): Promise<void> {
    await this.#meet();
    if (this.#isClosed) return;
    this.#heartbeat = this.#options.clock.startTimer(HEARTBEAT_MS, () => void this.#beat());
  }

  async #meet(): Promise<void> {
    const { isConnected } = this.#state;
    try {
      await begin(this.#redis, this.#inTime);
      // One that left is no member again.
      if (this.#isClosed) return;
      // The client goes on in the first one where there is none of this number.
      const { db = 0 } = this.#redis.options;
      if (!isConnected && db !== 0) await this.#inTime(this.#redis.select(db));
      const answer = await this.#scripts.meet(MEMBERS, this.replica, GONE_MS, HELD, 0);
      await this.#reader.start();
      this.#found(...answer);
    } catch (error) {
      this.#noteReason(error);
      if (isConnected) return this.#lose(error);
      // It is not just slow for a moment: what it still does late, nobody hears.
      renew(this.#redis);
      this.#reader.renew();
    }
  }

  /** @param isNew 1 also for one that stood still for so long that it was taken for gone, or where all was deleted */
  #found(isNew: number, replicas: readonly string[]): void {
    const wasConnected = this.#state.isConnected && isNew === 0;
    const known = this.#state.replicas;
    const isSame =
      known.length === replicas.length && known.every((name) => replicas.includes(name));
    if (wasConnected && isSame) return;
    const { clock, log } = this.#options;
    const since = wasConnected ? this.#state.since : clock.now();
    this.#state = { ...this.#state, isConnected: true, since, replicas };
    if (!wasConnected) {
      this.#reason = undefined;
      log.info({ replicas: replicas.length }, 'This replica shares its state through Valkey.');
      this.#bank.settle();
      this.#tell(JOINED, this.replica);
      this.#tell(MISSED, null);
      this.#listeners.catchUp();
    }
    this.#tellState(this.#state);
  }

  /** What the client says of a connection that is gone tells less than what ended it. */
  #noteReason(error: unknown): void {
    if (error instanceof Error && error.name === REFUSAL) this.#reason = error;
  }

  #lose(error: unknown): void {
    if (!this.#state.isConnected || this.#isClosed) return;
    const { clock, log } = this.#options;
    this.#noteReason(error);
    log.warn({ error: this.#reason?.message }, LOST);
    this.#untold = [];
    this.#reader.renew();
    this.#state = {
      ...this.#state,
      isConnected: false,
      since: clock.now(),
      replicas: [this.replica],
    };
    this.#tellState(this.#state);
  }

  async #askText(run: () => Promise<string | null>): Promise<string | undefined> {
    return (await this.#ask(run)) ?? undefined;
  }

  async #ask<Answer>(run: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#inTime(run());
    } catch (error) {
      this.#lose(error);
      throw new ClusterUnavailable('Valkey does not answer.', { cause: error });
    }
  }
}

/** A command that is not answered is never sent twice, and none waits for a connection. */
function connect(url: string): Redis {
  const redis = new Redis(url.replace(/^valkey(s?):/, 'redis$1:'), {
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // A server that still loads says so to whoever asks.
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    retryStrategy: (attempt) => Math.min(100 * attempt, 1000),
    // Another took its place: the address may lead there by now.
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  });
  // Each command tells of its own failure.
  redis.on('error', () => undefined);
  return redis;
}

async function begin(redis: Redis, inTime: Deadline): Promise<void> {
  if (redis.status === 'wait') await inTime(redis.connect(), CONNECT_MS);
}

/** The old connection may lead to nobody, or to a server that another took the place of. */
function renew(redis: Redis): void {
  if (redis.status === 'connect' || redis.status === 'ready') redis.disconnect(true);
}

type Deadline = <Answer>(answer: Promise<Answer>, mostMs?: number) => Promise<Answer>;

/** Gives an answer up that takes too long. A process that was busy for as long first reads what came meanwhile. */
function createDeadline({ startTimer }: Pick<Clock, 'startTimer'>): Deadline {
  return (answer, mostMs = COMMAND_MS) =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new Error('Valkey took too long.'));
      // Between one and the next the sockets are read.
      const timer = startTimer(mostMs, () => void setImmediate(setImmediate, giveUp));
      answer.then(resolve, reject).finally(() => timer.cancel());
    });
}

function defineScripts(
  redis: Redis,
  { monotonic }: Pick<Clock, 'monotonic'>,
  inTime: Deadline,
): Scripts {
  redis.defineCommand('isthmusLease', { numberOfKeys: 2, lua: LEASE });
  redis.defineCommand('isthmusGiveBack', { numberOfKeys: 2, lua: GIVE_BACK });
  redis.defineCommand('isthmusRestate', { numberOfKeys: 2, lua: RESTATE });
  redis.defineCommand('isthmusMeet', { numberOfKeys: 1, lua: MEET });
  // What `defineCommand` adds has no types.
  const defined = redis as unknown as Record<
    'isthmusLease' | 'isthmusGiveBack' | 'isthmusRestate' | 'isthmusMeet',
    (...args: unknown[]) => Promise<never>
  >;
  /** Of the server's clock before that of this process; unknown before they met. */
  let aheadMs = Number.POSITIVE_INFINITY;
  const until = (): number =>
    Math.min(Math.floor(monotonic() + aheadMs) + COMMAND_MS, Number.MAX_SAFE_INTEGER);
  return {
    lease: (...args) => defined.isthmusLease(...args, until()),
    giveBack: (...args) => defined.isthmusGiveBack(...args, until()),
    restate: (...args) => inTime(defined.isthmusRestate(...args, until())),
    async meet(...args) {
      const answer: [number, string[], number] = await inTime(defined.isthmusMeet(...args));
      aheadMs = answer[2] - monotonic();
      return [answer[0], answer[1]];
    },
  };
}

interface ReaderOptions {
  /** What it told itself comes back, and is not read. */
  readonly replica: string;
  readonly inTime: Deadline;
  take(topic: string, notice: unknown, from: string): void;
  /** Notices were dropped before they were read. */
  onGap(): void;
}

/** Reads the stream of notices from where it stands, and goes on there after a break. */
class NoticeReader {
  readonly #redis: Redis;
  readonly #options: ReaderOptions;
  #lastId: string | undefined;
  #isRunning = false;
  #isClosed = false;

  constructor(redis: Redis, options: ReaderOptions) {
    this.#redis = redis;
    this.#options = options;
  }

  /** Resolves when every notice from now on will be read. */
  async start(): Promise<void> {
    if (this.#isRunning || this.#isClosed) return;
    const { inTime } = this.#options;
    await begin(this.#redis, inTime);
    const [first] = await inTime(this.#redis.xrange(NOTICES, '-', '+', 'COUNT', 1));
    const [last] = await inTime(this.#redis.xrevrange(NOTICES, '+', '-', 'COUNT', 1));
    const newest = last?.[0] ?? '0-0';
    const known = this.#lastId;
    // Dropped up to here, or a server that lost everything.
    const isGap =
      known !== undefined && (isBefore(newest, known) || isBefore(known, first?.[0] ?? known));
    if (known === undefined || isGap) this.#lastId = newest;
    if (isGap) this.#options.onGap();
    this.#isRunning = true;
    void this.#run();
  }

  renew(): void {
    renew(this.#redis);
  }

  close(): void {
    this.#isClosed = true;
    this.#redis.disconnect();
  }

  async #run(): Promise<void> {
    try {
      while (!this.#isClosed) {
        const from = this.#lastId ?? '0-0';
        const limits = ['COUNT', 500, 'BLOCK', BLOCK_MS] as const;
        const answer = await this.#options.inTime(
          this.#redis.xread(...limits, 'STREAMS', NOTICES, from),
          BLOCK_MS + COMMAND_MS,
        );
        for (const [, entries] of answer ?? []) {
          for (const [id, fields] of entries) {
            this.#lastId = id;
            this.#deliver(fields);
          }
        }
      }
    } catch {
      // The next heartbeat starts it again, or finds that Valkey is gone.
      this.#isRunning = false;
      this.renew();
    }
  }

  #deliver([, from = '', , text = '[]']: readonly string[]): void {
    if (from === this.#options.replica) return;
    const notices = parseJson(text);
    if (!Array.isArray(notices)) return;
    for (const notice of notices) {
      if (!Array.isArray(notice)) continue;
      const [topic, value = null] = notice;
      if (typeof topic === 'string') this.#options.take(topic, value, from);
    }
  }
}

/** Ids of a stream are two numbers, the first of milliseconds. */
function isBefore(left: string, right: string): boolean {
  const [leftMs = 0, leftCount = 0] = left.split('-').map(Number);
  const [rightMs = 0, rightCount = 0] = right.split('-').map(Number);
  return leftMs === rightMs ? leftCount < rightCount : leftMs < rightMs;
}

interface FallbackOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The key of what this replica holds. */
  readonly held: string;
  readonly scripts: Scripts;
  readonly inTime: Deadline;
  readonly isConnected: () => boolean;
  readonly onFault: (error: unknown) => void;
}

/** What Valkey is told of a counter when it is there again. */
interface Untold {
  readonly window: CountWindow;
  /** What was used before, as the last who asked knew; undefined where nobody did. */
  readonly initial: number | undefined;
  /** What runs here holds. */
  readonly held: number;
  readonly used: number;
}

/** Counts in Valkey; while that is away here, against the whole limit, and tells Valkey of it afterwards. */
class FallbackBank implements Bank {
  readonly isLocal = false;
  readonly #options: FallbackOptions;
  #alone: LocalBank | undefined;
  readonly #untold = new Map<string, Untold>();

  constructor(options: FallbackOptions) {
    this.#options = options;
  }

  async lease(request: CreditRequest): Promise<CreditGrant> {
    const { counter, window, limit, amount, batch, initial, isHeld = false } = request;
    const { certain = 0 } = request;
    const { scripts, inTime, isConnected, onFault } = this.#options;
    if (!isConnected()) return this.#leaseAlone(request);
    const keys = this.#keysOf(counter);
    const args = [window, limit, amount, batch, initial, isHeld ? 1 : 0, certain];
    const answer = scripts.lease(...keys, ...args);
    try {
      const [granted, used, retryAfterMs] = await inTime(answer);
      if (isHeld) this.#note(request, { held: granted, initial });
      return { granted, used, retryAfterMs };
    } catch (error) {
      onFault(error);
      // Nobody waits any more for what may still be granted.
      answer
        .then(([granted]) => scripts.giveBack(...keys, window, granted, isHeld ? granted : 0))
        .catch(() => undefined);
      return this.#leaseAlone(request);
    }
  }

  giveBack(name: CounterName, amount: number, held = 0): void {
    const { scripts, inTime, isConnected, onFault } = this.#options;
    this.#note(name, { held: -held });
    if (!isConnected()) {
      this.#alone?.giveBack(name, amount);
      this.#note(name, { used: held - amount });
      return;
    }
    const keys = this.#keysOf(name.counter);
    const answer = scripts.giveBack(...keys, name.window, amount, held);
    answer.catch(() => this.#note(name, { used: held - amount }));
    inTime(answer).catch(onFault);
  }

  /** Valkey is there again. */
  settle(): void {
    this.#alone = undefined;
    const { scripts, onFault } = this.#options;
    for (const [counter, { window, initial, held, used }] of this.#untold) {
      this.#note({ counter, window }, { used: -used });
      scripts
        .restate(...this.#keysOf(counter), window, used, held, initial ?? '')
        .catch((error: unknown) => {
          onFault(error);
          this.#note({ counter, window }, { used, initial });
        });
    }
  }

  #leaseAlone(request: CreditRequest): CreditGrant {
    const { counter, initial, isHeld = false } = request;
    this.#alone ??= new LocalBank(this.#options.clock);
    const known = this.#untold.get(counter);
    const used = initial + (known?.held ?? 0);
    const grant = this.#alone.lease({ ...request, isHeld: false, initial: used });
    const before = { initial: known?.initial ?? initial };
    const { granted } = grant;
    this.#note(request, isHeld ? { held: granted, ...before } : { used: granted, ...before });
    return grant;
  }

  #keysOf(counter: string): [string, string] {
    return [`${PREFIX}counter:${counter}`, this.#options.held];
  }

  #note({ counter, window }: CounterName, change: Partial<Omit<Untold, 'window'>>): void {
    const known = this.#untold.get(counter);
    const held = Math.max(0, (known?.held ?? 0) + (change.held ?? 0));
    const used = (known?.used ?? 0) + (change.used ?? 0);
    const initial = change.initial ?? known?.initial;
    if (held === 0 && used === 0) this.#untold.delete(counter);
    else this.#untold.set(counter, { window, initial, held, used });
  }
}
