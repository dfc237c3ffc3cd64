// A mark of the client up to which the prompt is to be cached, as it stands in `cache_control`.

import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';

/** For how long: true where the client leaves that to the service. */
export type CacheHint = true | '1h';

export function readCacheHint(mark: JsonValue | undefined): CacheHint | undefined {
  if (!isJsonObject(mark)) return undefined;
  return mark.ttl === '1h' ? '1h' : true;
}

export function writeCacheHint(hint: CacheHint): JsonObject {
  return { type: 'ephemeral', ...(hint === true ? {} : { ttl: hint }) };
}
