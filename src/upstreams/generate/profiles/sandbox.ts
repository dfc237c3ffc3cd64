// Profile of the embedded sandbox upstream: the catalogue's own names, Bearer, project in the body.

import { type GenerateProfile, trimBaseUrl, userAgentOf } from './profile.ts';

export interface SandboxProfileOptions {
  readonly baseUrl: string;
  readonly version?: string | undefined;
}

export function createSandboxProfile({ baseUrl, version }: SandboxProfileOptions): GenerateProfile {
  const versionPath = '/v1beta';
  return {
    id: 'sandbox',
    vocabulary: 'neutral',
    baseUrl: trimBaseUrl(baseUrl, versionPath),
    versionPath,
    userAgent: userAgentOf(version),
    authHeaders: (access) => ({ authorization: `Bearer ${access.credential}` }),
    authQuery: () => ({}),
    projectPlacement: 'body',
    modelIds: (name) => [name],
    capabilityOverrides: {},
    extraFields: [],
    countTakesFullRequest: true,
    quotaPath: `${versionPath}/quota`,
    readsUri: () => false,
  };
}
