// Implicit prompt caching: remembers long prompt beginnings per account and model, and tells how much was seen before.

import { createHash } from 'node:crypto';
import { canonicalJson } from '../json.ts';
import { countContentTokens, countJsonTokens, identifyContent } from '../tokens.ts';
import type { GenerateRequest } from '../wire.ts';

export interface PrefixCache {
  /** Tokens of the longest beginning seen before in `scope` (0 below the minimum); remembers this one. */
  visit(scope: string, request: GenerateRequest): number;
}

/** Shorter beginnings are not cached. */
const MIN_CACHED_TOKENS = 1024;
const MAX_REMEMBERED = 5_000;

interface Prefix {
  readonly digest: string;
  readonly tokens: number;
}

export function createPrefixCache(): PrefixCache {
  const seen = new Set<string>();
  const remember = (digest: string): void => {
    // Deleting first moves the entry to the young end: sets keep insertion order.
    seen.delete(digest);
    seen.add(digest);
    const oldest = seen.values().next().value;
    if (seen.size > MAX_REMEMBERED && oldest !== undefined) seen.delete(oldest);
  };
  return {
    visit(scope, request) {
      const prefixes = listPrefixes(scope, request).filter(
        ({ tokens }) => tokens >= MIN_CACHED_TOKENS,
      );
      const hit = prefixes.findLast(({ digest }) => seen.has(digest));
      for (const { digest } of prefixes) remember(digest);
      return hit?.tokens ?? 0;
    },
  };
}

/** The beginnings that end with the instructions and tools, then with each content. */
function listPrefixes(scope: string, request: GenerateRequest): Prefix[] {
  const { contents = [], systemInstruction = {}, tools = [] } = request;
  const head = canonicalJson(JSON.parse(JSON.stringify([systemInstruction, tools])));
  let digest = chain(scope, head);
  let tokens =
    countContentTokens(systemInstruction) + (tools.length > 0 ? countJsonTokens(tools) : 0);
  const prefixes: Prefix[] = [{ digest, tokens }];
  for (const content of contents) {
    digest = chain(digest, identifyContent(content));
    tokens += countContentTokens(content);
    prefixes.push({ digest, tokens });
  }
  return prefixes;
}

function chain(previous: string, text: string): string {
  return createHash('sha256').update(previous).update('\n').update(text).digest('base64');
}
