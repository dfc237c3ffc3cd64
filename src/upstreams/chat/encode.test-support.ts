// What the encoder's tests share: bodies of canonical requests and of a client's own, with what was noted.

import { contextOf } from '../../../test/support/canonical.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { SignatureRecall, SignatureSource } from '../../canonical/signatures.ts';
import type { JsonObject } from '../../lib/json.ts';
import { applyTransforms } from '../../transforms/index.ts';
import type { PatchTarget } from '../upstream.ts';
import { encode } from './encode.ts';
import { capabilitiesOf } from './models.ts';
import { patch } from './native-body.ts';
import { type ChatProfile, createOpenAiProfile } from './profiles.ts';

export interface Made {
  readonly body: JsonObject;
  /** As `<action> <path>`. */
  readonly notes: readonly string[];
}

interface Aim {
  readonly profile?: ChatProfile;
  readonly modelId?: string;
  readonly recall?: SignatureRecall;
  readonly signatures?: SignatureSource;
  readonly variant?: Partial<PatchTarget['variant']>;
  readonly thinkingMode?: PatchTarget['thinkingMode'];
}

export const OPENAI = createOpenAiProfile();

function targetOf(aim: Aim): PatchTarget {
  const { profile = OPENAI, modelId = 'gpt-4o', recall, signatures, variant, thinkingMode } = aim;
  return {
    ...contextOf(recall === undefined ? {} : { recall }),
    variant: { webSearch: false, ...variant },
    ...(signatures === undefined ? {} : { signatures }),
    ...(thinkingMode === undefined ? {} : { thinkingMode }),
    modelId,
    capabilities: capabilitiesOf(profile, modelId),
    usesPlaceholders: false,
    receipt: createReceipt(),
  };
}

function notesOf({ receipt }: PatchTarget): readonly string[] {
  return receipt.entries.map(({ action, path }) => `${action} ${path}`);
}

/** After the transforms, as dispatch does it. */
export function made(request: CanonicalRequest, aim: Aim = {}): Made {
  const target = targetOf(aim);
  const body = encode(applyTransforms(request, target), target, aim.profile ?? OPENAI);
  return { body, notes: notesOf(target) };
}

export function patched(body: JsonObject, aim: Aim = {}): Made {
  const target = targetOf(aim);
  const sent = { messages: [{ role: 'user', content: 'hello' }], model: 'asked', ...body };
  return { body: patch(sent, target, aim.profile ?? OPENAI), notes: notesOf(target) };
}
