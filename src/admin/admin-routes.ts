// All routes of the admin API, for the edge's table.

import type { AdminRoute } from '../server/admin-route.ts';
import { createActionRoutes } from './account-actions.ts';
import { createOrderRoute } from './account-order.ts';
import { createTransferRoutes } from './account-transfer.ts';
import { createAccountRoutes } from './accounts.ts';
import type { ApiRoute } from './api-route.ts';
import { createConfigRoutes } from './config.ts';
import { createDoorRoutes } from './door/door-routes.ts';
import { createSignInRoute } from './door/sign-in.ts';
import { createEnvironmentRoute } from './environment.ts';
import { createModelRoutes } from './models.ts';
import { createCallbackRoute } from './oauth-callback.ts';
import { createDescriptionRoutes } from './openapi.ts';
import type { AdminOptions } from './options.ts';
import { createQuotaRoutes } from './quota.ts';
import { createSessionRoutes } from './sessions.ts';
import { createSignInTracker } from './sign-in-tracker.ts';
import { createSignInRoutes } from './sign-ins.ts';
import { createTranslateRoute } from './translate.ts';
import { createUpstreamRoutes } from './upstreams.ts';

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
    ...createSignInRoutes({ ...options, tracker }),
    ...createSessionRoutes(options),
    ...createConfigRoutes(options),
    createEnvironmentRoute(options),
    ...createModelRoutes(options),
    createTranslateRoute(options),
    ...(options.door === undefined ? [] : createDoorRoutes(options.door)),
    ...more,
  ];
  const callback = createCallbackRoute({ tracker, log: options.log });
  const pages =
    options.door === undefined ? [callback] : [callback, createSignInRoute(options.door)];
  return [...routes, ...createDescriptionRoutes(routes, options), ...pages];
}
