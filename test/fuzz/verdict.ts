// The whole pure path of one body: read, transformed, encoded or patched, then put before the sandbox's own rules.

import { SandboxError } from '../../packages/sandbox/src/errors.ts';
import { findModel } from '../../packages/sandbox/src/models.ts';
import { readMessage } from '../../packages/sandbox/src/proto.ts';
import { checkRequest } from '../../packages/sandbox/src/rules.ts';
import { createSignatures } from '../../packages/sandbox/src/state.ts';
import { GatewayError } from '../../src/canonical/error.ts';
import { createReceipt, type Receipt } from '../../src/canonical/receipt.ts';
import { translateRequest } from '../../src/dispatch/translate.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import type {
  ClientProtocol,
  CountTokensCall,
  GenerateCall,
} from '../../src/protocols/protocol.ts';
import type { PatchTarget } from '../../src/upstreams/upstream.ts';
import {
  isGenerateCall,
  protocolOf,
  type RequestCase,
  readCall,
  readEmbedCall,
} from '../golden/request-case.ts';
import { type Route, targets } from '../golden/targets.ts';

export type Verdict =
  | { readonly kind: 'accepted' }
  /** The gateway said no, in the client's own form. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Accepted here, refused by the sandbox. */
  | { readonly kind: 'upstream-refused'; readonly message: string; readonly body: JsonObject }
  | { readonly kind: 'broken'; readonly message: string; readonly error: unknown };

export type Lane = 'relay' | 'translate';
type ModelCall = GenerateCall | CountTokensCall;

const signatures = createSignatures('fuzz');
const { upstream, router, modelIdOf } = targets.sandbox;
const NOTHING_REMEMBERED = { lookup: () => undefined };

/** `request` as it comes off the socket: its body went through JSON text. */
export function judge(request: RequestCase, lane: Lane): Verdict {
  let body: JsonObject;
  let modelId: string;
  try {
    if (canEmbed(request)) return { kind: 'accepted' };
    const prepared = prepare(request, lane);
    modelId = prepared.modelId;
    body = prepared.encode('carried');
    const complaint = sandboxComplaint(body, modelId);
    if (complaint === undefined) return { kind: 'accepted' };
    // The attempt loop answers a signature error with one try without signatures.
    if (!/thought.?signature/i.test(complaint)) {
      return { kind: 'upstream-refused', message: complaint, body };
    }
    body = prepared.encode('stripped');
  } catch (error) {
    return judgeError(error, protocolOf(request));
  }
  const complaint = sandboxComplaint(body, modelId);
  return complaint === undefined
    ? { kind: 'accepted' }
    : { kind: 'upstream-refused', message: complaint, body };
}

/** False for requests that embed nothing; every input is written as it would be sent. @throws GatewayError */
function canEmbed(request: RequestCase): boolean {
  const call = readEmbedCall(request, createReceipt());
  if (call === undefined) return false;
  router.route(call.model);
  for (const input of call.inputs()) JSON.stringify(upstream.encodeEmbedInput(input));
  return true;
}

interface Prepared {
  readonly modelId: string;
  encode(signatures: PatchTarget['signatures']): JsonObject;
}

function prepare(request: RequestCase, lane: Lane): Prepared {
  const receipt = createReceipt();
  const call = readCall(request, receipt);
  const route = router.route(call.model);
  const modelId = modelIdOf(route);
  return { modelId, encode: (signatures) => encodeFor({ call, route, receipt, lane, signatures }) };
}

interface EncodeInput {
  readonly call: ModelCall;
  readonly route: Route;
  readonly receipt: Receipt;
  readonly lane: Lane;
  readonly signatures: PatchTarget['signatures'];
}

function encodeFor({ call, route, receipt, lane, signatures }: EncodeInput): JsonObject {
  const modelId = modelIdOf(route);
  const target: PatchTarget = {
    modelId,
    capabilities: upstream.capabilities(modelId, undefined),
    signatures,
    usesPlaceholders: false,
    receipt,
    recall: NOTHING_REMEMBERED,
    variant: route,
    thinkingMode: { kind: 'auto' },
  };
  if (lane === 'relay' && isGenerateCall(call) && call.relay !== undefined) {
    call.relay.openingText();
    return upstream.patch(call.relay.body, target);
  }
  return translateRequest(call.request, upstream, target);
}

function sandboxComplaint(body: JsonObject, modelId: string): string | undefined {
  const model = findModel(modelId);
  if (model === undefined) throw new Error(`The sandbox has no model ${modelId}.`);
  try {
    const request = readMessage('GenerateContentRequest', parseJson(JSON.stringify(body)));
    checkRequest({ request, model, signatures });
    return undefined;
  } catch (error) {
    if (error instanceof SandboxError && error.status === 400) return error.message;
    throw error;
  }
}

function judgeError(error: unknown, protocol: ClientProtocol): Verdict {
  if (!(error instanceof GatewayError)) return broken(String(error), error);
  const { kind, message } = error;
  if (kind !== 'invalid-request' && kind !== 'not-found') {
    return broken(`${kind}: ${message}`, error.cause ?? error);
  }
  const { status, body } = protocol.writeError(error, { requestId: 'req_fuzz' });
  if (status !== (kind === 'not-found' ? 404 : 400)) {
    return broken(`${kind} became status ${status}`, error);
  }
  return hasErrorShape(protocol, parseJson(JSON.stringify(body)))
    ? { kind: 'refused', message }
    : broken(`wrong error shape: ${JSON.stringify(body)}`, error);
}

function hasErrorShape({ name }: ClientProtocol, body: JsonValue): boolean {
  if (!isJsonObject(body) || !isJsonObject(body.error)) return false;
  const { error } = body;
  if (typeof error.message !== 'string' || error.message === '') return false;
  switch (name) {
    case 'chat':
      return typeof error.type === 'string' && 'param' in error && 'code' in error;
    case 'messages':
      return body.type === 'error' && typeof error.type === 'string';
    case 'generate':
      return typeof error.code === 'number' && typeof error.status === 'string';
    default:
      return name satisfies never;
  }
}

function broken(message: string, error: unknown): Verdict {
  return { kind: 'broken', message, error };
}
