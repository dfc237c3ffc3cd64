// The registry of upstreams: one line a profile.

import type { Clock } from '../lib/clock.ts';
import type { Optional } from '../lib/json.ts';
import { createGenerateUpstream, type GenerateUpstream } from './generate/index.ts';
import { createGeminiApiProfile } from './generate/profiles/gemini-api.ts';
import { createGenericProfile, type GenericProfileOptions } from './generate/profiles/generic.ts';
import type { GenerateProfile } from './generate/profiles/profile.ts';
import { createSandboxProfile } from './generate/profiles/sandbox.ts';
import { createVertexProfile, type VertexProfileOptions } from './generate/profiles/vertex.ts';
import type { AnswerRoom } from './transport/response.ts';

/** As the operator describes it; what a profile has no use for is left alone. */
export interface UpstreamSettings extends Optional<GenericProfileOptions>, VertexProfileOptions {
  readonly profile: 'sandbox' | 'generic' | 'gemini-api' | 'vertex';
}

/** The caller closes it. */
export function createUpstream(
  settings: UpstreamSettings,
  options: { readonly clock: Clock; readonly answerRoom?: AnswerRoom | undefined },
): GenerateUpstream {
  return createGenerateUpstream({ ...options, profile: createProfile(settings) });
}

function createProfile(settings: UpstreamSettings): GenerateProfile {
  const { profile, baseUrl = '', vocabulary = 'neutral', auth = 'bearer' } = settings;
  switch (profile) {
    case 'sandbox':
      return createSandboxProfile({ ...settings, baseUrl });
    case 'generic':
      return createGenericProfile({ ...settings, baseUrl, vocabulary, auth });
    case 'gemini-api':
      return createGeminiApiProfile(settings);
    case 'vertex':
      return createVertexProfile(settings);
    default:
      return profile satisfies never;
  }
}

/**
 * What an upstream is built from. Undefined for a profile without an address of its own when none is given: the
 * embedded sandbox.
 */
export function settingsOf(described: UpstreamSettings): UpstreamSettings | undefined {
  const { id, profile, baseUrl, vocabulary, auth, quotaPath, location } = described;
  const needsAddress = profile === 'sandbox' || profile === 'generic';
  if (needsAddress && baseUrl === undefined) return undefined;
  return { id, profile, baseUrl, vocabulary, auth, quotaPath, location };
}
