// Small canonical requests and targets for the tests of the encoder and the patcher.

import { requestOf as neutralRequest, user } from '../../../test/support/canonical.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { PatchTarget } from '../upstream.ts';
import { capabilitiesOf } from './models.ts';
import { createGeminiApiProfile, createSandboxProfile } from './profiles.ts';

export const sandbox = createSandboxProfile({ baseUrl: 'http://127.0.0.1:1' });
export const gemini = createGeminiApiProfile();

/** A request that says "Hi", with the given fields instead of the neutral ones. */
export function requestOf(fields: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return neutralRequest({ turns: [user('Hi')], ...fields });
}

export function targetOf(modelId: string, fields: Partial<PatchTarget> = {}): PatchTarget {
  return {
    modelId,
    capabilities: capabilitiesOf(sandbox, modelId),
    signatures: 'carried',
    usesPlaceholders: false,
    variant: { webSearch: false },
    thinkingMode: { kind: 'auto' },
    recall: { lookup: () => undefined },
    receipt: createReceipt(),
    ...fields,
  };
}
