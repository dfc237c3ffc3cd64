// `/api/latency` and `/api/outcomes`: how long answers take, and how the attempts on accounts ended.

import { partial } from '../../lib/object-schema.ts';
import { readTimings, sumTimings } from '../../monitor/latency.ts';
import { type AttemptSum, type TimeSpan, USAGE_GROUPS } from '../../monitor/request-store.ts';
import { HALF_HOUR_MS } from '../../monitor/usage.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { UP_TO_200 } from '../schemas.ts';
import { readUsageQuery, USAGE_FILTER_QUERY, USAGE_SPAN_QUERY } from './requests.ts';
import { LATENCY_SCHEMA, OUTCOMES_SCHEMA } from './schemas.ts';

const NAME = { type: 'string', maxLength: 320 } as const;

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
  account: { ...NAME, description: 'E-mail or label; all when absent.' },
});

const HALF_HOURS = 48;

type Options = Pick<MonitorRouteOptions, 'monitor' | 'clock' | 'keyName'>;

export function createLatencyRoutes(options: Options): readonly ApiRoute[] {
  const { monitor, clock, keyName } = options;
  return [
    defineRoute({
      at: 'GET /api/latency',
      access: 'viewer',
      title: 'shows how long answers take, by time and by whom',
      query: LATENCY_QUERY,
      answers: { 200: { description: 'Percentiles, oldest first.', schema: LATENCY_SCHEMA } },
      async run({ query }) {
        const { by = 'none', limit, ...asked } = query;
        const { spans, filter } = readUsageQuery(asked, clock.now());
        const { spans: timed, groups } = await monitor.store.latency(
          { spans, by, filter },
          limit === undefined ? undefined : Number(limit),
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
