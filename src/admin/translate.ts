// `POST /api/translate`: shows what a request would become, without sending it anywhere.

import { invalidRequest } from '../canonical/error.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { CallExplanation, Dispatcher } from '../dispatch/dispatcher.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import type { Protocols } from '../protocols/index.ts';
import type { GenerateCall, ProtocolName, RouteInput } from '../protocols/protocol.ts';
import type { AdminInput, AdminRoute } from '../server/admin-route.ts';

export interface TranslateOptions {
  readonly protocols: Pick<Protocols, 'byName'>;
  readonly dispatcher: Pick<Dispatcher, 'explain'>;
}

/**
 * Body: `{protocol: chat | messages | generate, body, model?, headers?, account?}`; `model` is the
 * path's model of the generate protocol, `account` an e-mail as in `X-Preferred-Account`.
 * Answer: `{route, account, upstream, canonical, body, receipt}`.
 */
export function createTranslateRoute(options: TranslateOptions): AdminRoute {
  return {
    method: 'POST',
    path: '/api/translate',
    run: (input) => translate(input, options),
  };
}

async function translate(
  { body, requestId, signal }: AdminInput,
  { protocols, dispatcher }: TranslateOptions,
): Promise<JsonObject> {
  const receipt = createReceipt();
  const protocol = readProtocol(body.protocol);
  const call = readCall(protocols, protocol, {
    pathModel: readText(body, 'model') ?? '',
    query: new URLSearchParams(),
    headers: readHeaders(body.headers),
    body: readBody(body.body),
    receipt,
  });
  const explanation = await dispatcher.explain(call, {
    requestId,
    clientKeyId: 'console',
    signal,
    receipt,
    strict: false,
    headerSession: undefined,
    preferredAccount: readText(body, 'account'),
    preferredTier: undefined,
    record: { attempts: [], timings: {} },
  });
  return { protocol, ...writeExplanation(explanation), receipt: toJson(receipt.entries) };
}

function readCall(
  protocols: Pick<Protocols, 'byName'>,
  name: ProtocolName,
  input: RouteInput,
): GenerateCall {
  for (const route of protocols.byName[name].routes) {
    if (route.operation === 'generate') return route.readCall(input);
  }
  throw new Error(`The ${name} protocol has no generate route.`);
}

function writeExplanation(explanation: CallExplanation): JsonObject {
  const { route, accountId, considered, upstreamId, upstreamModel, lane } = explanation;
  return {
    route: toJson(route),
    account: { id: accountId, considered: toJson(considered) },
    upstream: { profile: upstreamId, model: upstreamModel, lane },
    canonical: toJson(explanation.canonical),
    body: explanation.upstreamBody,
  };
}

/** The one narrowing of this file: these values are made of JSON types alone. */
function toJson(value: object): JsonValue {
  return value as JsonValue;
}

function readProtocol(value: JsonValue | undefined): ProtocolName {
  if (value === 'chat' || value === 'messages' || value === 'generate') return value;
  throw invalidRequest('protocol', 'protocol: must be "chat", "messages" or "generate".');
}

function readBody(value: JsonValue | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalidRequest('body', 'body: must be the request body, a JSON object.', 'invalid-type');
}

function readText(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || typeof value === 'string') return value;
  throw invalidRequest(field, `${field}: must be a text.`, 'invalid-type');
}

function readHeaders(value: JsonValue | undefined): Record<string, string> {
  if (value === undefined) return {};
  if (!isJsonObject(value)) {
    throw invalidRequest('headers', 'headers: must be an object of texts.', 'invalid-type');
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [name.toLowerCase(), String(text)]),
  );
}
