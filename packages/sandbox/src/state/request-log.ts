// The last requests as they arrived, for people who want to see what a gateway really sent. Never holds credentials.

import { type JsonObject, parseJson } from '../json.ts';

export interface RequestLog {
  /** Starts a record; the returned function notes how the answer ended. */
  add(received: ReceivedRequest): (outcome: Outcome) => void;
  /** Oldest first. */
  list(): readonly JsonObject[];
}

interface ReceivedRequest {
  /** ISO 8601. */
  readonly time: string;
  readonly account: string;
  readonly path: string;
  /** JSON text. */
  readonly body: string;
}

interface Outcome {
  readonly status: number;
  readonly ended: Ending;
}

/** `client-gone` when the caller left first; `cut` when a fault ended the body. */
export type Ending = 'complete' | 'cut' | 'client-gone';

const MAX_RECORDS = 50;
const MAX_BODY_CHARACTERS = 64 * 1024;

export function createRequestLog(): RequestLog {
  const records: { readonly received: ReceivedRequest; outcome?: Outcome }[] = [];
  return {
    add(received) {
      const body = copyBeginning(received.body, MAX_BODY_CHARACTERS + 1);
      const record: (typeof records)[number] = { received: { ...received, body } };
      records.push(record);
      if (records.length > MAX_RECORDS) records.shift();
      return (outcome) => {
        record.outcome = outcome;
      };
    },
    list: () =>
      records.map(({ received, outcome }) => ({ ...received, ...outcome, ...writeBody(received) })),
  };
}

/** A text of its own: a slice of a long one would keep all of it in memory. */
function copyBeginning(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le');
}

/** Bodies too long to keep are shown by their beginning. */
function writeBody({ body }: ReceivedRequest): JsonObject {
  return body.length <= MAX_BODY_CHARACTERS
    ? { body: parseJson(body) }
    : { body: null, bodyBeginning: body.slice(0, MAX_BODY_CHARACTERS) };
}
