// Refuses a conversation whose beginning is kept in a cache of the upstream's: the model would not see it.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import { saysNothing } from '../../canonical/field-shapes.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';

const CACHE_KEYS = ['cached_content', 'cachedContent'] as const;

/**
 * The name of a cache stands in the vendor extension object (ai.google.dev, "OpenAI compatibility"),
 * in `extra_body` or bare. @throws GatewayError 400
 */
export function refuseCachedContent(body: JsonObject): void {
  for (const [path, holder] of holdersOf(body)) {
    for (const key of CACHE_KEYS) {
      if (saysNothing(holder[key])) continue;
      const field = memberPath(path, key);
      throw invalidRequest(
        field,
        `${field} is not supported: a cache belongs to one upstream account. Send the content itself; requests of one session stay on one account and are cached implicitly.`,
        'unsupported',
      );
    }
  }
}

function holdersOf(body: JsonObject): readonly (readonly [string, JsonObject])[] {
  const extra = body.extra_body;
  const outer: [string, JsonObject][] = [['', body]];
  if (isJsonObject(extra)) outer.push(['extra_body', extra]);
  const inner = outer.flatMap(([path, holder]) =>
    CHAT_EXTENSION_KEYS.flatMap((key): [string, JsonObject][] => {
      const extension = holder[key];
      return isJsonObject(extension) ? [[memberPath(path, key), extension]] : [];
    }),
  );
  return [...outer, ...inner];
}
