// Upstreams and accounts that the environment brings, for containers and tests.

import { type Sentence, told } from '../lib/told.ts';
import { ConfigError } from './config-error.ts';
import type { Environment } from './env.ts';
import { refusedKey } from './refused-key.ts';
import type { UpstreamProfile } from './values.ts';

export interface UpstreamSeed {
  /** Also the id of the upstream. */
  readonly profile: UpstreamProfile;
  /** Undefined for the profile's own address. */
  readonly baseUrl: string | undefined;
  /** One account a key: `key-1@env`, `key-2@env`, …; empty when accounts come from elsewhere. */
  readonly apiKeys: readonly string[];
  /** For the `generic` profile only. */
  readonly vocabulary: 'real' | 'neutral' | undefined;
  readonly auth: 'bearer' | 'header' | 'query' | undefined;
  /** For the `vertex` profile only. */
  readonly location: string | undefined;
  /** Of every account here. */
  readonly projectId: string | undefined;
}

/**
 * `UPSTREAM_*` make one upstream; `GEMINI_API_KEY` lends it its key when it is the public API without
 * keys of its own, and makes one by itself otherwise.
 * @throws ConfigError when the variables do not fit together.
 */
export function readUpstreamSeeds(
  environment: Environment,
  ownKeys: readonly string[],
): UpstreamSeed[] {
  const given = environment.geminiApiKey;
  const isRefused =
    given !== undefined && refusedKey(given, { ownKeys, isPublic: true }) !== undefined;
  const geminiApiKey = isRefused ? undefined : given;
  const main = readMainSeed(environment, ownKeys);
  if (geminiApiKey === undefined) return main === undefined ? [] : [main];
  if (main === undefined) return [publicSeed(geminiApiKey)];
  if (main.profile !== 'gemini-api') return [main, publicSeed(geminiApiKey)];
  return [main.apiKeys.length === 0 ? { ...main, apiKeys: [geminiApiKey] } : main];
}

/** Why keys of the environment make no account, a sentence each. */
export function refusedSeeds(
  { geminiApiKey, upstreamApiKeys = [], upstreamBaseUrl }: Environment,
  ownKeys: readonly string[],
): Sentence[] {
  const sayRefused = (name: string, keys: readonly string[], isPublic: boolean): Sentence[] => {
    const reasons = keys.flatMap((key) => refusedKey(key, { ownKeys, isPublic }) ?? []);
    return [...new Set(reasons)].map(
      (reason) => told`A key of ${name} makes no account: it ${reason}.`,
    );
  };
  const own = geminiApiKey === undefined ? [] : [geminiApiKey];
  return [
    ...sayRefused('GEMINI_API_KEY', own, true),
    ...sayRefused('UPSTREAM_API_KEYS', upstreamApiKeys, upstreamBaseUrl === undefined),
  ];
}

function readMainSeed(
  environment: Environment,
  ownKeys: readonly string[],
): UpstreamSeed | undefined {
  const { upstreamProfile, upstreamBaseUrl: baseUrl, upstreamApiKeys } = environment;
  const { upstreamLocation: location, upstreamProject: projectId } = environment;
  if (location !== undefined && upstreamProfile !== 'vertex') {
    throw new ConfigError('The environment', [
      'ISTHMUS_UPSTREAM_LOCATION is for UPSTREAM_PROFILE=vertex only',
    ]);
  }
  if (upstreamProfile === undefined && baseUrl === undefined && upstreamApiKeys === undefined) {
    return undefined;
  }
  const profile = upstreamProfile ?? (baseUrl === undefined ? 'gemini-api' : 'generic');
  return {
    profile,
    baseUrl,
    apiKeys: [...new Set(upstreamApiKeys)].filter(
      (key) => refusedKey(key, { ownKeys, isPublic: baseUrl === undefined }) === undefined,
    ),
    vocabulary: environment.upstreamVocabulary,
    auth: environment.upstreamAuth,
    location,
    projectId,
  };
}

function publicSeed(apiKey: string): UpstreamSeed {
  return {
    profile: 'gemini-api',
    baseUrl: undefined,
    apiKeys: [apiKey],
    vocabulary: undefined,
    auth: undefined,
    location: undefined,
    projectId: undefined,
  };
}
