// The requests under way, of all processes: listed and stopped on demand.

import type { CallRecord } from '../canonical/call-record.ts';
import { outputTokens } from '../canonical/usage.ts';
import { type Cluster, othersOf, type Topic, Waits } from '../cluster/cluster.ts';
import type { Clock } from '../lib/clock.ts';
import { IndexedList } from '../lib/collections.ts';
import { COUNT, list, named, optional, TEXT, type ValueOf } from '../lib/object-schema.ts';
import type { Redactor } from '../lib/redact.ts';
import { type RunningRequest, surfaceOf } from './record.ts';
import type { FindKey } from './write-record.ts';

const RUNNING_FIELDS = {
  id: { ...TEXT, description: 'Names it while it runs.' },
  requestId: TEXT,
  protocol: TEXT,
  surface: TEXT,
  stream: optional({ type: 'boolean' }),
  model: { ...TEXT, description: "As the client wrote it; '' while it was not read so far." },
  upstreamModel: optional(TEXT),
  account: optional({ ...TEXT, description: 'Of the attempt that is under way.' }),
  attempt: { ...COUNT, description: 'Which attempt is under way; 0 before the first.' },
  keyId: TEXT,
  keyName: optional(TEXT),
  owner: optional(TEXT),
  team: optional(TEXT),
  tags: optional(list(TEXT)),
  clientAddress: TEXT,
  session: optional(TEXT),
  replica: optional({ ...TEXT, description: 'Absent where there is one alone.' }),
  elapsedMs: COUNT,
  firstEventMs: optional({ ...COUNT, description: 'Absent until the answer has begun.' }),
  outputTokens: optional({ ...COUNT, description: 'So far, as far as is known.' }),
} as const;

export const RUNNING_SCHEMA = named('RunningRequest', RUNNING_FIELDS);

type RunningRow = ValueOf<typeof RUNNING_SCHEMA>;

interface RunningList {
  /** The longest under way first. */
  readonly rows: readonly RunningRow[];
  /** How many there are, also those that are not listed. */
  readonly total: number;
}

interface RunningOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'startTimer'>;
  /** A word that tells this process from all others. */
  readonly process: string;
  readonly replica?: string | undefined;
  readonly cluster?: Pick<Cluster, 'replica' | 'notices' | 'state'> | undefined;
  redactorFor(credentials: readonly string[]): Redactor;
  keyOf: FindKey;
}

type RunningNotice =
  | { readonly kind: 'look' }
  | { readonly kind: 'list'; readonly list: RunningList }
  | { readonly kind: 'stop'; readonly id: string; readonly author: string }
  | { readonly kind: 'stopped'; readonly id: string };

const TOPIC: Topic<RunningNotice> = { name: 'running requests 1' };
/** Listed of one process. */
const MAX_ROWS = 100;
/** Who has not answered by then is left out. */
const ANSWER_MS = 300;
const MAX_MODEL = 256;

export class RunningRequests {
  readonly #options: RunningOptions;
  /** Those of this process: in it from when they passed their gates until they end. */
  readonly here = new IndexedList<RunningRequest>();
  readonly #unlisten: (() => void) | undefined;
  readonly #waits: Waits<[notice: RunningNotice, from: string]>;
  #count = 0;

