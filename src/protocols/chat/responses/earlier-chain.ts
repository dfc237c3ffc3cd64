// Follows kept answers back to the first of them, within bounds.

import { GatewayError } from '../../../canonical/error.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import type { AnswerShelf, FoundAnswer } from '../../../shelf/answer-shelf.ts';
import type { EarlierItems } from '../../protocol.ts';

/** Longer conversations are sent whole by their clients. */
const MOST_ANSWERS = 1000;
/** As large as a request may be, in UTF-16 units of JSON text. */
const MOST_UNITS = 100 * 1024 * 1024;

export const NOTHING_EARLIER: EarlierItems = {
  history: [],
  rootId: undefined,
  findItem: () => undefined,
};

/**
 * From the first answer to the one that is named. `lost` makes the error for a chain with a gap, and
 * for one that is too long. @throws GatewayError
 */
export async function findChain(
  id: string,
  shelf: AnswerShelf,
  lost: () => GatewayError,
): Promise<readonly FoundAnswer[]> {
  const chain: FoundAnswer[] = [];
  let units = 0;
  for (let next: string | undefined = id; next !== undefined; ) {
    const answer: FoundAnswer | undefined = await shelf.find(next);
    if (answer === undefined || chain.length === MOST_ANSWERS) throw lost();
    units += answer.size;
    if (units > MOST_UNITS) throw tooLarge();
    chain.push(answer);
    next = answer.previousId;
  }
  return chain.reverse();
}

export function outputOf({ output }: JsonObject): readonly JsonObject[] {
  return Array.isArray(output) ? output.filter(isJsonObject) : [];
}

function tooLarge(): GatewayError {
  return new GatewayError({
    kind: 'too-large',
    source: 'client',
    message:
      'The conversation that is kept here has grown larger than a request may be. Start a new one ' +
      'with the items that still matter.',
  });
}
