// All routes of the admin API.

import type { AccessControl } from '../access/access.ts';
import type { AdminRoute } from '../server/admin-route.ts';
import { createLogRoutes } from './access/audit.ts';
import { createBudgetRoutes } from './access/budgets.ts';
import { createAddressRuleRoutes } from './access/ip-rules.ts';
import { createKeyRoutes, createRotationRoutes } from './access/keys.ts';
import { createInvitationRoutes, createJoinRoutes, createPeopleRoutes } from './access/people.ts';
import {
  createConsoleSessionRoutes,
  createProviderCallback,
  createProviderRoute,
  createSignInRoute,
} from './access/session.ts';
import { createTransferRoutes } from './account-transfer.ts';
import {
  createAccountRoutes,
  createActionRoutes,
  createOrderRoute,
  createUpstreamRoutes,
} from './accounts.ts';
import { createConfigRoutes, createEnvironmentRoute } from './config/config.ts';
import { createModelRoutes, createPriceRoute } from './models.ts';
import { createEventsRoute } from './monitor/events.ts';
import { createExportRoutes, createLogsRoute, createMetricsRoute } from './monitor/export.ts';
import { createOverviewRoute } from './monitor/overview.ts';
import { createReplayRoute } from './monitor/replay.ts';
import {
  createBodyRecordingRoutes,
  createRequestFigureRoutes,
  createRequestRoutes,
  createRequestSessionRoute,
  createRunningRoutes,
} from './monitor/requests.ts';
import { createUsageRoutes } from './monitor/usage.ts';
import { createDescriptionRoutes } from './openapi.ts';
import type { AdminOptions, MonitorRouteOptions } from './options.ts';
import { createQuotaRoutes } from './quota.ts';
import type { ApiRoute } from './route.ts';
import { createSessionRoutes } from './sessions.ts';
import { createCallbackRoute, createSignInRoutes, createSignInTracker } from './sign-ins.ts';
import { createTranslateRoute } from './translate.ts';

/** @param more routes that need more than `options`, such as the monitor's */
export function createAdminRoutes(
  options: AdminOptions,
  more: readonly ApiRoute[] = [],
): readonly AdminRoute[] {
  const tracker = createSignInTracker(options);
  const routes: readonly ApiRoute[] = [
    ...createAccountRoutes(options),
    ...createActionRoutes(options),
    createOrderRoute(options),
    ...createTransferRoutes(options),
    ...createUpstreamRoutes(options),
    ...createQuotaRoutes(options),
    ...createSignInRoutes(options, tracker),
    ...createSessionRoutes(options),
    ...createConfigRoutes(options),
    createEnvironmentRoute(options),
    ...createModelRoutes(options),
    createPriceRoute(options),
    createTranslateRoute(options),
    ...createAccessRoutes(options.access),
    ...more,
  ];
  const callback = createCallbackRoute(tracker, options);
  const { access } = options;
  const signIn = [createSignInRoute(access), createProviderCallback(access)];
  return [...routes, ...createDescriptionRoutes(routes, options), callback, ...signIn];
}

function createAccessRoutes(access: AccessControl): readonly ApiRoute[] {
  return [
    ...createConsoleSessionRoutes(access),
    createProviderRoute(access),
    ...createKeyRoutes(access),
    ...createRotationRoutes(access),
    ...createPeopleRoutes(access),
    ...createInvitationRoutes(access),
    ...createJoinRoutes(access),
    ...createBudgetRoutes(access),
    ...createAddressRuleRoutes(access),
    ...createLogRoutes(access),
  ];
}

export function createMonitorRoutes(options: MonitorRouteOptions): readonly ApiRoute[] {
  return [
    ...createRequestRoutes(options),
    ...createRequestFigureRoutes(options),
    ...createRunningRoutes(options),
    createRequestSessionRoute(options),
    ...createBodyRecordingRoutes(options),
    createReplayRoute(options),
    ...createUsageRoutes(options),
    ...createExportRoutes(options),
    createOverviewRoute(options),
    createLogsRoute(options),
    createEventsRoute(options),
    createMetricsRoute(options),
  ];
}
