// The registry of upstreams: one line a profile.

import type { Clock } from '../lib/clock.ts';
import { createGenerateUpstream, type GenerateUpstream } from './generate/index.ts';
import {
  createGeminiApiProfile,
  type GeminiApiProfileOptions,
} from './generate/profiles/gemini-api.ts';
import { createGenericProfile, type GenericProfileOptions } from './generate/profiles/generic.ts';
import type { GenerateProfile } from './generate/profiles/profile.ts';
import { createSandboxProfile, type SandboxProfileOptions } from './generate/profiles/sandbox.ts';
import { createVertexProfile, type VertexProfileOptions } from './generate/profiles/vertex.ts';
import type { AnswerRoom } from './generate/response.ts';

/** Which profile to use, and what it needs to know: plain data. The id is the profile's name by default. */
export type UpstreamSettings =
  | ({ readonly profile: 'sandbox' } & SandboxProfileOptions)
  | ({ readonly profile: 'generic' } & GenericProfileOptions)
  | ({ readonly profile: 'gemini-api' } & GeminiApiProfileOptions)
  | ({ readonly profile: 'vertex' } & VertexProfileOptions);

/** The caller closes it. */
export function createUpstream(
  settings: UpstreamSettings,
  options: { readonly clock: Clock; readonly answerRoom?: AnswerRoom | undefined },
): GenerateUpstream {
  return createGenerateUpstream({ ...options, profile: createProfile(settings) });
}

function createProfile(settings: UpstreamSettings): GenerateProfile {
  switch (settings.profile) {
    case 'sandbox':
      return createSandboxProfile(settings);
    case 'generic':
      return createGenericProfile(settings);
    case 'gemini-api':
      return createGeminiApiProfile(settings);
    case 'vertex':
      return createVertexProfile(settings);
    default:
      return settings satisfies never;
  }
}

// Turns what the configuration says of an upstream into the settings of its profile.

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
