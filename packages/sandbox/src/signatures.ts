// Thought signatures: opaque proofs bound to a model family and to the call or text they stand on. No state is kept.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from './json.ts';
import { MODEL_FAMILIES, type ModelFamily } from './models.ts';
import type { Part } from './wire.ts';

export interface Signatures {
  /** A base64 signature for this part. The same part always gets the same one. */
  issue(part: Part, family: ModelFamily): string;
  check(part: Part, family: ModelFamily): SignatureVerdict;
}

type SignatureVerdict = 'valid' | 'stand-in' | 'other-family' | 'invalid' | 'absent';

/** Values documented for calls that never had a signature (generate-content docs, "Thought signatures"). */
const STAND_INS = new Set(
  ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'].flatMap((word) => [
    word,
    Buffer.from(word).toString('base64'),
  ]),
);

const LEADING_BYTE = 0x12;
/** Real signatures are some hundred bytes; carriers must cope with the length. */
const FILLER_BYTES = 223;

export function createSignatures(seed: string): Signatures {
  const issueBytes = (part: Part, family: ModelFamily): Buffer => {
    const code = createHmac('sha256', seed)
      .update(`${family}\n${describeBinding(part)}`)
      .digest();
    const filler = createHash('shake256', { outputLength: FILLER_BYTES }).update(code).digest();
    return Buffer.concat([Buffer.from([LEADING_BYTE]), code, filler]);
  };
  const isFrom = (family: ModelFamily, part: Part, given: Buffer): boolean => {
    const expected = issueBytes(part, family);
    return expected.length === given.length && timingSafeEqual(expected, given);
  };
  return {
    issue: (part, family) => issueBytes(part, family).toString('base64'),
    check(part, family) {
      const text = part.thoughtSignature;
      if (text === undefined || text === '') return 'absent';
      if (STAND_INS.has(text)) return 'stand-in';
      const given = Buffer.from(text, 'base64');
      if (isFrom(family, part, given)) return 'valid';
      return MODEL_FAMILIES.some((other) => isFrom(other, part, given))
        ? 'other-family'
        : 'invalid';
    },
  };
}

/**
 * What a signature is bound to: a call's name and arguments, or being text. Not the words of a text,
 * because a stream carries its signature on an empty closing part.
 */
function describeBinding(part: Part): string {
  const call = part.functionCall;
  if (call !== undefined) return `call\n${call.name ?? ''}\n${canonicalJson(call.args ?? {})}`;
  return part.text === undefined ? 'other' : 'text';
}
