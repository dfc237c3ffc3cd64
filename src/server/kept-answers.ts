// Runs a route of kept answers and conversations: reads its body, shows an answer, or lets the client read along.

import { createId } from '../lib/ids.ts';
import type { JsonObject } from '../lib/json.ts';
import type { KeptRoute } from '../protocols/protocol.ts';
import { bodyInput } from './call-context.ts';
import type { Exchange } from './edge.ts';
import { readJsonBody } from './gates/body.ts';
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
