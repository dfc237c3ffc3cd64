// Profile of any other upstream of the generate-content wire, as the operator describes it.

import type { ModelCapabilities } from '../../../canonical/model.ts';
import { HEADER_SPELLINGS, type Vocabulary } from '../../../wire/vocabulary.ts';
import type { AccountAccess } from '../../upstream.ts';
import {
  type GenerateProfile,
  NEUTRAL_EXTRA_FIELDS,
  PUBLIC_EXTRA_FIELDS,
  plainPaths,
  spellingsIn,
  trimBaseUrl,
  unlistedRealId,
  userAgentOf,
} from './profile.ts';

export interface GenericProfileOptions {
  readonly baseUrl: string;
  readonly vocabulary: Vocabulary;
  /** How an API key travels; access tokens are always Bearer. */
  readonly auth: 'bearer' | 'header' | 'query';
  /** `generic` unless several such upstreams are configured. */
  readonly id?: string | undefined;
  readonly version?: string | undefined;
  readonly versionPath?: string | undefined;
  readonly projectPlacement?: 'body' | 'header' | 'none' | undefined;
  /** What the upstream does with tool calls of the current turn that have no signature. */
  readonly unsignedCalls?: ModelCapabilities['unsignedCalls'] | undefined;
  readonly quotaPath?: string | undefined;
  /** Beginnings of file addresses the upstream can read itself. */
  readonly readableUris?: readonly string[] | undefined;
}

export function createGenericProfile(options: GenericProfileOptions): GenerateProfile {
  const { vocabulary, versionPath = '/v1beta', readableUris = [], unsignedCalls } = options;
  const projectPlacement = options.projectPlacement ?? 'body';
  return {
    id: options.id ?? 'generic',
    vocabulary,
    baseUrl: trimBaseUrl(options.baseUrl, versionPath),
    userAgent: userAgentOf(options.version),
    authHeaders: (access) => ({
      ...credentialHeaders(access, options),
      ...(projectPlacement === 'header' ? projectHeaders(access, vocabulary) : {}),
    }),
    authQuery: (access) =>
      options.auth === 'query' && access.credentialKind === 'api-key'
        ? { key: access.credential }
        : {},
    ...plainPaths(versionPath),
    projectPlacement,
    modelIds: (name) => spellingsIn(vocabulary, name),
    ...(vocabulary === 'real' ? { unlistedId: unlistedRealId } : {}),
    capabilityOverrides: unsignedCalls === undefined ? {} : { unsignedCalls },
    extraFields: vocabulary === 'real' ? PUBLIC_EXTRA_FIELDS : NEUTRAL_EXTRA_FIELDS,
    countForm: 'whole-or-contents',
    quotaPath: options.quotaPath ?? `${versionPath}/quota`,
    readsUri: (uri) => readableUris.some((home) => uri.startsWith(home)),
  };
}

function credentialHeaders(
  access: AccountAccess,
  { auth, vocabulary }: GenericProfileOptions,
): Record<string, string> {
  if (auth === 'bearer' || access.credentialKind === 'access-token') {
    return { authorization: `Bearer ${access.credential}` };
  }
  if (auth === 'query') return {};
  return { [spelling('generateApiKey', vocabulary)]: access.credential };
}

function projectHeaders(access: AccountAccess, vocabulary: Vocabulary): Record<string, string> {
  if (!access.projectId) return {};
  return { [spelling('generateUserProject', vocabulary)]: access.projectId };
}

function spelling(
  meaning: 'generateApiKey' | 'generateUserProject',
  vocabulary: Vocabulary,
): string {
  const [real, neutral] = HEADER_SPELLINGS[meaning];
  return vocabulary === 'real' ? real : neutral;
}
