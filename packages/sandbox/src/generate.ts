// The calls of models: generate, count tokens and embed, with their checks, faults and quotas.

import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { badRequest, notFound, type Violation, writeScriptedError } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { findModel, findProjectModel, methodsOf, ownIdOf, type SandboxModel } from './models.ts';
import {
  readBatchEmbedRequest,
  readCountTokensRequest,
  readEmbedRequest,
  readGenerateRequest,
  readProjectCountTokensRequest,
  type Words,
} from './proto.ts';
import { checkParts, checkRequest, type Report } from './rules.ts';
import { type Directives, readDirectives, readLastTurn, simulate } from './simulate.ts';
import {
  createId,
  type Ending,
  type Fault,
  type Faults,
  type FaultyCall,
  type PrefixCache,
  type QuotaCounters,
  type SandboxCaller,
  type SandboxClock,
  type Signatures,
} from './state.ts';
import { countContentTokens, countPromptTokens, sumTokens } from './tokens.ts';
import { type Content, type EmbedContentRequest, type GenerateRequest, partsOf } from './wire.ts';
import { type Delivery, type Frames, sendFrames, writeFrames } from './write-answer.ts';

export interface ModelAddress {
  readonly modelId: string;
  /** Set on publisher paths, as Vertex AI has them; undefined on plain ones. */
  readonly place: PublisherPlace | undefined;
}

interface PublisherPlace {
  /** Undefined for the short paths of express mode. */
  readonly project: string | undefined;
  /** The full name of the model, from `projects/` or `publishers/` on. */
  readonly model: string;
}

/** The words a call at this address is written in. */
function wordsOf({ place }: ModelAddress): Words {
  return place === undefined ? 'neutral' : 'real';
}

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
  const answer = simulate({ request, model, turn, directives, cachedTokens, createId });
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
function requireMethod(address: ModelAddress, method: string): SandboxModel {
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
function checkAddress(
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

/** @throws SandboxError 400 or 404. Roles and turn order do not matter here. */
export function countTokens(
  body: JsonValue,
  account: SandboxCaller,
  address: ModelAddress,
): JsonObject {
  requireModel(address);
  const request =
    address.place === undefined
      ? readCountable(body, account, address)
      : readProjectCountTokensRequest(body, wordsOf(address));
  checkAddress(request, account, address);
  checkCountable(request);
  const counts = countPromptTokens(request);
  return {
    totalTokens: sumTokens(counts),
    promptTokensDetails: [...counts].map(([modality, tokenCount]) => ({ modality, tokenCount })),
  };
}

/** `{contents}` or `{generateContentRequest}`; on project paths the fields of the latter stand at the top. */
function readCountable(
  body: JsonValue,
  account: SandboxCaller,
  address: ModelAddress,
): GenerateRequest {
  const { contents, generateContentRequest, ...target } = readCountTokensRequest(body);
  checkAddress(target, account, address);
  if (contents !== undefined && generateContentRequest !== undefined) {
    throw badRequest([
      { field: 'contents', description: 'and generate_content_request exclude each other' },
    ]);
  }
  return generateContentRequest ?? { contents: contents ?? [] };
}

function checkCountable({ contents = [] }: GenerateRequest): void {
  const violations: Violation[] = [];
  const report = (field: string, description: string): void => {
    violations.push({ field, description });
  };
  if (contents.length === 0) report('contents', 'must hold at least one content');
  contents.forEach((content, index) => {
    checkParts(content, `contents[${index}]`, report);
  });
  if (violations.length > 0) throw badRequest(violations);
}

interface EmbedCall {
  readonly account: SandboxCaller;
  readonly address: ModelAddress;
  readonly isBatch: boolean;
  readonly body: JsonValue;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

/** Generate-content API, "Embeddings": the largest batch. */
const MAX_BATCH = 100;
const DEFAULT_DIMENSIONS = 768;
const MAX_DIMENSIONS = 3072;

/** `{embedding, usageMetadata}` or `{embeddings, usageMetadata}`. @throws SandboxError */
export async function embed(call: EmbedCall, services: GenerateServices): Promise<JsonObject> {
  const { account, address, isBatch } = call;
  const model = requireMethod(address, 'embedContent');
  const requests = isBatch ? readBatch(call) : [readSingle(call)];
  const counts = checkRequests(requests, model, isBatch);
  const models = [model.id, ownIdOf(model.id)];
  await applyFault({ endpoint: 'embed', account: account.email, models }, services, call.signal);
  failEmbedIfTold(requests);
  services.quotas.spend(account, model.id);
  const vectors: JsonObject[] = requests.map((request) => ({ values: vectorOf(request) }));
  const tokenCount = counts.reduce((sum, count) => sum + count, 0);
  const usageMetadata = {
    promptTokenCount: tokenCount,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount }],
  };
  const [only = {}] = vectors;
  return { ...(isBatch ? { embeddings: vectors } : { embedding: only }), usageMetadata };
}

function readSingle({ body, account, address }: EmbedCall): EmbedContentRequest {
  const request = readEmbedRequest(body);
  checkAddress(request, account, address);
  return request;
}

function readBatch({ body, account, address }: EmbedCall): readonly EmbedContentRequest[] {
  const { requests = [], ...target } = readBatchEmbedRequest(body);
  checkAddress(target, account, address);
  if (requests.length === 0 || requests.length > MAX_BATCH) {
    const description = `must hold 1 to ${MAX_BATCH} requests, not ${requests.length}`;
    throw badRequest([{ field: 'requests', description }]);
  }
  return requests;
}

/** The tokens of each. @throws SandboxError 400 naming every violation. */
function checkRequests(
  requests: readonly EmbedContentRequest[],
  model: SandboxModel,
  isBatch: boolean,
): readonly number[] {
  const violations: Violation[] = [];
  const counts = requests.map((request, index) => {
    const at = isBatch ? `requests[${index}].` : '';
    const report: Report = (field, description) => {
      violations.push({ field: `${at}${field}`, description });
    };
    if (isBatch) checkBatched(request, model, report);
    checkSettings(request, report);
    return checkContent(request.content ?? {}, model, report);
  });
  if (violations.length > 0) throw badRequest(violations);
  return counts;
}

function checkBatched(
  { model, project }: EmbedContentRequest,
  { id }: SandboxModel,
  report: Report,
): void {
  if (model !== `models/${id}`) report('model', `must be models/${id}, as in the path`);
  if (project !== undefined) report('project', 'belongs beside requests, not into one of them');
}

function checkSettings(request: EmbedContentRequest, report: Report): void {
  const { outputDimensionality: dimensions = DEFAULT_DIMENSIONS, taskType, title } = request;
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS) {
    report('output_dimensionality', `must be from 1 to ${MAX_DIMENSIONS}`);
  }
  if (title !== undefined && taskType !== 'RETRIEVAL_DOCUMENT') {
    report('title', 'goes with the task type RETRIEVAL_DOCUMENT only');
  }
}

