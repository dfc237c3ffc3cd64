// Upstreams and accounts that the environment brings, for containers and tests.

import { ConfigError } from './config-error.ts';
import type { Environment } from './env.ts';
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
export function readUpstreamSeeds(environment: Environment): UpstreamSeed[] {
  const { geminiApiKey } = environment;
  const main = readMainSeed(environment);
  if (geminiApiKey === undefined) return main === undefined ? [] : [main];
  if (main === undefined) return [publicSeed(geminiApiKey)];
  if (main.profile !== 'gemini-api') return [main, publicSeed(geminiApiKey)];
  return [main.apiKeys.length === 0 ? { ...main, apiKeys: [geminiApiKey] } : main];
}

function readMainSeed(environment: Environment): UpstreamSeed | undefined {
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
  if (profile === 'generic' && baseUrl === undefined) {
    throw new ConfigError('The environment', [
      'UPSTREAM_BASE_URL must be set with UPSTREAM_PROFILE=generic',
    ]);
  }
  return {
    profile,
    baseUrl,
    apiKeys: [...new Set(upstreamApiKeys ?? [])],
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
