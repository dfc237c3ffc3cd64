// Profile of any other upstream of the generate-content wire, as the operator describes it.

import { HEADER_SPELLINGS, type Vocabulary } from '../../../wire/vocabulary.ts';
import type { AccountAccess } from '../../upstream.ts';
import { trimBaseUrl, userAgentOf } from '../../wire-parts.ts';
import {
  type GenerateProfile,
  NEUTRAL_EXTRA_FIELDS,
  PUBLIC_EXTRA_FIELDS,
  plainPaths,
  spellingsIn,
  unlistedRealId,
} from './profile.ts';

export interface GenericProfileOptions {
  readonly baseUrl: string;
  readonly vocabulary: Vocabulary;
  /** How an API key travels; access tokens are always Bearer. */
  readonly auth: 'bearer' | 'header' | 'query';
  /** `generic` unless several such upstreams are configured. */
  readonly id?: string | undefined;
  readonly version?: string | undefined;
  readonly quotaPath?: string | undefined;
}

const VERSION_PATH = '/v1beta';

export function createGenericProfile(options: GenericProfileOptions): GenerateProfile {
  const { vocabulary, auth } = options;
  const isReal = vocabulary === 'real';
  return {
    id: options.id ?? 'generic',
    vocabulary,
    baseUrl: trimBaseUrl(options.baseUrl, VERSION_PATH),
    userAgent: userAgentOf(options.version),
    authHeaders({ credentialKind, credential }) {
      if (auth === 'bearer' || credentialKind === 'access-token') {
        return { authorization: `Bearer ${credential}` };
      }
      if (auth === 'query') return {};
      const [real, neutral] = HEADER_SPELLINGS.generateApiKey;
      return { [isReal ? real : neutral]: credential };
    },
    ...(auth === 'query' && {
      authQuery: ({ credentialKind, credential }: AccountAccess) =>
        credentialKind === 'api-key' ? { key: credential } : {},
    }),
    ...plainPaths(VERSION_PATH),
    hasProjectInBody: true,
    modelIds: (name) => spellingsIn(vocabulary, name),
    ...(isReal ? { unlistedId: unlistedRealId } : {}),
    capabilityOverrides: {},
    extraFields: isReal ? PUBLIC_EXTRA_FIELDS : NEUTRAL_EXTRA_FIELDS,
    countForm: 'whole-or-contents',
    quotaPath: options.quotaPath ?? `${VERSION_PATH}/quota`,
    readsUri: () => false,
  };
}
