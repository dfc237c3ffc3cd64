// `GET /metrics`: the figures of the process for Prometheus.

import { type ApiRoute, defineRoute } from '../api-route.ts';
import type { MonitorRouteOptions } from './options.ts';

/** Tools on this machine read it without a credential: nothing in it names anybody. */
export function createMetricsRoute({ monitor }: Pick<MonitorRouteOptions, 'monitor'>): ApiRoute {
  const route = defineRoute({
    method: 'GET',
    path: '/metrics',
    title: 'gives the figures of the process for Prometheus',
    answers: {
      200: {
        description: 'Prometheus text.',
        schema: { type: 'string' },
        contentType: 'text/plain',
      },
    },
    async run() {
      const { text, contentType } = monitor.metrics.write();
      return { kind: 'text', text, contentType };
    },
  });
  return { ...route, access: 'console-or-local' };
}
