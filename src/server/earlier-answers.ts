// The kept answers that a request goes on from are part of it: they take room as its body does, and turns.

import { nextTurn } from '../lib/chunked-json.ts';
import type { FoundResponse, KeptAnswers } from '../stored-responses/response-store.ts';
import type { Exchange } from './edge.ts';
import { UNCOUNTED_BYTES } from './gates/body.ts';

type Finder = (id: string) => Promise<FoundResponse | undefined>;

/** Characters that are parsed in one turn, of several answers. */
const TURN_CHARACTERS = 262_144;

/** Finding throws as `check` of the budget when there is no room for what was found. */
export function countFound(
  responses: KeptAnswers,
  exchange: Pick<Exchange, 'clientKeyId' | 'clientAddress' | 'heldBytes'> & {
    readonly edge: Pick<Exchange['edge'], 'bodies'>;
  },
): KeptAnswers {
  let [uncounted, ofTurn] = [0, 0];
  const counting =
    (find: Finder): Finder =>
    async (id) => {
      const found = await find(id);
      if (found === undefined) return undefined;
      uncounted += found.size;
      ofTurn += found.size;
      if (uncounted > UNCOUNTED_BYTES) {
        exchange.edge.bodies.takeMore(exchange, uncounted);
        uncounted = 0;
      }
      if (ofTurn > TURN_CHARACTERS) {
        await nextTurn();
        ofTurn = 0;
      }
      return found;
    };
  return {
    find: counting(responses.find),
    findLatest: counting(responses.findLatest),
    findByItem: counting(responses.findByItem),
  };
}
