// Profile of the embedded sandbox upstream: the catalogue's own names, Bearer, project in the body.

import { createGenericProfile, type GenericProfileOptions } from './generic.ts';
import type { GenerateProfile } from './profile.ts';

export function createSandboxProfile({
  id = 'sandbox',
  baseUrl,
  version,
}: Pick<GenericProfileOptions, 'id' | 'baseUrl' | 'version'>): GenerateProfile {
  return {
    ...createGenericProfile({ id, baseUrl, version, vocabulary: 'neutral', auth: 'bearer' }),
    isSandbox: true,
    modelIds: (name) => [name],
    capabilityOverrides: { takesJsonSchema: true },
    countForm: 'whole-request',
  };
}
