// What the console shows live: events as they happen, figures of the last hour, the latest errors.

import type { Clock, Timer } from '../lib/clock.ts';
import type { WarnLog } from '../lib/log.ts';
import type { RequestRow } from './record.ts';
import type { AttemptSum, MinuteSum, RequestStore } from './request-store.ts';

/** Kinds kept for readers that come back: of the others only the latest is of use, or it can be read elsewhere. */
const KEPT_KINDS = ['request', 'account', 'quota', 'config', 'key', 'address-rule'] as const;
type FeedEventKind = (typeof KEPT_KINDS)[number] | 'log' | 'overview';
const KEPT: ReadonlySet<string> = new Set(KEPT_KINDS);

interface FeedEvent {
  /** Rises by one with every event of this process; the part before the dash names the process. */
  readonly id: string;
  readonly kind: FeedEventKind;
  /** Made of JSON types alone. */
  readonly content: object;
}

/** At least; they leave as many at a time. */
const KEPT_EVENTS = 100;
/** Events that wait for one reader. */
const MAX_WAITING = 200;

export type LiveFeed = ReturnType<typeof createLiveFeed>;

interface LiveFeedOptions {
  readonly clock?: Pick<Clock, 'monotonic'> | undefined;
  readonly onRead?: (() => void) | undefined;
  /** Called with each event of this process. */
  readonly onPublish?: ((event: Pick<FeedEvent, 'kind' | 'content'>) => void) | undefined;
}

const STOPPED: Pick<Clock, 'monotonic'> = { monotonic: () => 0 };

/** @param process a word without dashes that tells this process from its earlier self */
export function createLiveFeed(
  process: string,
  { clock = STOPPED, onRead, onPublish }: LiveFeedOptions = {},
) {
  const kept: (FeedEvent & { readonly place: number; readonly at: number })[] = [];
  const readers = new Set<FeedReader>();
  let count = 0;
  /** Of those that were kept. */
  let forgotten = 0;
  let lastForgotten = 0;
  let lastForgottenAt = Number.NEGATIVE_INFINITY;
  const forget = (): void => {
    const gone = kept.splice(0, KEPT_EVENTS);
    forgotten += gone.length;
    lastForgotten = gone.at(-1)?.place ?? lastForgotten;
    lastForgottenAt = gone.at(-1)?.at ?? lastForgottenAt;
  };
  const take = (kind: FeedEventKind, content: object): void => {
    count += 1;
    const event = { id: `${process}-${count}`, place: count, at: clock.monotonic(), kind, content };
    if (KEPT.has(kind)) kept.push(event);
    if (kept.length >= 2 * KEPT_EVENTS) forget();
    for (const reader of readers) reader.add(event);
  };
  const recallBehind = (reader: FeedReader, seen: number): void => {
    // An upper bound: some of those between are events that are not kept.
    reader.missed = Math.max(0, Math.min(forgotten, lastForgotten - seen));
    for (const event of kept) if (event.place > seen) reader.add(event);
  };
  const recallSince = (reader: FeedReader, from: number): void => {
    if (lastForgottenAt >= from) reader.missed = 1;
    for (const event of kept) if (event.at >= from) reader.add(event);
  };
  return {
    get readers(): number {
      return readers.size;
    },
    publish:
      onPublish === undefined
        ? take
        : (kind: FeedEventKind, content: object): void => {
            take(kind, content);
            onPublish({ kind, content });
          },
    take,
    /** Events that this process never had were missed by all who read, and by who comes back. */
    skip(): void {
      count += 1;
      forgotten += 1;
      lastForgotten = count;
      for (const reader of readers) reader.miss();
    },
    /**
     * What happens from now on, after the kept events behind `lastEventId`; what came behind it and is not
     * kept any more counts as missed. Without an id they are those of the last `ageMs` milliseconds: what a page has
     * read before it listens may be as old. Ends with `close` of either.
     */
    read(lastEventId?: string, ageMs = 0): FeedReader {
      onRead?.();
      const reader = new FeedReader(() => readers.delete(reader));
      if (lastEventId !== undefined) recallBehind(reader, placeOf(lastEventId, process));
      else if (ageMs > 0) recallSince(reader, clock.monotonic() - ageMs);
      readers.add(reader);
      return reader;
    },
    close(): void {
      for (const reader of readers) reader.close();
    },
  };
}

