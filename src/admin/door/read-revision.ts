// Reads the revision that a change of a key or an address rule was made against.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../lib/told.ts';

/** @throws GatewayError invalid-request for what no answer gave as its ETag */
export function readRevision(revision: string | undefined): number | undefined {
  if (revision === undefined) return undefined;
  if (/^\d{1,15}$/.test(revision)) return Number(revision);
  throw invalidRequest(
    'if-match',
    told`If-Match: send the ETag of the last answer, with its quotes.`,
  );
}
