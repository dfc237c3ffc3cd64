// Small canonical requests and targets for the tests of the encoder and the patcher.

import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, Part, Turn } from '../../canonical/request.ts';
import type { PatchTarget } from '../upstream.ts';
import { capabilitiesOf } from './models.ts';
import { createGeminiApiProfile } from './profiles/gemini-api.ts';
import { createSandboxProfile } from './profiles/sandbox.ts';

export const sandbox = createSandboxProfile({ baseUrl: 'http://127.0.0.1:1' });
export const gemini = createGeminiApiProfile();

export function user(...parts: readonly (Part | string)[]): Turn {
  return { role: 'user', parts: parts.map(asPart) };
}

export function assistant(...parts: readonly (Part | string)[]): Turn {
  return { role: 'assistant', parts: parts.map(asPart) };
}

/** A request that says "Hi", with the given fields instead of the neutral ones. */
export function requestOf(fields: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return {
    system: [],
    turns: [user('Hi')],
    tools: [],
    toolChoice: { kind: 'auto', names: [] },
    sampling: {},
    stopSequences: [],
    choices: 1,
    reasoning: { amount: { kind: 'unset' } },
    outputFormat: { kind: 'text' },
    safety: [],
    ...fields,
  };
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

function asPart(part: Part | string): Part {
  return typeof part === 'string' ? { kind: 'text', text: part } : part;
}