  constructor(options: RunningOptions) {
    this.#options = options;
    this.#waits = new Waits(options.clock, ANSWER_MS);
    this.#unlisten = options.cluster?.notices.listen(TOPIC, {
      take: (notice, from) => this.#take(notice, from),
    });
  }

  /** Of all processes, as far as they answer in time. */
  async list(): Promise<RunningList> {
    const lists = [this.#own(), ...(await this.#others())];
    return {
      rows: lists
        .flatMap(({ rows }) => rows)
        .sort((one, other) => other.elapsedMs - one.elapsedMs)
        .slice(0, MAX_ROWS),
      total: lists.reduce((sum, { total }) => sum + total, 0),
    };
  }

  /** Stops a request of any process. False when it has ended. @param author who does it, for the record */
  async stop(id: string, author: string): Promise<boolean> {
    if (this.#stopOwn(id, author)) return true;
    const { cluster } = this.#options;
    if (cluster === undefined || othersOf(cluster).length === 0) return false;
    let isStopped = false;
    const answered = this.#waits.until((notice) => {
      isStopped = notice.kind === 'stopped' && notice.id === id;
      return isStopped;
    });
    cluster.notices.tell(TOPIC, { kind: 'stop', id, author });
    await answered;
    return isStopped;
  }

  close(): void {
    this.#unlisten?.();
  }

  #own(): RunningList {
    const running = this.here.list();
    const first = running.toSorted((one, other) => one.startedAt - other.startedAt);
    return {
      rows: first.slice(0, MAX_ROWS).map((one) => this.#row(one)),
      total: running.length,
    };
  }

  async #others(): Promise<readonly RunningList[]> {
    const { cluster } = this.#options;
    const missing = new Set(cluster && othersOf(cluster));
    if (missing.size === 0) return [];
    const lists: RunningList[] = [];
    const answered = this.#waits.until((notice, from) => {
      if (notice.kind === 'list' && missing.delete(from)) lists.push(notice.list);
      return missing.size === 0;
    });
    cluster?.notices.tell(TOPIC, { kind: 'look' });
    await answered;
    return lists;
  }

  #take(notice: RunningNotice, from: string): void {
    const { cluster } = this.#options;
    if (notice.kind === 'look') cluster?.notices.tell(TOPIC, { kind: 'list', list: this.#own() });
    else if (notice.kind === 'stop') {
      const { id, author } = notice;
      if (this.#stopOwn(id, author)) cluster?.notices.tell(TOPIC, { kind: 'stopped', id });
    } else this.#waits.tell(notice, from);
  }

  #stopOwn(id: string, author: string): boolean {
    const found = this.here.list().find((one) => this.#idOf(one) === id);
    if (found === undefined) return false;
    found.facts.stoppedBy = author;
    found.stop();
    return true;
  }

  /** Clients may choose a request id, and two the same: it has one of ours once it is looked at. */
  #idOf(running: RunningRequest): string {
    if (running.listedAs === 0) {
      this.#count += 1;
      running.listedAs = this.#count;
    }
    return `${this.#options.process}-${running.listedAs}`;
  }

  #row(running: RunningRequest): RunningRow {
    const { clock, replica, keyOf, redactorFor } = this.#options;
    const { facts, call, clientKeyId, startedAt } = running;
    const { text } = redactorFor(running.credentials());
    const { name: keyName, recording, owner, team, tags } = keyOf(clientKeyId) ?? {};
    const isCounted = recording === 'counts';
    const known = facts.answers?.flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
    return {
      id: this.#idOf(running),
      requestId: text(running.requestId),
      protocol: running.protocol,
      surface: surfaceOf(running.route),
      stream: call?.stream,
      model: text((call?.model ?? '').slice(0, MAX_MODEL)),
      upstreamModel: facts.upstreamModel && text(facts.upstreamModel),
      account: facts.accountLabel,
      attempt: facts.accountLabel === undefined ? 0 : attemptOf(facts),
      keyId: clientKeyId,
      ...{ keyName, owner, team, tags },
      clientAddress: isCounted ? '' : running.clientAddress,
      session: isCounted || facts.session === undefined ? undefined : text(facts.session),
      replica,
      elapsedMs: Math.max(0, Math.round(clock.monotonic() - startedAt)),
      firstEventMs:
        facts.committedAt === undefined ? undefined : Math.round(facts.committedAt - startedAt),
      outputTokens: known?.length
        ? known.reduce((sum, usage) => sum + outputTokens(usage), 0)
        : undefined,
    };
  }
}

/** Of those that are over and the one under way, which is none of them yet. */
function attemptOf({ attempts, committedAt }: CallRecord): number {
  return committedAt === undefined ? attempts.length + 1 : attempts.length;
}
