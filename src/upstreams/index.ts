// The registry of upstreams: one line a profile.

import { definedFields, type JsonObject, type Optional } from '../lib/json.ts';
import { createChatUpstream } from './chat/index.ts';
import {
  type ChatPaths,
  createCompatibleProfile,
  createOpenAiProfile,
  type EndpointModels,
  type QuirkPreset,
} from './chat/profiles.ts';
import { createGenerateUpstream } from './generate/index.ts';
import {
  createGeminiApiProfile,
  createGenericProfile,
  createSandboxProfile,
  createVertexProfile,
  type GenerateProfile,
  type GenericProfileOptions,
  type VertexProfileOptions,
} from './generate/profiles.ts';
import { createMessagesUpstream } from './messages/index.ts';
import { createAnthropicProfile, createMessagesProfile } from './messages/profiles.ts';
import type { OwnedUpstream, WireOptions } from './wire-parts.ts';

/** As the operator describes it; what a profile has no use for is left alone. */
export interface UpstreamSettings extends Optional<GenericProfileOptions>, VertexProfileOptions {
  readonly profile: GenerateProfileName | 'anthropic' | 'messages' | 'openai' | 'openai-compatible';
  /** The header that carries a key where `auth` is `header`. */
  readonly keyHeader?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly paths?: Optional<ChatPaths> | undefined;
  readonly quirks?: QuirkPreset | undefined;
  readonly endpoints?: EndpointModels | undefined;
  /** What ends the answers of a Chat upstream. */
  readonly endsWith?: 'finish_reason' | 'done' | undefined;
  readonly extraBody?: JsonObject | undefined;
  /** Flags that every request to a Messages upstream has. */
  readonly betas?: readonly string[] | undefined;
  /** True where its accounts serve only requests that are routed to it by its id. */
  readonly servesByNameOnly?: boolean | undefined;
  /** True where it is asked for names that its model list lacks too, as they are. */
  readonly servesUnlisted?: boolean | undefined;
  /** True where the built-in sandbox answers, whatever the wire. */
  readonly isSandbox?: boolean | undefined;
}

type UpstreamOptions = Pick<WireOptions<never>, 'clock' | 'answerRoom' | 'proxyFor'>;

/** The caller closes it. */
export function createUpstream(
  settings: UpstreamSettings,
  options: UpstreamOptions,
): OwnedUpstream {
  const { servesByNameOnly, servesUnlisted, isSandbox } = settings;
  const upstream = createWire(settings, options);
  if (servesByNameOnly !== true) return upstream;
  const named = { ...upstream, servesByNameOnly, isSandbox };
  return servesUnlisted === true ? { ...named, servesUnlisted, unlistedId: (name) => name } : named;
}

function createWire(settings: UpstreamSettings, options: UpstreamOptions): OwnedUpstream {
  const { id, version, profile, baseUrl = '', betas, auth } = settings;
  switch (profile) {
    case 'anthropic':
      return createMessagesUpstream({
        ...options,
        profile: createAnthropicProfile({ id, version, baseUrl: settings.baseUrl }),
      });
    case 'messages':
      return createMessagesUpstream({
        ...options,
        profile: createMessagesProfile({
          ...{ id, version, baseUrl, betas },
          auth: auth === 'bearer' ? 'bearer' : 'x-api-key',
        }),
      });
    case 'openai':
      return createChatUpstream({
        ...options,
        profile: createOpenAiProfile({
          id,
          version,
          baseUrl: settings.baseUrl,
          headers: settings.headers,
          endpoints: settings.endpoints,
        }),
      });
    case 'openai-compatible':
      return createChatUpstream({
        ...options,
        profile: createCompatibleProfile(compatible(settings)),
      });
    default:
      return createGenerateUpstream({
        ...options,
        profile: createGenerateProfile(profile, settings),
      });
  }
}

type GenerateProfileName = 'sandbox' | 'generic' | 'gemini-api' | 'vertex';

function createGenerateProfile(
  profile: GenerateProfileName,
  settings: UpstreamSettings,
): GenerateProfile {
  const { baseUrl = '', vocabulary = 'neutral', auth = 'bearer' } = settings;
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

function compatible(settings: UpstreamSettings) {
  const { id, version, baseUrl = '', headers, query, paths, quirks, extraBody } = settings;
  const { endpoints, auth, keyHeader = 'api-key', endsWith } = settings;
  return {
    ...{ id, version, baseUrl, headers, query, endpoints },
    paths: definedFields({ ...paths }),
    auth: auth === 'header' ? { header: keyHeader } : ('bearer' as const),
    quirks: {
      ...(quirks === undefined ? {} : { preset: quirks }),
      ...(endsWith === 'done' && { namesEnds: false }),
      ...(extraBody === undefined ? {} : { extraBody }),
    },
  };
}
