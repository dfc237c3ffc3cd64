// Profile of the embedded sandbox upstream: the catalogue's own names, Bearer, project in the body.

import {
  type GenerateProfile,
  NEUTRAL_EXTRA_FIELDS,
  plainPaths,
  trimBaseUrl,
  userAgentOf,
} from './profile.ts';

export interface SandboxProfileOptions {
  readonly id?: string | undefined;
  readonly baseUrl: string;
  readonly version?: string | undefined;
}

export function createSandboxProfile({
  id = 'sandbox',
  baseUrl,
  version,
}: SandboxProfileOptions): GenerateProfile {
  const versionPath = '/v1beta';
  return {
    id,
    isSandbox: true,
    vocabulary: 'neutral',
    baseUrl: trimBaseUrl(baseUrl, versionPath),
    userAgent: userAgentOf(version),
    authHeaders: (access) => ({ authorization: `Bearer ${access.credential}` }),
    authQuery: () => ({}),
    ...plainPaths(versionPath),
    projectPlacement: 'body',
    modelIds: (name) => [name],
    capabilityOverrides: { takesJsonSchema: true },
    extraFields: NEUTRAL_EXTRA_FIELDS,
    countForm: 'whole-request',
    quotaPath: `${versionPath}/quota`,
    readsUri: () => false,
  };
}
