// Keeps a change of the address filter's settings from shutting its author out.

import { readAddressFilterSettings } from '../../config/door-settings.ts';
import type { Door } from '../../door/door.ts';
import type { JsonObject } from '../../lib/json.ts';

/** Values of another type are refused later, by name. @throws GatewayError invalid-request */
export function refuseLockOut(
  door: Pick<Door, 'addresses'> | undefined,
  values: JsonObject,
  byAddress: string,
): void {
  const { enabled, allow_beats_deny: allowBeatsDeny, default: fallback } = values;
  const settings = readAddressFilterSettings({
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(typeof allowBeatsDeny === 'boolean' ? { allow_beats_deny: allowBeatsDeny } : {}),
    ...(fallback === 'allow' || fallback === 'deny' ? { default: fallback } : {}),
  });
  door?.addresses.refuseLockOut(settings, byAddress);
}
