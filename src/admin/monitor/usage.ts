// `/api/usage`, `/api/latency` and `/api/outcomes`: what was used by time and by whom, how long it took, how it ended.

import { CALENDAR_STEPS, type CalendarStep } from '../../lib/calendar.ts';
import { partial } from '../../lib/object-schema.ts';
import { readTimings, sumTimings } from '../../monitor/latency.ts';
import {
  type AttemptSum,
  type TimeSpan,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageRow,
} from '../../monitor/request-store.ts';
import { cutSpans, HALF_HOUR_MS } from '../../monitor/usage.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, queryNumber } from '../route.ts';
import { QUERY_NAME, QUERY_TIME, UP_TO_200 } from '../schemas.ts';
import { LATENCY_SCHEMA, LEADING_USAGE_SCHEMA, OUTCOMES_SCHEMA, USAGE_SCHEMA } from './schemas.ts';

export const USAGE_SPAN_QUERY = {
  from: { ...QUERY_TIME, description: 'Milliseconds since the epoch; a day ago.' },
  to: { ...QUERY_TIME, description: 'Milliseconds since the epoch; now.' },
  step: { enum: CALENDAR_STEPS, description: '`hour` when absent.' },
  timeZone: {
    type: 'string',
    maxLength: 64,
    description: 'In whose days, weeks and months, such as `Europe/Zurich`; UTC when absent.',
  },
} as const;

export const USAGE_FILTER_QUERY = {
  model: { ...QUERY_NAME, description: 'As usage calls it: only what this model served.' },
  account: { ...QUERY_NAME, description: 'E-mail or label: only of this account.' },
  key: { ...QUERY_NAME, description: 'Id of the key: only of this key.' },
  protocol: { ...QUERY_NAME, description: 'Only of this protocol.' },
  owner: { ...QUERY_NAME, description: 'Only of keys that were this owner’s.' },
  team: { ...QUERY_NAME, description: 'Only of keys that were this team’s.' },
  tag: { ...QUERY_NAME, description: 'Only of keys that had this tag.' },
} as const;

const USAGE_FIELDS = {
  ...USAGE_SPAN_QUERY,
  ...USAGE_FILTER_QUERY,
  by: {
    enum: USAGE_GROUPS,
    description: '`none` when absent. Of a key with several tags each `tag` counts all of it.',
  },
} as const;

const USAGE_QUERY = partial(USAGE_FIELDS);

const LEADING_QUERY = partial({
  ...USAGE_FIELDS,
  leading: {
    type: 'string',
    pattern: UP_TO_200,
    description: 'How many groups lead, those with the most tokens: 1 to 200; 7.',
  },
  limit: {
    type: 'string',
    pattern: UP_TO_200,
    description: 'How many groups are listed with the sums of all of the time: 1 to 200; 100.',
  },
});

const DEFAULT_LEADING = 7;
const DEFAULT_GROUPS = 100;

type SpanQuery = Readonly<Partial<Record<'from' | 'to' | 'timeZone', string>>> & {
  readonly step?: CalendarStep;
};

export function readUsageQuery<Query extends SpanQuery>(query: Query, now: number) {
  const { from: _from, to: _to, step: _step, timeZone: _zone, ...filter } = query;
  return { spans: cutSpans(readUsageSpan(query, now)), filter };
}

function readUsageSpan(query: SpanQuery, now: number) {
  const { step = 'hour', timeZone = 'UTC' } = query;
  const to = Number(query.to ?? now);
  const from = Number(query.from ?? to - DAY_MS);
  return { from, to, step, timeZone };
}

const DAY_MS = 86_400_000;

const LATENCY_QUERY = partial({
  ...USAGE_SPAN_QUERY,
  ...USAGE_FILTER_QUERY,
  by: {
    enum: USAGE_GROUPS,
    description: '`none` when absent.',
  },
  limit: {
    type: 'string',
    pattern: UP_TO_200,
    description: 'Only so many groups, those with the most tokens: 1 to 200; all when absent.',
  },
});

const OUTCOMES_QUERY = partial({
  account: { type: 'string', maxLength: 320, description: 'Its name; all when absent.' },
});

const HALF_HOURS = 48;

