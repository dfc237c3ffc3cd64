// `POST /api/translate`: shows the upstream request of a client request without sending it.

import type { XStatic } from 'typebox/schema';
import { changed, GatewayError, invalidRequest } from '../canonical/error.ts';
import { createReceipt } from '../canonical/receipt.ts';
import type { CallExplanation } from '../dispatch/dispatcher.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { list, named, optional } from '../lib/object-schema.ts';
import type { GenerateRoute, ProtocolRoute } from '../protocols/protocol.ts';
import { sayUnserved } from '../routing/router.ts';
import type { AdminOptions } from './options.ts';
import { type ApiInput, type ApiRoute, answerJson, defineRoute } from './route.ts';

type TranslateOptions = Pick<AdminOptions, 'protocols' | 'dispatcher' | 'router'>;

const ASKED_SCHEMA = named('TranslationRequest', {
  protocol: { enum: ['chat', 'messages', 'generate'] },
  path: optional({
    type: 'string',
    description:
      "The surface, such as `/v1/responses`, or the whole path of a request; the protocol's first when absent.",
  }),
  body: { type: 'object', description: 'The request as its client would send it.' },
  model: optional({
    type: 'string',
    description:
      'The model of the protocol `generate`; that of the path, else of the body, when absent.',
  }),
  headers: optional({
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    description: 'Headers of the request.',
  }),
  account: optional({ type: 'string', description: 'An e-mail, as in `X-Preferred-Account`.' }),
});

const TRANSLATION_SCHEMA = named('Translation', {
  protocol: { enum: ['chat', 'messages', 'generate'] },
  route: { type: 'object', description: 'Where the model name went, and how.' },
  account: { type: 'object', description: 'The account, and those passed over with the reason.' },
  upstream: { type: 'object', description: 'Profile, model and lane.' },
  canonical: optional({
    type: 'object',
    description:
      'The request in the words of the gateway; absent for one that is relayed without being understood.',
  }),
  body: { type: 'object', description: 'What would be sent to the upstream.' },
  receipt: list({ type: 'object' }, 'What was dropped, approximated, repaired or capped.'),
});

type AskedInput = ApiInput<XStatic<typeof ASKED_SCHEMA>, unknown>;

export function createTranslateRoute(options: TranslateOptions): ApiRoute {
  return defineRoute({
    at: 'POST /api/translate',
    access: 'viewer',
    changes: false,
    title: 'shows what a request would become, without sending it',
    body: ASKED_SCHEMA,
    answers: { 200: { description: 'The translation.', schema: TRANSLATION_SCHEMA } },
    run: async (input) => answerJson(await translate(input, options)),
  });
}

async function translate(
  { body: asked, requestId, signal }: AskedInput,
  { protocols, dispatcher, router }: TranslateOptions,
): Promise<JsonObject> {
  const receipt = createReceipt();
  const { protocol, path, headers = {}, account } = asked;
  const { route, pathModel } = findRoute(protocols.byName[protocol].routes, path);
  // The schema said that it is an object, and it was read from JSON.
  const body = asked.body as JsonObject;
  const call = route.readCall({
    pathModel: asked.model ?? pathModel ?? modelIn(body),
    query: new URLSearchParams(),
    headers: readHeaders(headers),
    body,
    earlier: await route.findEarlier?.(body, NO_ANSWERS),
    receipt,
  });
  const context = {
    requestId,
    clientKeyId: 'console',
    signal,
    receipt,
    strict: false,
    preferredAccount: account,
    record: { attempts: [], timings: {} },
  };
  try {
    return { protocol, ...writeExplanation(await dispatcher.explain(call, context)) };
  } catch (error) {
    throw withMeantModel(error, call.model, router);
  }
}

/** A model that is not found is told with the name that may have been meant. */
function withMeantModel(
  error: unknown,
  model: string,
  router: TranslateOptions['router'],
): unknown {
  if (!(error instanceof GatewayError) || error.reason !== 'model-not-found') return error;
  const message = sayUnserved(model, router.explain(model), router) ?? error.message;
  return changed(error, { message, cause: error });
}

type KeptAnswers = Parameters<NonNullable<GenerateRoute['findEarlier']>>[1];

/** Answers are kept for client keys, and the console is none: what a request goes on from is not found. */
const NO_ANSWERS: KeptAnswers = {
  find: async () => undefined,
  findLatest: async () => undefined,
  findByItem: async () => undefined,
};

interface FoundRoute {
  readonly route: GenerateRoute;
  /** Undefined when the path names none. */
  readonly pathModel?: string;
}

function findRoute(routes: readonly ProtocolRoute[], path: string | undefined): FoundRoute {
  const found = routes.filter(takesJson);
  const [first] = found;
  if (path === undefined && first !== undefined) return { route: first };
  const [asked = ''] = (path ?? '').split('?');
  for (const route of found) {
    if (route.path === asked) return { route };
    const pathModel = placedIn(route.path, asked.replace(/%3a/i, ':'));
    if (pathModel !== undefined) return { route, pathModel };
  }
  const paths = found.map((one) => one.path).join(', ');
  throw invalidRequest('path', told`path: "${path ?? ''}" is none of this protocol's: ${paths}.`);
}

function placedIn(routePath: string, path: string): string | undefined {
  const [prefix = '', suffix] = routePath.split('{model}');
  if (suffix === undefined || path.length <= prefix.length + suffix.length) return undefined;
  if (!path.startsWith(prefix) || !path.endsWith(suffix)) return undefined;
  return path.slice(prefix.length, path.length - suffix.length);
}

/** Bodies of the protocol `generate` may name their model too, as `models/<name>`. */
function modelIn({ model }: JsonObject): string {
  return typeof model === 'string' ? model.replace(/^models\//, '') : '';
}

function takesJson(route: ProtocolRoute): route is GenerateRoute {
  return route.operation === 'generate' && route.bodies !== 'multipart';
}

function writeExplanation(explanation: CallExplanation): JsonObject {
  const { route, accountId, considered, upstreamId, upstreamModel, lane, canonical } = explanation;
  return {
    route: toJson(route),
    account: { id: accountId, considered: toJson(considered) },
    upstream: { profile: upstreamId, model: upstreamModel, lane },
    ...(canonical && { canonical: toJson(canonical) }),
    body: explanation.upstreamBody,
    receipt: toJson(explanation.receipt),
  };
}

/** The one narrowing of this file: these values are made of JSON types alone. */
function toJson(value: object): JsonValue {
  return value as JsonValue;
}

function readHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name.toLowerCase(), String(text)]),
  );
}
