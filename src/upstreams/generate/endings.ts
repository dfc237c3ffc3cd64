// Which finish reason ends an answer well, and which makes a fault of it.

import type { FinishReason } from '../../canonical/event.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import type { ChoiceDecoder } from './decode-blocks.ts';

type Ending =
  /** `isOdd` where the reason is none of a natural end, though what was said can be used. */
  | { readonly kind: 'finished'; readonly reason: FinishReason; readonly isOdd?: true | undefined }
  /** What other upstreams refuse with a status: there is no answer, or no more of it. */
  | { readonly kind: 'refused'; readonly failure: 'missing-signature' | 'model-forbidden' }
  /** Worth another attempt; `message` is safe for clients. */
  | { readonly kind: 'failed'; readonly message: Sentence };

const UNUSABLE_CALL: Ending = {
  kind: 'failed',
  message: told`The model made a tool call that cannot be used.`,
};

/**
 * How one choice ended. The wire has no reason of its own for tool calls, so their presence decides.
 * Source: ai.google.dev, "GenerateContent API reference", and `google-genai` 3.4 (Python), `FinishReason`.
 */
export function readEnding(
  rawReason: string,
  answer: Pick<ChoiceDecoder, 'hasBrokenCall' | 'hasToolCalls' | 'hasContent'>,
  body: JsonObject | undefined,
): Ending {
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
      return { kind: 'failed', message: told`The model gave an answer that cannot be used.` };
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      if (answer.hasBrokenCall) return UNUSABLE_CALL;
      return { kind: 'finished', reason: answer.hasToolCalls ? 'tool-calls' : 'max-tokens' };
    default: {
      if (answer.hasBrokenCall) return UNUSABLE_CALL;
      // LANGUAGE, OTHER, NO_IMAGE, IMAGE_OTHER, and every reason newer than this table are odd.
      const isOdd = rawReason === 'STOP' ? undefined : true;
      if (answer.hasToolCalls) return { kind: 'finished', reason: 'tool-calls', isOdd };
      // A stop sequence is left out of the text and ends it naturally: it may be all there was to say.
      if (answer.hasContent || (isOdd === undefined && hasStops(body))) {
        return { kind: 'finished', reason: 'stop', isOdd };
      }
      return { kind: 'failed', message: told`The model gave an empty answer.` };
    }
  }
}

function hasStops(body: JsonObject | undefined): boolean {
  const config = body?.generationConfig;
  const stops = isJsonObject(config) ? config.stopSequences : undefined;
  return Array.isArray(stops) && stops.length > 0;
}
