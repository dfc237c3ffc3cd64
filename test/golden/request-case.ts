// One recorded request and what becomes of it on the way to one upstream.

import { readFileSync } from 'node:fs';
import { asGatewayError, type GatewayError } from '../../src/canonical/error.ts';
import { createReceipt, type Receipt } from '../../src/canonical/receipt.ts';
import type { Signature } from '../../src/canonical/request.ts';
import type { SignatureKey } from '../../src/canonical/signatures.ts';
import { translateRequest } from '../../src/dispatch/translate.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { createProtocols } from '../../src/protocols/index.ts';
import type {
  ClientProtocol,
  CountTokensCall,
  EarlierItems,
  EmbedCall,
  GenerateCall,
  ProtocolRoute,
  RouteInput,
} from '../../src/protocols/protocol.ts';
import { SignatureCache } from '../../src/signatures/cache.ts';
import type { PatchTarget } from '../../src/upstreams/upstream.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { modelInPath } from '../support/path-model.ts';
import { type TargetName, targets } from './targets.ts';

export interface RequestCase {
  /** What the case shows, with the id of the behaviour case where there is one. */
  readonly name?: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** What earlier answers to the same key left with the signature keeper. */
  readonly remembered?: {
    readonly calls?: readonly { id: string; name: string; signature: Signature }[];
    readonly thoughts?: readonly { text: string; signature: Signature }[];
    readonly contents?: readonly { content: string; asked: string; signature: Signature }[];
  };
  /** What is kept of earlier answers: the conversation gone on with, and items that are referred to. */
  readonly kept?: {
    readonly history?: readonly JsonObject[];
    readonly items?: readonly JsonObject[];
  };
  readonly signatures?: 'stripped';
  /** Why a strict upstream refuses what this native request says; absent for valid ones. */
  readonly refusedUpstream?: string;
}

export interface Translation {
  readonly modelId: string;
  readonly lane: 'relay' | 'translate';
  readonly body: JsonObject;
  readonly receipt: Receipt;
}

type ModelCall = GenerateCall | CountTokensCall;
type ModelRoute = Extract<ProtocolRoute, { operation: 'generate' | 'count-tokens' }>;

const protocols = createProtocols();
const SCOPE = 'key';

export function readCase(file: string): RequestCase {
  const value = parseJson(readFileSync(file, 'utf8'));
  if (!isJsonObject(value) || typeof value.path !== 'string' || !isJsonObject(value.body)) {
    throw new Error(`${file} is no request case`);
  }
  // The one narrowing of fixture files: the rest of a case only steers the harness.
  return value as unknown as RequestCase;
}

export function protocolOf({ path }: RequestCase): ClientProtocol {
  return protocols.protocolForPath(path, {}, new URLSearchParams());
}

/** @throws GatewayError when the protocol refuses the request. */
export function readCall(request: RequestCase, receipt: Receipt): ModelCall {
  for (const route of protocolOf(request).routes) {
    if (!isModelRoute(route)) continue;
    const input = inputOf(route, request, receipt);
    if (input !== undefined) return route.readCall(input);
  }
  throw new Error(`no route for ${request.path}`);
}

/** Undefined for the paths of other operations. @throws GatewayError when the protocol refuses the request. */
export function readEmbedCall(request: RequestCase, receipt: Receipt): EmbedCall | undefined {
  for (const route of protocolOf(request).routes) {
    if (route.operation !== 'embed') continue;
    const input = inputOf(route, request, receipt);
    if (input !== undefined) return route.readCall(input);
  }
  return undefined;
}

/** Undefined when the path is another one. */
function inputOf(
  route: Pick<ProtocolRoute, 'path'>,
  request: RequestCase,
  receipt: Receipt,
): RouteInput | undefined {
  const pathModel = modelInPath(route, decodeURIComponent(request.path));
  if (pathModel === undefined) return undefined;
  const { body, headers = {} } = request;
  const query = new URLSearchParams(request.query ?? '');
  return { pathModel, query, headers, body, earlier: earlierOf(request), receipt };
}

export function isGenerateCall(call: ModelCall): call is GenerateCall {
  return 'createStreamWriter' in call;
}

/** The upstream body as dispatch prepares it. @throws GatewayError when the request is refused. */
export function translate(request: RequestCase, targetName: TargetName): Translation {
  const { upstream, router, modelIdOf } = targets[targetName];
  const receipt = createReceipt();
  const call = readCall(request, receipt);
  const route = router.route(call.model);
  const modelId = modelIdOf(route);
  const capabilities = upstream.capabilities(modelId, undefined);
  const target: PatchTarget = {
    modelId,
    capabilities,
    signatures: request.signatures ?? 'carried',
    usesPlaceholders: false,
    receipt,
    recall: recallOf(request),
    variant: route,
    thinkingMode: { kind: 'auto' },
  };
  if (isGenerateCall(call) && call.relay?.wire === upstream.wire) {
    const body = upstream.patch(call.relay.body, target);
    return { modelId, lane: 'relay', body, receipt };
  }
  for (const { action, path, reason } of call.relay?.reading?.().losses ?? [])
    receipt.add(action, path, reason);
  const body = translateRequest(call.request, upstream, target);
  return { modelId, lane: 'translate', body, receipt };
}

/** The golden of a case: the body and its receipt, or the refusal and how the client sees it. */
export function describeTranslation(request: RequestCase, targetName: TargetName): JsonObject {
  try {
    const { modelId, lane, body, receipt } = translate(request, targetName);
    const entries = receipt.entries.map((entry) => ({ ...entry, reason: entry.reason.text }));
    return { model: modelId, lane, body, receipt: entries };
  } catch (error) {
    return describeError(asGatewayError(error), protocolOf(request));
  }
}

export function describeError(error: GatewayError, protocol: ClientProtocol): JsonObject {
  const { kind, reason, field, message, cause } = error;
  if (kind === 'internal') throw cause ?? error;
  const { status, body } = protocol.writeError(error, { requestId: 'req_golden' });
  return {
    error: { kind, reason: reason ?? null, field: field ?? null, message },
    response: { status, body },
  };
}

function isModelRoute(route: ProtocolRoute): route is ModelRoute {
  return route.operation === 'generate' || route.operation === 'count-tokens';
}

function earlierOf({ kept }: RequestCase): EarlierItems | undefined {
  if (kept === undefined) return undefined;
  const { history = [], items = [] } = kept;
  const byId = new Map([...history, ...items].map((item) => [item.id, item]));
  return { history, session: undefined, findItem: (id) => byId.get(id) };
}

function recallOf({ remembered }: RequestCase) {
  const keeper = new SignatureCache({ clock: createFakeClock(0) });
  for (const { id, name, signature } of remembered?.calls ?? []) {
    keeper.remember(SCOPE, { kind: 'call', id, name }, { signature });
  }
  for (const { text, signature } of remembered?.thoughts ?? []) {
    const { family } = signature;
    keeper.remember(SCOPE, { kind: 'thought', text, family }, { signature });
  }
  for (const { content, asked, signature } of remembered?.contents ?? []) {
    keeper.remember(SCOPE, { kind: 'content', content, asked: () => asked }, { signature });
  }
  return { lookup: (key: SignatureKey) => keeper.lookup(SCOPE, key) };
}
