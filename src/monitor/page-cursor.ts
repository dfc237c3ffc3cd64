// The place in a list of records, latest first, from which its next page goes on.

import { invalidRequest } from '../canonical/error.ts';

export interface PagePosition {
  readonly at: number;
  /** Tells records of one millisecond apart; rises in the order in which they were kept. */
  readonly sequence: number;
}

export function writeCursor({ at, sequence }: PagePosition): string {
  return `${at}-${sequence}`;
}

/** @throws GatewayError invalid-request */
export function readCursor(cursor: string): PagePosition {
  const [, at, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  if (at !== undefined && sequence !== undefined) {
    return { at: Number(at), sequence: Number(sequence) };
  }
  throw invalidRequest(
    'cursor',
    'cursor: send the nextCursor of an earlier answer, or leave it out.',
  );
}
