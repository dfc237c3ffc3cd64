import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createReceipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { createGenerateProtocol } from './index.ts';

/** Requests as real clients send them (long texts shortened). */
const FIXTURE = new URL('./__fixtures__/client-bodies.json', import.meta.url);
const requests = Object.entries(asObject(parseJson(readFileSync(FIXTURE, 'utf8'))));
const protocol = createGenerateProtocol();

test.each(requests)('%s is read without any loss', (_client, request) => {
  const { path, query, body } = asObject(request);
  const [, prefix, model = '', verb] = /^(.+)\/models\/(.+):(\w+)$/.exec(String(path)) ?? [];
  const route = protocol.routes.find((one) => one.path === `${prefix}/models/{model}:${verb}`);
  if (route === undefined || !('readCall' in route)) throw new Error(`no route for ${path}`);
  const receipt = createReceipt();
  const call = route.readCall({
    pathModel: model,
    query: new URLSearchParams(String(query)),
    headers: {},
    body: asObject(body),
    receipt,
  });
  if (!('request' in call)) throw new Error(`${path} is no conversation`);
  expect(call.request.turns.length).toBeGreaterThan(0);
  expect(receipt.entries).toEqual([]);
  if (!('relay' in call)) return;
  expect(call.relay?.body).toEqual(withoutSystemRole(asObject(body)));
});

/** The one difference to a body that is official already: system text has no role. */
function withoutSystemRole(body: JsonObject): JsonObject {
  const system = body.systemInstruction;
  if (!isJsonObject(system) || typeof system.role !== 'string') return body;
  const { role: _role, ...rest } = system;
  return { ...body, systemInstruction: rest };
}

function asObject(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new Error('not an object');
}
