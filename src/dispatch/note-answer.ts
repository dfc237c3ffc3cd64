// Writes an answer that has begun for certain into the record of its request.

import type { AnswerFigures, CallRecord } from './dispatcher.ts';

/** `figures` may still change while the answer comes; `committedAt` is in monotonic milliseconds. */
export function noteCommit(record: CallRecord, figures: AnswerFigures, committedAt: number): void {
  record.committedAt ??= committedAt;
  record.answers ??= [];
  record.answers.push(figures);
}
