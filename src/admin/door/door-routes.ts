// All routes of the door: sessions, keys, address rules and the access log.

import type { Door } from '../../door/door.ts';
import type { ApiRoute } from '../api-route.ts';
import { createAccessLogRoute } from './access-log.ts';
import { createAddressRuleRoutes } from './address-rules.ts';
import { createKeyRoutes } from './keys.ts';
import { createSessionRoutes } from './session.ts';

export function createDoorRoutes(door: Door): readonly ApiRoute[] {
  return [
    ...createSessionRoutes(door),
    ...createKeyRoutes(door),
    ...createAddressRuleRoutes(door),
    createAccessLogRoute(door),
  ];
}
