// Finished blocks as parts of a candidate's content.

import type { BlockOpening } from '../../canonical/event.ts';
import type { ReplyBlock } from '../../canonical/fold.ts';
import type { Signature } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { writePartSignature } from './signatures.ts';

const OUTCOMES = {
  ok: 'OUTCOME_OK',
  failed: 'OUTCOME_FAILED',
  timeout: 'OUTCOME_DEADLINE_EXCEEDED',
} as const;

type WholeBlock = Exclude<BlockOpening, { kind: 'text' | 'thinking' | 'tool-call' }>;

/** A block that came in one piece: media, code or the result of code. */
export function writeWholePart(block: WholeBlock): JsonObject {
  switch (block.kind) {
    case 'media':
      return { inlineData: { mimeType: block.mediaType, data: block.base64 } };
    case 'code': {
      const language = block.language.toUpperCase();
      return { executableCode: { ...writeId(block.id), language, code: block.code } };
    }
    case 'code-result': {
      const outcome = OUTCOMES[block.outcome];
      return { codeExecutionResult: { ...writeId(block.id), outcome, output: block.output } };
    }
    default:
      return block satisfies never;
  }
}

export function writeCallPart(id: string, name: string, args: JsonObject): JsonObject {
  return { functionCall: { id, name, args } };
}

export function signPart(part: JsonObject, signature: Signature | undefined): JsonObject {
  return signature === undefined
    ? part
    : { ...part, thoughtSignature: writePartSignature(signature) };
}

/** One block of a finished answer, unsigned. */
export function writeBlock(block: ReplyBlock): JsonObject {
  switch (block.kind) {
    case 'text':
      return { text: block.text };
    case 'thinking':
      return { text: block.text, thought: true };
    case 'tool-call':
      return writeCallPart(block.id, block.name, block.input);
    default:
      return writeWholePart(block);
  }
}

function writeId(id: string | undefined): JsonObject {
  return id === undefined ? {} : { id };
}
