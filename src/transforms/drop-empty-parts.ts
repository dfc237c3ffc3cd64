// Drops parts that say nothing: empty texts, empty thoughts, thinking only its issuer can read.

import { told } from '../canonical/receipt.ts';
import type { Part, TextPart, ThinkingPart } from '../canonical/request.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

export const dropEmptyParts: Transform = (request, context) => {
  const system = request.system.filter((part) => part.text !== '');
  const trimmed = mapTurns({ ...request, system }, (turn) => {
    if (turn.role === 'system') {
      const parts = turn.parts.filter((part) => part.text !== '');
      return parts.length === 0 ? undefined : { role: 'system', parts };
    }
    const parts = turn.parts.filter((part) => isWorthSending(part, context));
    if (parts.length === 0) return undefined;
    return parts.length === turn.parts.length ? turn : { role: turn.role, parts };
  });
  return trimmed;
};

function isWorthSending(part: Part, { receipt }: TransformContext): boolean {
  switch (part.kind) {
    case 'text':
      return hasTextOrSignature(part);
    case 'thinking':
      return part.text !== '' || isCarrier(part);
    case 'redacted-thinking':
      receipt.add(
        'dropped',
        'redacted_thinking',
        told`Only its issuer can read redacted thinking.`,
      );
      return false;
    default:
      return true;
  }
}

/** A thought without text is worth keeping only as the carrier of another part's signature. */
function isCarrier({ signature }: ThinkingPart): boolean {
  return signature?.on !== undefined && signature.on !== 'thinking';
}

function hasTextOrSignature(part: TextPart): boolean {
  return part.text !== '' || part.signature !== undefined;
}
