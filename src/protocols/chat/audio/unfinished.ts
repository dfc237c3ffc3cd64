// Tells transcriptions that do not reach the end of their recording.

import { GatewayError } from '../../../canonical/error.ts';
import type { ChoiceEnd } from '../../../canonical/event.ts';
import { withheldBecause } from '../../../canonical/withheld.ts';

/**
 * This surface has no word for an answer that ends early: a part of the words would pass for all of
 * them. Undefined for a whole transcription.
 */
export function unfinishedError(ends: readonly ChoiceEnd[]): GatewayError | undefined {
  for (const end of ends) {
    switch (end.reason) {
      case 'safety':
      case 'prompt-blocked':
        return new GatewayError({
          kind: 'upstream-rejected',
          source: 'upstream',
          reason: 'content-policy',
          field: 'file',
          message: withheldBecause(end) ?? 'The model refused to write this recording down.',
        });
      case 'max-tokens':
        return new GatewayError({
          kind: 'upstream-rejected',
          source: 'upstream',
          field: 'file',
          message: 'file: there is more to write down than one answer holds; split the recording.',
        });
      case 'stop':
      case 'stop-sequence':
      case 'tool-calls':
        break;
      default:
        end.reason satisfies never;
    }
  }
  return undefined;
}
