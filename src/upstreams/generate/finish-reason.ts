// Reads the wire's finish reasons: what the client is told, or that there is no usable answer.

import type { FinishReason } from '../../canonical/event.ts';

export interface AnswerSoFar {
  /** True when there is anything but thoughts. */
  readonly hasContent: boolean;
  readonly hasToolCalls: boolean;
  /** True when a call cannot be told whole. */
  readonly hasBrokenCall: boolean;
  /** True when the request has stop sequences: one of them may be all there was to say. */
  readonly mayBeStopped: boolean;
}

export type Ending =
  /** `isOdd` where the reason is none of a natural end, though what was said can be used. */
  | { readonly kind: 'finished'; readonly reason: FinishReason; readonly isOdd?: true | undefined }
  /** What other upstreams refuse with a status: there is no answer, or no more of it. */
  | { readonly kind: 'refused'; readonly failure: 'missing-signature' | 'model-forbidden' }
  /** Worth another attempt; `message` is safe for clients. */
  | { readonly kind: 'failed'; readonly message: string };

const UNUSABLE_CALL: Ending = {
  kind: 'failed',
  message: 'The model made a tool call that cannot be used.',
};

/**
 * How one choice ended. The wire has no reason of its own for tool calls, so their presence decides.
 * Source: ai.google.dev, "GenerateContent API reference", and `google-genai` 3.4 (Python), `FinishReason`.
 */
export function readEnding(rawReason: string, answer: AnswerSoFar): Ending {
  switch (rawReason) {
    case 'SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
    case 'ESCALATION':
    case 'MODEL_ARMOR':
      return { kind: 'finished', reason: 'safety' };
    case 'MISSING_THOUGHT_SIGNATURE':
      return { kind: 'refused', failure: 'missing-signature' };
    // The account broke the rules of use: it is limited or closed.
    case 'PUP_LIMITED_DISABLED':
      return { kind: 'refused', failure: 'model-forbidden' };
    case 'MALFORMED_FUNCTION_CALL':
    case 'UNEXPECTED_TOOL_CALL':
    case 'TOO_MANY_TOOL_CALLS':
      return UNUSABLE_CALL;
    case 'MALFORMED_RESPONSE':
      return { kind: 'failed', message: 'The model gave an answer that cannot be used.' };
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      if (answer.hasBrokenCall) return UNUSABLE_CALL;
      return { kind: 'finished', reason: answer.hasToolCalls ? 'tool-calls' : 'max-tokens' };
    case 'STOP':
      // A stop sequence is left out of the text, and its reason is that of a natural end.
      return readNatural(answer, answer.mayBeStopped);
    // LANGUAGE, OTHER, NO_IMAGE, IMAGE_OTHER, and every reason newer than this table.
    default: {
      const ending = readNatural(answer, false);
      return ending.kind === 'finished' ? { ...ending, isOdd: true } : ending;
    }
  }
}

function readNatural(answer: AnswerSoFar, mayBeEmpty: boolean): Ending {
  if (answer.hasBrokenCall) return UNUSABLE_CALL;
  if (answer.hasToolCalls) return { kind: 'finished', reason: 'tool-calls' };
  if (answer.hasContent || mayBeEmpty) return { kind: 'finished', reason: 'stop' };
  return { kind: 'failed', message: 'The model gave an empty answer.' };
}
