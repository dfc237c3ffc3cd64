// What the monitor asks of a store of request records.

import { invalidRequest } from '../canonical/error.ts';
import type { Timings } from './latency.ts';
import type { RequestRecord, RequestRow } from './record.ts';

/** Absent fields take everything, and names but tags may hold `*`. Times in milliseconds since the epoch. */
export interface RequestFilter {
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly to?: number | undefined;
  readonly status?: StatusFilter | undefined;
  readonly protocol?: string | undefined;
  readonly surface?: string | undefined;
  /** As the client, the upstream or the routing calls it; several with commas, `*` for any characters. */
  readonly model?: string | undefined;
  readonly account?: string | undefined;
  /** Id or name of the client key. */
  readonly key?: string | undefined;
  readonly replica?: string | undefined;
  readonly session?: string | undefined;
  /** Address of the client. */
  readonly client?: string | undefined;
  /** The `errorGroup` of a record, whole. */
  readonly error?: string | undefined;
  /** Of the key at that time, as are team and tag. */
  readonly owner?: string | undefined;
  readonly team?: string | undefined;
  readonly tag?: string | undefined;
  /** Only those that have none of these: what usage sums in the group without a name. */
  readonly without?: NamedGroup | undefined;
  /** Part of an id, a model, an account, a path or an error, or of a kept body; case does not matter. */
  readonly search?: string | undefined;
  /** False for a reader who may not see kept bodies: a search that finds them tells what they hold. */
  readonly searchesBodies?: boolean | undefined;
}

export type StatusFilter =
  | { readonly kind: 'outcome'; readonly outcome: RequestRow['outcome'] }
  /** Inclusive. */
  | { readonly kind: 'range'; readonly least: number; readonly most: number };

export interface RequestPage {
  /** The latest first. */
  readonly rows: readonly RequestRow[];
  /** For the rows behind these; absent at the end. There may be a next page behind an empty one. */
  readonly nextCursor?: string | undefined;
  /** How many the filter takes; undefined when counting them would take too long. */
  readonly total: number | undefined;
}

export interface PageRequest {
  readonly limit: number;
  /** Of an earlier page: its rows never come again, whatever was added since. */
  readonly cursor?: string | undefined;
  /** False to leave out the total: counting takes longer than a page. */
  readonly isCounted?: boolean | undefined;
}

export const USAGE_GROUPS = [
  ...(['model', 'account', 'key', 'protocol', 'owner', 'team', 'tag', 'none'] as const),
] as const;

/** Usage of a key with several tags counts in the group of each. */
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Of what a request may have none. */
export const NAMED_GROUPS = ['model', 'account', 'key', 'owner', 'team', 'tag'] as const;
export type NamedGroup = (typeof NAMED_GROUPS)[number];

/** Whose usage; absent fields take all of it. Exact names, and the id of a key. */
export type UsageFilter = {
  readonly [Field in Exclude<UsageGroup, 'none'>]?: string | undefined;
};

/** From `from` up to and without `to`, in milliseconds since the epoch; that of usage in whole quarters of an hour. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** What is summed of requests. `pricedRequests` are those that have a cost, of either kind. */
export const USAGE_FIGURES = [
  ...(['requests', 'errors', 'inputTokens', 'outputTokens'] as const),
  ...(['cachedTokens', 'cacheWriteTokens', 'thoughtTokens', 'images'] as const),
  ...(['pricedRequests', 'costNanos', 'flatRateNanos', 'cacheSavingsNanos'] as const),
] as const;

/** What each record has by the same name; the others count records. */
export const RECORDED_FIGURES = USAGE_FIGURES.filter(
  (figure) => figure !== 'requests' && figure !== 'errors' && figure !== 'pricedRequests',
);

export type UsageSum = Readonly<Record<(typeof USAGE_FIGURES)[number], number>>;

export const NO_USAGE = Object.fromEntries(USAGE_FIGURES.map((figure) => [figure, 0])) as UsageSum;

export interface UsageRow extends UsageSum {
  /** Beginning of the span. */
  readonly at: number;
  readonly group: string;
  /** What the group's key was called last within the span, where it had a name. */
  readonly groupName?: string | undefined;
}

export interface TimedSpan extends Timings {
  /** Beginning of the span. */
  readonly at: number;
}

export interface TimedGroup extends Timings {
  readonly group: string;
  /** What the group's key was called last, where it had a name. */
  readonly groupName?: string | undefined;
}

export interface SumRequest {
  /** In order, without gaps between them. */
  readonly spans: readonly TimeSpan[];
  readonly by: UsageGroup;
  readonly filter?: UsageFilter | undefined;
}

/** What the leading groups used by time, and what all others did together. */
export interface LeadingSums {
  /** One row a span and leading group that has any. */
  readonly buckets: readonly UsageRow[];
  /** What all groups used together: one row a span that has any; so is that of the others. */
  readonly totals: readonly UsageRow[];
  /** What is no leading group's. */
  readonly others: readonly UsageRow[];
}

interface LeadingUsage extends LeadingSums {
  /** Of all of the time, those with the most tokens first. */
  readonly groups: readonly UsageRow[];
  /** How many there are of them, those that are not listed included. */
  readonly groupCount: number;
}

/** How the attempts on one account went within half an hour. */
export interface AttemptSum {
  /** Beginning of the half hour. */
  readonly at: number;
  /** Its e-mail or label, as records have it. */
  readonly account: string;
  readonly good: number;
  readonly failed: number;
}