/** An id of an earlier process is of a time before all that is kept. */
function placeOf(id: string, process: string): number {
  const [name, place] = id.split('-');
  return name === process && /^\d{1,15}$/.test(place ?? '') ? Number(place) : 0;
}

export class FeedReader {
  /** Events this reader was too slow for, or away for too long. */
  missed = 0;
  readonly #waiting: FeedEvent[] = [];
  readonly #onClose: () => void;
  #isClosed = false;
  #wake: ((value: FeedEvent | 'idle' | undefined) => void) | undefined;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  add(event: FeedEvent): void {
    if (this.#endWait(event)) return;
    this.#waiting.push(event);
    if (this.#waiting.length <= MAX_WAITING) return;
    this.#waiting.shift();
    this.missed += 1;
  }

  /** An event that never came here. */
  miss(): void {
    this.missed += 1;
    this.wake();
  }

  /** The next event; undefined at the end. Waits no longer than `wake` says. */
  next(): Promise<FeedEvent | 'idle' | undefined> {
    const event = this.#waiting.shift();
    if (event !== undefined || this.#isClosed) return Promise.resolve(event);
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#endWait('idle');
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#endWait(undefined);
    this.#onClose();
  }

  /** False when the reader does not wait. */
  #endWait(value: FeedEvent | 'idle' | undefined): boolean {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.(value);
    return wake !== undefined;
  }
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

type Minute = { -readonly [Field in keyof MinuteSum]: MinuteSum[Field] };

export type LiveFigures = ReturnType<typeof createLiveFigures>;

const NO_MINUTES: readonly MinuteSum[] = [];

export function createLiveFigures(now: () => number) {
  /** By place within the hour. */
  const minutes: Minute[] = [];
  /** The same, without what was before this process. */
  const ownMinutes: Minute[] = [];
  const startOf = (at: number): number => at - (at % MINUTE_MS);
  /** The minute that begins then; to be counted in, it has to be kept. */
  const minuteAt = (time: number, kept: Minute[] = minutes, isKept = true): Minute => {
    const minute = Math.floor(time / MINUTE_MS);
    const at = minute * MINUTE_MS;
    const index = minute % MINUTES;
    const known = kept[index];
    if (known?.at === at) return known;
    const fresh = { at, requests: 0, errors: 0, faults: 0, tokens: 0 };
    if (isKept) kept[index] = fresh;
    return fresh;
  };
  const startedIn = startOf(now());
  /** With what ended at other processes; what was before this one is known of all of them. */
  const sumAt = (time: number): MinuteSum => {
    const at = startOf(time);
    const others = at < startedIn ? NO_MINUTES : figures.others(at);
    const isShared = at === startedIn && others.length > 0;
    return others.reduce(addMinutes, minuteAt(at, isShared ? ownMinutes : minutes, false));
  };
  const lastMinutes = (): readonly number[] => {
    const last = startOf(now());
    return Array.from({ length: MINUTES }, (_, index) => last - (MINUTES - 1 - index) * MINUTE_MS);
  };
  const figures = {
    inFlight: 0,
    others: (_at: number): readonly MinuteSum[] => NO_MINUTES,
    /** In the minute in which it ended. */
    add({ at, totalMs, outcome, status, inputTokens = 0, outputTokens = 0 }: RequestRow): void {
      for (const kept of [minutes, ownMinutes]) {
        const minute = minuteAt(at + totalMs, kept);
        minute.requests += 1;
        if (outcome === 'error') minute.errors += 1;
        if (outcome === 'error' && !isOfClient(status)) minute.faults += 1;
        minute.tokens += inputTokens + outputTokens;
      }
    },
    /** Adds what ended before this process; what is too old is left out. */
    recall(earlier: readonly MinuteSum[]): void {
      const oldest = startOf(now()) - (MINUTES - 1) * MINUTE_MS;
      for (const { at, requests, errors, faults, tokens } of earlier) {
        if (at < oldest) continue;
        const minute = minuteAt(at);
        minute.requests += requests;
        minute.errors += errors;
        minute.faults += faults;
        minute.tokens += tokens;
      }
    },
    /** The last 60 minutes, oldest first, the running one last; minutes without requests are there too. */
    series: (): readonly MinuteSum[] => lastMinutes().map((at) => ({ ...sumAt(at) })),
    /** Those of the last 60 in which something ended at this process, oldest first. */
    own: (): readonly MinuteSum[] =>
      lastMinutes()
        .map((at) => ({ ...minuteAt(at, ownMinutes, false) }))
        .filter(({ requests }) => requests > 0),
    /** Of the last whole 60 seconds' worth: the running minute and the share of the one before. */
    perMinute(): Omit<MinuteSum, 'at'> {
      const at = now();
      const running = sumAt(at);
      const before = sumAt(at - MINUTE_MS);
      const share = 1 - (at % MINUTE_MS) / MINUTE_MS;
      const blend = (field: Exclude<keyof MinuteSum, 'at'>): number =>
        Math.round(running[field] + before[field] * share);
      return {
        ...{ requests: blend('requests'), tokens: blend('tokens') },
        ...{ errors: blend('errors'), faults: blend('faults') },
      };
    },
  };
  return figures;
}

function isOfClient(status: number): boolean {
  return Math.floor(status / 100) === 4;
}

function addMinutes(left: MinuteSum, right: MinuteSum): MinuteSum {
  return {
    at: left.at,
    requests: left.requests + right.requests,
    errors: left.errors + right.errors,
    faults: left.faults + right.faults,
    tokens: left.tokens + right.tokens,
  };
}

/** For reading back the time before this process, so that the overview is not empty after a start. */
interface RecallOptions {
  readonly store: Pick<RequestStore, 'minutes' | 'list' | 'attempts'>;
  readonly figures: Pick<LiveFigures, 'recall'>;
  readonly errors: Pick<RecentErrors, 'recall'>;
  /** Called with the attempts of the last day. */
  readonly onRecalledAttempts?: ((sums: readonly AttemptSum[]) => void) | undefined;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly log: WarnLog;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Of the last hour, read at a time. */
const SPAN_MS = HOUR_MS / 6;
const ERRORS = 10;
/** What other processes record is saved by then. */
const SAVED_MS = 3000;

/** Reads in the background, once. Only what began before: everything later is counted as it ends. */
export function recallBefore({
  store,
  figures,
  errors,
  onRecalledAttempts,
  clock,
  log,
}: RecallOptions) {
  const startedAt = clock.now();
  let isClosed = false;
  let timer: Timer | undefined;
  const read = async (): Promise<void> => {
    for (let to = startedAt; to > startedAt - HOUR_MS && !isClosed; to -= SPAN_MS) {
      figures.recall(await store.minutes({ from: to - SPAN_MS, to }));
    }
    const attempts = await store.attempts({ from: startedAt - DAY_MS, to: startedAt });
    if (isClosed) return;
    onRecalledAttempts?.(attempts);
    await readErrors(startedAt);
  };
  const readErrors = async (to: number): Promise<void> => {
    const failed = { kind: 'outcome', outcome: 'error' } as const;
    const filter = { from: to - DAY_MS, to, status: failed };
    errors.recall((await store.list(filter, { limit: ERRORS })).rows);
  };
  const onFault = (error: unknown): void => {
    if (!isClosed) log.warn({ error }, 'Earlier requests could not be read for the console.');
  };
  read().catch(onFault);
  return {
    /** Reads the latest errors anew, in the background: other processes had some that were not told here. */
    readErrors(): void {
      readErrors(clock.now()).catch(onFault);
      // The last ones may not be saved yet.
      timer ??= clock.startTimer(SAVED_MS, () => {
        timer = undefined;
        readErrors(clock.now()).catch(onFault);
      });
    },
    /** What is still being read counts no more. */
    close(): void {
      isClosed = true;
      timer?.cancel();
    },
  };
}

const MAX_ERRORS = 100;

/** The rows of the latest failed requests, for the overview. */
export class RecentErrors {
  #rows: readonly RequestRow[] = [];

  add(row: RequestRow): void {
    this.#rows = [...this.#rows, row].slice(-MAX_ERRORS);
  }

  /** Adds those that are not known yet, from before this process or of another; the latest first. */
  recall(rows: readonly RequestRow[]): void {
    const known = new Set(this.#rows.map(({ id }) => id));
    const others = rows.filter(({ id }) => !known.has(id));
    this.#rows = [...others.toReversed(), ...this.#rows].slice(-MAX_ERRORS);
  }

  /** The latest first. */
  latest(): readonly RequestRow[] {
    return this.#rows.toReversed().sort((left, right) => right.at - left.at);
  }
  removeBefore(at: number): void {
    this.#rows = this.#rows.filter((row) => row.at >= at);
  }
}
