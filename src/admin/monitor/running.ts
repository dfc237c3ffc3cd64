// `/api/running-requests`: what is under way at all gateways and workers, and the end of one of them.

import { told } from '../../lib/localized-message.ts';
import { COUNT, named } from '../../lib/object-schema.ts';
import { RUNNING_SCHEMA } from '../../monitor/running.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, answerJson, defineRoute, refuseUnknown } from '../route.ts';

export const RUNNING_LIST_SCHEMA = named('RunningRequests', {
  requests: {
    type: 'array',
    description: 'Up to 100, the longest under way first.',
    items: RUNNING_SCHEMA,
  },
  total: { ...COUNT, description: 'Also those that are not listed.' },
});

export function createRunningRoutes({
  monitor,
}: Pick<MonitorRouteOptions, 'monitor'>): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/running-requests',
      access: 'viewer',
      title: 'lists the model requests that are under way',
      answers: { 200: { description: 'Of all processes.', schema: RUNNING_LIST_SCHEMA } },
      async run() {
        const { rows, total } = await monitor.running.list();
        return answerJson({ requests: rows, total });
      },
    }),
    defineRoute({
      at: 'POST /api/running-requests/{id}/stop',
      access: 'operator',
      shows: 'nothing',
      title: 'stops a model request that is under way',
      parameter: 'Id of the request, as the list gives it.',
      answers: { 204: { description: 'It is stopped, and its record says by whom.' } },
      async run({ parameter, author }) {
        if (await monitor.running.stop(parameter, author)) return { kind: 'empty' };
        return refuseUnknown(told`This request is not under way any more.`);
      },
    }),
  ];
}