/** The usage of one model, account, key, owner, team, set of tags and protocol within a span. */
export interface UsageBreakdown extends UsageSum {
  /** Beginning of the span. */
  readonly at: number;
  readonly model: string;
  readonly account: string;
  readonly keyId: string;
  /** What the key was called last within the span, where it had a name. */
  readonly keyName?: string | undefined;
  /** As the key was then; '' and none where it had none. */
  readonly owner: string;
  readonly team: string;
  readonly tags: readonly string[];
  readonly protocol: string;
}

/** How what began within a part of a time ended. */
export interface OutcomeCounts {
  /** Beginning of the part. */
  readonly at: number;
  readonly ok: number;
  readonly error: number;
  readonly cancelled: number;
}

export interface Histogram {
  readonly span: TimeSpan;
  /** How long each part is; of whole milliseconds. */
  readonly stepMs: number;
  /** All parts, in order. */
  readonly parts: readonly OutcomeCounts[];
  /** False where counting took too long: the later parts are counted, the earlier ones are 0. */
  readonly isWhole: boolean;
}

export interface ErrorGroupSum {
  readonly group: string;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The most frequent ones, the most first. */
  readonly models: readonly NamedCount[];
  readonly accounts: readonly NamedCount[];
  readonly latest: RequestRow;
}

export interface NamedCount {
  readonly name: string;
  readonly count: number;
}

/** What the calls of one session come to. */
export interface SessionSum extends UsageSum {
  readonly firstAt: number;
  readonly lastAt: number;
  /** Those that had an account. */
  readonly accounts: readonly NamedCount[];
  readonly models: readonly NamedCount[];
  readonly keyIds: readonly string[];
}

/** What began within one minute. */
export interface MinuteSum {
  /** Beginning of the minute. */
  readonly at: number;
  readonly requests: number;
  readonly errors: number;
  /** Those of the errors that no client made: with no 4xx. */
  readonly faults: number;
  /** In and out. */
  readonly tokens: number;
}

interface RetentionLimits {
  /** Requests that began earlier leave. */
  readonly oldest: number;
  /** Usage before this leaves. */
  readonly oldestUsage: number;
  /** When more than `maxBytes` are stored, the oldest leave until `reducedBytes` are. */
  readonly maxBytes: number;
  readonly reducedBytes: number;
  /** Hours that ended before are summed up, so that long times are read fast. */
  readonly closedBefore: number;
}

/** A page's cursor is one this store gave. @throws GatewayError invalid-request for any other */
export interface RequestStore {
  /** All of them with their usage, or none. */
  save(records: readonly RequestRecord[]): Promise<void>;
  list(filter: RequestFilter, page: PageRequest): Promise<RequestPage>;
  /** By its own id, else the latest of this request id. */
  find(id: string): Promise<RequestRecord | undefined>;
  /** One row a span and group that has any, in the order of the spans. */
  usage(
    spans: readonly TimeSpan[],
    by: UsageGroup,
    filter?: UsageFilter,
  ): Promise<readonly UsageRow[]>;
  /**
   * Cheap with many groups: of `leading` of them, those with the most tokens, there are rows by time, and `listed` are
   * listed.
   */
  leadingUsage(request: SumRequest, leading: number, listed: number): Promise<LeadingUsage>;
  /** By time, and by group for all of the time. @param leading how many groups, those with the most tokens; or all */
  latency(
    request: SumRequest,
    leading?: number,
  ): Promise<{
    readonly spans: readonly TimedSpan[];
    readonly groups: readonly TimedGroup[];
  }>;
  /** How attempts ended, by half hours in order; of all accounts, or of one. */
  attempts(span: TimeSpan, account?: string): Promise<readonly AttemptSum[]>;
  /** All usage of a span, each combination apart, ordered by model, account, key and protocol. */
  breakdown(span: TimeSpan, filter?: UsageFilter): Promise<readonly UsageBreakdown[]>;
  /** Of the records that began from `from` up to and without `to`, in order; minutes without any are left out. */
  minutes(span: TimeSpan): Promise<readonly MinuteSum[]>;
  /** One small step; true when nothing is left to do. */
  sweep(limits: RetentionLimits): Promise<boolean>;
  /** Removes the records that began before a time, with their bodies; usage stays. @returns how many */
  removeBefore(at: number): Promise<number>;
}

export interface RequestFigures {
  /** Outcomes over the time of the filter, or of all records. @param parts at most so many */
  histogram(filter: RequestFilter, parts: number): Promise<Histogram | undefined>;
  /** The errors of a filter by group, the most frequent first, at most `limit` of them. */
  errorGroups(filter: RequestFilter, limit: number): Promise<readonly ErrorGroupSum[]>;
  /** All calls of one session; undefined where there are none. */
  session(session: string): Promise<SessionSum | undefined>;
}

/** Where the next page of a list of records begins; the latest records are first. */
export interface PagePosition {
  readonly at: number;
  /** Tells records of one millisecond apart; rises in the order in which they were kept. */
  readonly sequence: number;
}

export function writeCursor({ at, sequence }: PagePosition): string {
  return `${at}-${sequence}`;
}

/** @throws GatewayError invalid-request */
export function readCursor(cursor: string): PagePosition {
  const [, at, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  if (at !== undefined && sequence !== undefined) {
    return { at: Number(at), sequence: Number(sequence) };
  }
  throw invalidRequest(
    'cursor',
    'cursor: send the nextCursor of an earlier answer, or leave it out.',
  );
}