function checkContent(
  content: Content,
  { id, inputTokenLimit }: SandboxModel,
  report: Report,
): number {
  checkParts(content, 'content', report);
  if (partsOf(content).some((part) => part.text === undefined)) {
    report('content.parts', `${id} embeds text only`);
  }
  const tokens = countContentTokens(content);
  if (tokens > inputTokenLimit) {
    report('content', `the input token count ${tokens} exceeds the maximum of ${inputTokenLimit}`);
  }
  return tokens;
}

function failEmbedIfTold(requests: readonly EmbedContentRequest[]): void {
  for (const request of requests) {
    const { status } = readDirectives(textOf(request));
    if (status === undefined) continue;
    const limited = { reason: 'RATE_LIMIT_EXCEEDED', retryDelay: '1s' };
    throw writeScriptedError(status, status === 429 ? limited : {});
  }
}

function vectorOf(request: EmbedContentRequest): number[] {
  const { taskType = 'TASK_TYPE_UNSPECIFIED', title = '' } = request;
  const dimensions = request.outputDimensionality ?? DEFAULT_DIMENSIONS;
  return embedText(`${title} ${textOf(request)}`, { task: taskType, dimensions });
}

function textOf({ content }: EmbedContentRequest): string {
  return partsOf(content)
    .map(({ text = '' }) => text)
    .join('\n');
}

interface EmbedTextOptions {
  /** Vectors for different tasks differ a little. */
  readonly task: string;
  readonly dimensions: number;
}

/** How much each kind of feature weighs: words most, their parts for words that look alike. */
const WORD = 1;
const WORD_PART = 0.4;
const TASK = 0.3;
const PART_LENGTH = 3;
const DECIMALS = 8;
/** George Marsaglia, "Xorshift RNGs": the triple of the 32-bit generator. */
const SHIFTS = [13, 17, 5] as const;

/**
 * The same text always gives the same vector; texts that share words point the same way. Fewer
 * dimensions are the beginning of more, brought back to length 1.
 */
export function embedText(text: string, { task, dimensions }: EmbedTextOptions): number[] {
  const sum = new Float64Array(dimensions);
  for (const [feature, weight] of featuresOf(text)) addDirection(sum, feature, weight);
  addDirection(sum, `task ${task}`, TASK);
  // With very few dimensions the directions may cancel each other out.
  if (sum.every((value) => value === 0)) sum[0] = 1;
  const length = Math.hypot(...sum);
  return Array.from(sum, (value) => Number((value / length).toFixed(DECIMALS)));
}

function featuresOf(text: string): ReadonlyMap<string, number> {
  const folded = text.normalize('NFKC').toLowerCase();
  const words = folded.match(/[\p{L}\p{N}]+/gu) ?? [folded.trim()];
  const features = new Map<string, number>();
  const add = (feature: string, weight: number): void => {
    features.set(feature, (features.get(feature) ?? 0) + weight);
  };
  for (const word of words) {
    add(`word ${word}`, WORD);
    const letters = [...`^${word}$`];
    for (let at = 0; at + PART_LENGTH <= letters.length; at += 1) {
      add(`part ${letters.slice(at, at + PART_LENGTH).join('')}`, WORD_PART);
    }
  }
  return features;
}

/** Each feature has a direction of its own: signs drawn from its hash, the first ones first. */
function addDirection(sum: Float64Array, feature: string, weight: number): void {
  let state = createHash('sha256').update(feature).digest().readUInt32LE() || 1;
  const [first, second, third] = SHIFTS;
  for (const [index, value] of sum.entries()) {
    state ^= state << first;
    state ^= state >>> second;
    state ^= state << third;
    sum[index] = value + (state < 0 ? -weight : weight);
  }
}

/** @throws SandboxError of a scripted fault for this call, after its delay. */
export async function applyFault(
  call: FaultyCall,
  { faults, clock }: Pick<GenerateServices, 'faults' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const fault = faults.take(call) ?? {};
  if (fault.delayMs !== undefined) await clock.sleep(fault.delayMs, signal);
  if (fault.status !== undefined) throw writeScriptedError(fault.status, fault);
}
