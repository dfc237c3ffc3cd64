// The generate calls: checks a request, lets faults and quota have their say, plays the answer and sends it.

import type { ServerResponse } from 'node:http';
import type { SandboxCaller } from './accounts.ts';
import type { SandboxClock } from './clock.ts';
import { createId } from './clock.ts';
import { badRequest, notFound } from './errors.ts';
import { type Frames, writeFrames, writeScriptedError } from './http/frames.ts';
import { type Delivery, type ModelAddress, wordsOf } from './http/routes.ts';
import { sendFrames } from './http/send-frames.ts';
import type { JsonValue } from './json.ts';
import { findModel, findProjectModel, methodsOf, ownIdOf, type SandboxModel } from './models.ts';
import { type Directives, readDirectives } from './play/directives.ts';
import { readLastTurn } from './play/last-turn.ts';
import { play } from './play/play.ts';
import { readGenerateRequest } from './proto/read-message.ts';
import { checkRequest } from './rules/check-request.ts';
import type { Signatures } from './signatures.ts';
import type { Fault, Faults } from './state/faults.ts';
import type { PrefixCache } from './state/prefix-cache.ts';
import type { QuotaCounters } from './state/quota-counters.ts';
import type { Ending } from './state/request-log.ts';
import { countPromptTokens, sumTokens } from './tokens.ts';
import type { GenerateRequest } from './wire.ts';

export interface GenerateServices {
  readonly clock: SandboxClock;
  readonly signatures: Signatures;
  readonly faults: Faults;
  readonly quotas: QuotaCounters;
  readonly prefixes: PrefixCache;
}

export interface GenerateCall {
  readonly account: SandboxCaller;
  readonly address: ModelAddress;
  readonly delivery: Delivery;
  readonly body: JsonValue;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  readonly response: ServerResponse;
}

const NO_FAULT: Fault = {};

/** @throws SandboxError until the answer has begun. */
export async function generate(call: GenerateCall, services: GenerateServices): Promise<Ending> {
  const model = requireMethod(call.address, 'generateContent');
  const ownId = ownIdOf(model.id);
  const request = readChecked(call, model, services.signatures);
  const turn = readLastTurn(request.contents ?? []);
  const directives = readDirectives(turn.text);
  const fault = takeFault(call, [model.id, ownId], services.faults);
  const waitMs = (fault.delayMs ?? 0) + (call.delivery === 'whole' ? directives.pauseMs : 0);
  if (waitMs > 0) await services.clock.sleep(waitMs, call.signal);
  failIfTold(directives, fault);
  services.quotas.spend(call.account, model.id);
  const scope = `${call.account.email}\n${ownId}`;
  const cachedTokens = services.prefixes.visit(scope, request);
  const answer = play({ request, model, turn, directives, cachedTokens, createId });
  const frames = writeFrames(answer, {
    delivery: call.delivery,
    signatures: services.signatures,
    fault,
  });
  return sendFrames(call.response, frames, {
    clock: services.clock,
    signal: call.signal,
    pauseMs: fault.pauseMs ?? directives.pauseMs,
    ...planCut(frames, directives, fault),
    cutKind: fault.cutKind ?? 'reset',
  });
}

/** @throws SandboxError 404 */
export function requireModel({ modelId, place }: ModelAddress): SandboxModel {
  const model = place === undefined ? findModel(modelId) : findProjectModel(modelId);
  if (model !== undefined) return model;
  const list = place === undefined ? '/v1beta/models' : '/v1beta1/publishers/google/models';
  throw notFound(`models/${modelId} does not exist here; GET ${list} lists what does.`);
}

/** @throws SandboxError 404 for a model that is not there or cannot do this. */
export function requireMethod(address: ModelAddress, method: string): SandboxModel {
  const model = requireModel(address);
  if (methodsOf(model).includes(method)) return model;
  throw notFound(
    `models/${model.id} is not supported for ${method}; see its supportedGenerationMethods.`,
  );
}

/**
 * A body's `project` must be absent or the account's own, and so must a path's; a body's `model`
 * must be the one of the path.
 * @throws SandboxError 400 for an empty project or another model, 404 for a foreign project.
 */
export function checkAddress(
  { project, model }: { readonly project?: string; readonly model?: string },
  account: SandboxCaller,
  { modelId, place }: ModelAddress,
): void {
  requireProject(place?.project, account);
  if (place !== undefined && project !== undefined) {
    throw badRequest([{ field: 'project', description: 'belongs into the path, not here' }]);
  }
  requireProject(project, account);
  const names = [modelId, `models/${modelId}`, ...(place === undefined ? [] : [place.model])];
  if (model !== undefined && !names.includes(model)) {
    throw badRequest([{ field: 'model', description: `is not the model of the path, ${modelId}` }]);
  }
}

function requireProject(project: string | undefined, account: SandboxCaller): void {
  if (project === '') throw badRequest([{ field: 'project', description: 'must not be empty' }]);
  if (project !== undefined && project !== account.project) {
    throw notFound(`Project ${JSON.stringify(project)} does not exist or is not yours.`);
  }
}

function takeFault(call: GenerateCall, models: readonly string[], faults: Faults): Fault {
  const account = call.account.email;
  return faults.take({ endpoint: 'generate', account, models }) ?? NO_FAULT;
}

/** @throws SandboxError 400 */
function checkPromptSize(tokens: number, model: SandboxModel): void {
  if (tokens <= model.inputTokenLimit) return;
  const description = `the input token count ${tokens} exceeds the maximum of ${model.inputTokenLimit} for ${model.id}`;
  throw badRequest([{ field: 'contents', description }]);
}

function readChecked(
  call: GenerateCall,
  model: SandboxModel,
  signatures: Signatures,
): GenerateRequest {
  const request = readGenerateRequest(call.body, wordsOf(call.address));
  checkAddress(request, call.account, call.address);
  const isProjectPath = call.address.place !== undefined;
  checkRequest({ request, model, signatures, isProjectPath });
  checkPromptSize(sumTokens(countPromptTokens(request)), model);
  return request;
}

/** `UPSTREAM-STATUS 429` comes with a retry delay of a second, as rate limits do. */
function failIfTold(directives: Directives, fault: Fault): void {
  if (fault.status !== undefined && fault.errorAfterEvents === undefined) {
    throw writeScriptedError(fault.status, fault);
  }
  if (directives.status === undefined) return;
  const limited = { reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '1s' };
  throw writeScriptedError(directives.status, directives.status === 429 ? limited : {});
}

/** `UPSTREAM-CUT` breaks a stream off before its last event, a whole body in its middle. */
function planCut(
  frames: Frames,
  directives: Directives,
  fault: Fault,
): { cutAfterFrames?: number; cutAfterBytes?: number } {
  const { cutAfterEvents, cutAfterBytes } = fault;
  if (cutAfterEvents !== undefined) return { cutAfterFrames: cutAfterEvents };
  if (cutAfterBytes !== undefined) return { cutAfterBytes };
  if (!directives.cut) return {};
  const [only] = frames.list;
  return frames.list.length === 1 && only !== undefined
    ? { cutAfterBytes: Math.floor(Buffer.byteLength(only) / 2) }
    : { cutAfterFrames: frames.list.length - 1 };
}
