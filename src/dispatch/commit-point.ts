// The commit point of an answer: from there on it is the client’s, and no other account is tried.

import type { AnswerFigures, CallRecord } from '../canonical/call-record.ts';
import type { CanonicalEvent } from '../canonical/event.ts';

/**
 * The commit point: true for events that carry content or end the answer. A start, usage figures, or a text block
 * that has no text yet could still be followed by nothing, and then another account is tried.
 */
export function isCommitting(event: CanonicalEvent): boolean {
  switch (event.kind) {
    case 'block-delta':
    case 'finish':
      return true;
    case 'block-start':
      return event.block.kind !== 'text' && event.block.kind !== 'thinking';
    default:
      return false;
  }
}

/** `figures` may still change while the answer comes; `committedAt` is in monotonic milliseconds. */
export function noteCommit(record: CallRecord, figures: AnswerFigures, committedAt: number): void {
  record.committedAt ??= committedAt;
  record.answers ??= [];
  record.answers.push(figures);
}
