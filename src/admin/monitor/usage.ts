// `GET /api/usage`: usage by hour, day or week, and by key, model or account.

import { partial } from '../../lib/object-schema.ts';
import { cutSpans } from '../../monitor/usage.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { DIGITS } from '../schemas.ts';
import { USAGE_SCHEMA } from './schemas.ts';

const TIME = { type: 'string', pattern: DIGITS } as const;

const USAGE_QUERY = partial({
  from: { ...TIME, description: 'Milliseconds since the epoch; a day ago.' },
  to: { ...TIME, description: 'Milliseconds since the epoch; now.' },
  step: { enum: ['hour', 'day', 'week'], description: '`hour` when absent.' },
  by: {
    enum: ['model', 'account', 'key', 'protocol', 'none'],
    description: '`none` when absent.',
  },
  timeZone: {
    type: 'string',
    maxLength: 64,
    description: 'In whose days and weeks, such as `Europe/Zurich`; UTC when absent.',
  },
});

const DAY_MS = 86_400_000;

export function createUsageRoute({
  monitor,
  clock,
  keyName,
}: Pick<MonitorRouteOptions, 'monitor' | 'clock' | 'keyName'>): ApiRoute {
  return defineRoute({
    at: 'GET /api/usage',
    title: 'shows what was used, by time and by whom',
    query: USAGE_QUERY,
    answers: { 200: { description: 'Sums, oldest first.', schema: USAGE_SCHEMA } },
    async run({ query }) {
      const { step = 'hour', by = 'none', timeZone = 'UTC' } = query;
      const to = query.to === undefined ? clock.now() : Number(query.to);
      const from = query.from === undefined ? to - DAY_MS : Number(query.from);
      const spans = cutSpans({ from, to, step, timeZone });
      const rows = await monitor.store.usage(spans, by);
      const buckets =
        by === 'key'
          ? rows.map((row) => ({ ...row, groupName: keyName(row.group) ?? row.groupName }))
          : rows;
      return answerJson({ spans: spans.map((span) => span.from), buckets });
    },
  });
}