export function createUsageRoutes({
  monitor,
  clock,
  keyName,
}: Pick<MonitorRouteOptions, 'monitor' | 'clock' | 'keyName'>): readonly ApiRoute[] {
  const named = (rows: readonly UsageRow[], by: UsageGroup): readonly UsageRow[] =>
    by === 'key'
      ? rows.map((row) => ({ ...row, groupName: keyName(row.group) ?? row.groupName }))
      : rows;
  return [
    defineRoute({
      at: 'GET /api/usage',
      access: 'viewer',
      title: 'shows usage, by time and group',
      query: USAGE_QUERY,
      answers: { 200: { description: 'Sums, oldest first.', schema: USAGE_SCHEMA } },
      async run({ query }) {
        const { by = 'none', ...asked } = query;
        const { spans, filter } = readUsageQuery(asked, clock.now());
        async function* parts(): AsyncGenerator<readonly UsageRow[]> {
          const atOnce = by === 'none' ? spans.length : 1;
          for (let from = 0; from < spans.length; from += atOnce) {
            const some = spans.slice(from, from + atOnce);
            yield named(await monitor.store.usage(some, by, filter), by);
          }
        }
        // Of many groups and a long time there are more rows than are to be held.
        const list = { name: 'buckets', parts: parts() };
        return { kind: 'json', status: 200, body: { spans: spans.map(({ from }) => from) }, list };
      },
    }),
    defineRoute({
      at: 'GET /api/usage/leading',
      access: 'viewer',
      title: 'shows the groups with the most usage, by time, and all others together',
      query: LEADING_QUERY,
      answers: { 200: { description: 'Sums, oldest first.', schema: LEADING_USAGE_SCHEMA } },
      async run({ query }) {
        const { by = 'none', leading, limit, ...asked } = query;
        const { spans, filter } = readUsageQuery(asked, clock.now());
        const usage = await monitor.store.leadingUsage(
          { spans, by, filter },
          Number(leading ?? DEFAULT_LEADING),
          Number(limit ?? DEFAULT_GROUPS),
        );
        return answerJson({
          spans: spans.map((span) => span.from),
          totals: usage.totals.map(withoutGroup),
          buckets: named(usage.buckets, by),
          others: usage.others.map(withoutGroup),
          groups: named(usage.groups, by).map(({ at: _, ...group }) => group),
          groupCount: usage.groupCount,
        });
      },
    }),
    defineRoute({
      at: 'GET /api/latency',
      access: 'viewer',
      title: 'shows durations and times to first token, by time and group',
      query: LATENCY_QUERY,
      answers: { 200: { description: 'Percentiles, oldest first.', schema: LATENCY_SCHEMA } },
      async run({ query }) {
        const { by = 'none', limit, ...asked } = query;
        const { spans, filter } = readUsageQuery(asked, clock.now());
        const { spans: timed, groups } = await monitor.store.latency(
          { spans, by, filter },
          queryNumber(limit),
        );
        return answerJson({
          spans: timed.map((span) => ({ at: span.at, ...readTimings(span) })),
          groups: groups.map(({ groupName, ...one }) => ({
            group: one.group,
            groupName: by === 'key' ? (keyName(one.group) ?? groupName) : undefined,
            ...readTimings(one),
          })),
          all: readTimings(sumTimings(timed)),
        });
      },
    }),
    defineRoute({
      at: 'GET /api/outcomes',
      access: 'viewer',
      title: 'shows how the attempts on each account ended in the last day',
      query: OUTCOMES_QUERY,
      answers: { 200: { description: 'By half hours.', schema: OUTCOMES_SCHEMA } },
      async run({ query: { account } }) {
        const last = Math.floor(clock.now() / HALF_HOUR_MS) * HALF_HOUR_MS;
        const span = { from: last - (HALF_HOURS - 1) * HALF_HOUR_MS, to: last + HALF_HOUR_MS };
        const sums = await monitor.store.attempts(span, account);
        return answerJson({
          from: span.from,
          stepMs: HALF_HOUR_MS,
          accounts: toStrips(sums, span),
        });
      },
    }),
  ];
}

const withoutGroup = ({ group: _, ...row }: UsageRow) => row;

function toStrips(sums: readonly AttemptSum[], { from }: TimeSpan) {
  const strips = new Map<string, { account: string; good: number[]; failed: number[] }>();
  for (const { at, account, good, failed } of sums) {
    const strip = strips.get(account) ?? { account, good: noHalfHours(), failed: noHalfHours() };
    strips.set(account, strip);
    const place = (at - from) / HALF_HOUR_MS;
    strip.good[place] = good;
    strip.failed[place] = failed;
  }
  return [...strips.values()];
}

const noHalfHours = (): number[] => Array.from({ length: HALF_HOURS }, () => 0);
