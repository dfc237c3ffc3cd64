// What a relayed body of this wire is changed for, in tests.

import type { PatchTarget } from '../upstream.ts';
import { capabilitiesOf } from './models.ts';
import type { MessagesProfile } from './profiles.ts';

/** Of an account without memory or wishes of its own. */
export function patchTarget(
  { profile, modelId }: { readonly profile: MessagesProfile; readonly modelId: string },
  more: Pick<PatchTarget, 'receipt'> & Partial<PatchTarget>,
): PatchTarget {
  return {
    modelId,
    capabilities: capabilitiesOf(profile, modelId),
    signatures: 'carried',
    usesPlaceholders: false,
    recall: { lookup: () => undefined },
    variant: { webSearch: false },
    thinkingMode: { kind: 'auto' },
    ...more,
  };
}
