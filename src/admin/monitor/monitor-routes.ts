// All routes of the monitor.

import type { ApiRoute } from '../api-route.ts';
import { createEventsRoute } from './events.ts';
import { createLogsRoute } from './logs.ts';
import { createMetricsRoute } from './metrics-route.ts';
import type { MonitorRouteOptions } from './options.ts';
import { createOverviewRoute } from './overview.ts';
import { createReplayRoute } from './replay.ts';
import { createRequestRoutes } from './requests.ts';
import { createUsageRoute } from './usage.ts';

export function createMonitorRoutes(options: MonitorRouteOptions): readonly ApiRoute[] {
  return [
    ...createRequestRoutes(options),
    createReplayRoute(options),
    createUsageRoute(options),
    createOverviewRoute(options),
    createLogsRoute(options),
    createEventsRoute(options),
    createMetricsRoute(options),
  ];
}
