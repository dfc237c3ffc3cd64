// Turns what the configuration says of an upstream into the settings of its profile.

import type { UpstreamSettings } from './index.ts';

/** As the operator describes it; what a profile has no use for is left alone. */
export interface UpstreamDescription {
  readonly id: string;
  readonly profile: UpstreamSettings['profile'];
  readonly baseUrl: string | undefined;
  readonly vocabulary: 'real' | 'neutral' | undefined;
  readonly auth: 'bearer' | 'header' | 'query' | undefined;
  readonly quotaPath: string | undefined;
  readonly location: string | undefined;
}

/** Undefined for a profile without an address of its own when none is given: the embedded sandbox. */
export function settingsOf(description: UpstreamDescription): UpstreamSettings | undefined {
  const { id, profile, baseUrl, vocabulary = 'neutral', auth = 'bearer' } = description;
  switch (profile) {
    case 'sandbox':
      return baseUrl === undefined ? undefined : { profile, id, baseUrl };
    case 'generic':
      if (baseUrl === undefined) return undefined;
      return { profile, id, baseUrl, vocabulary, auth, quotaPath: description.quotaPath };
    case 'gemini-api':
      return { profile, id, baseUrl };
    case 'vertex':
      return { profile, id, baseUrl, location: description.location };
    default:
      return profile satisfies never;
  }
}
