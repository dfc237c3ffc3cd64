// What the edge does with kept answers: runs the routes that show one or let a client read along, and counts those that a
// request goes on from, which take room as its body does, and turns.

import { nextTurn } from '../lib/chunked-json.ts';
import { createId } from '../lib/ids.ts';
import type { JsonObject } from '../lib/json.ts';
import type { KeptRoute } from '../protocols/protocol.ts';
import type { FoundResponse, KeptAnswers } from '../stored-responses/response-store.ts';
import { bodyInput } from './call-context.ts';
import type { Exchange } from './edge.ts';
import { readJsonBody, UNCOUNTED_BYTES } from './gates/body.ts';
import { sendJson } from './respond.ts';
import { followStream } from './stream-response.ts';

export async function answerKept(exchange: Exchange, route: KeptRoute, id: string): Promise<void> {
  const { edge, clientKeyId, query } = exchange;
  const responses = edge.responseStores.of(clientKeyId);
  const body = route.takesBody === true ? await readKeptBody(exchange) : {};
  const now = Math.floor(edge.clock.now() / 1000);
  const runs = edge.runs.of(clientKeyId);
  const input = { id, query, responses, runs, body, createId, now };
  const followed = await route.follow?.(input);
  if (followed !== undefined) return followStream(exchange, followed);
  sendJson(exchange, { status: 200, body: await route.run(input) });
}

/** Clients may send no body at all where every field is optional. */
async function readKeptBody(exchange: Exchange): Promise<JsonObject> {
  const { request } = exchange;
  const { headers } = request;
  const isEmpty = headers['transfer-encoding'] === undefined && !Number(headers['content-length']);
  if (isEmpty) return {};
  return readJsonBody(bodyInput(exchange));
}

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
