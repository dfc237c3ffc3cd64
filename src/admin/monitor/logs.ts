// `GET /api/logs` and `GET /metrics`: the end of the log, and the figures for Prometheus.

import { partial } from '../../lib/object-schema.ts';
import { LOG_LEVELS } from '../../monitor/log-files.ts';
import { METRICS_TYPE } from '../../monitor/metrics-text.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';
import { QUERY_CURSOR, UP_TO_1000 } from '../schemas.ts';
import { LOGS_SCHEMA } from './schemas.ts';

const LOGS_QUERY = partial({
  cursor: QUERY_CURSOR,
  limit: { type: 'string', pattern: UP_TO_1000, description: '1 to 1000; 200.' },
  level: { enum: LOG_LEVELS, description: 'The least level.' },
  search: { type: 'string', minLength: 1, maxLength: 256, description: 'Part of a line.' },
});

const DEFAULT_LIMIT = 200;

export function createLogsRoute({ logFiles }: Pick<MonitorRouteOptions, 'logFiles'>): ApiRoute {
  return defineRoute({
    at: 'GET /api/logs',
    access: 'viewer',
    title: 'shows the log, the latest lines first',
    query: LOGS_QUERY,
    answers: { 200: { description: 'One page of it.', schema: LOGS_SCHEMA } },
    async run({ query: { cursor, limit, level, search } }) {
      if (logFiles === undefined) return answerJson({ lines: [] });
      const count = limit === undefined ? DEFAULT_LIMIT : Number(limit);
      return answerJson(await logFiles.read({ limit: count, cursor, level, search }));
    },
  });
}

/** Tools on this machine read it without a credential: nothing in it names anybody. */
export function createMetricsRoute({ metrics }: Pick<MonitorRouteOptions, 'metrics'>): ApiRoute {
  const route = defineRoute({
    at: 'GET /metrics',
    access: 'viewer',
    title: 'gives the figures for Prometheus, of all workers together',
    answers: {
      200: {
        description: 'Prometheus text.',
        schema: { type: 'string' },
        contentType: 'text/plain',
      },
    },
    async run() {
      return { kind: 'text', text: await metrics(), contentType: METRICS_TYPE };
    },
  });
  return { ...route, isOpenLocally: true };
}
