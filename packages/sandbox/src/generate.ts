// The calls of models: generate, count tokens and embed, with their checks, faults and quotas.

import { createHash } from 'node:crypto';
import { badRequest, notFound } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { findModel, findProjectModel, methodsOf, ownIdOf, type SandboxModel } from './models.ts';
import { applyFault, failWhenAsked, type PlayedCall, type PlayServices, play } from './play.ts';
import { readMessage } from './proto.ts';
import { checkAll, checkParts, checkRequest, type Report } from './rules.ts';
import { readDirectives } from './simulate.ts';
import type { Ending, PrefixCache, SandboxCaller, Signatures } from './state.ts';
import { countContentTokens, countPromptTokens, sumTokens } from './tokens.ts';
import { type EmbedContentRequest, type GenerateRequest, partsOf } from './wire.ts';
import { type Delivery, writeFrames } from './write-answer.ts';

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

export interface GenerateServices extends PlayServices {
  readonly signatures: Signatures;
  readonly prefixes: PrefixCache;
}

export interface ModelCall extends PlayedCall {
  readonly address: ModelAddress;
}

/** @throws SandboxError until the answer has begun. */
export function generate(
  call: ModelCall,
  delivery: Delivery,
  services: GenerateServices,
): Promise<Ending> {
  const { signatures, prefixes } = services;
  const model = requireMethod(call.address, 'generateContent');
  const request = readChecked(call, model, signatures);
  const scope = `${call.account.email}\n${ownIdOf(model.id)}`;
  return play(
    call,
    {
      ...{ model, request },
      isStream: delivery !== 'whole',
      countCached: () => prefixes.visit(scope, request),
      write: (answer, fault) => writeFrames(answer, { delivery, signatures, fault }),
    },
    services,
  );
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

/** @throws SandboxError 400 or 404 */
function readChecked(
  { body, account, address }: ModelCall,
  model: SandboxModel,
  signatures: Signatures,
): GenerateRequest {
  const isProjectPath = address.place !== undefined;
  const request = readMessage('GenerateContentRequest', body, isProjectPath ? 'real' : 'neutral');
  checkAddress(request, account, address);
  checkRequest({ request, model, signatures, isProjectPath });
  const tokens = sumTokens(countPromptTokens(request));
  if (tokens <= model.inputTokenLimit) return request;
  const description = `the input token count ${tokens} exceeds the maximum of ${model.inputTokenLimit} for ${model.id}`;
  throw badRequest([{ field: 'contents', description }]);
}

/** @throws SandboxError 400 or 404. Roles and turn order do not matter here. */
export async function countTokens(
  { body, account, address, signal }: ModelCall,
  services: GenerateServices,
): Promise<JsonObject> {
  requireModel(address);
  const request =
    address.place === undefined
      ? readCountable(body, account, address)
      : readMessage('ProjectCountTokensRequest', body, 'real');
  checkAddress(request, account, address);
  const { contents = [] } = request;
  checkAll((report) => {
    if (contents.length === 0) report('contents', 'must hold at least one content');
    for (const [index, content] of contents.entries()) {
      checkParts(content, `contents[${index}]`, report);
    }
  });
  const models = [address.modelId, ownIdOf(address.modelId)];
  const faulty = { endpoint: 'count-tokens', account: account.email, models } as const;
  await applyFault(faulty, services, signal);
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
  const { contents, generateContentRequest, ...target } = readMessage('CountTokensRequest', body);
  checkAddress(target, account, address);
  if (contents !== undefined && generateContentRequest !== undefined) {
    const description = 'and generate_content_request exclude each other';
    throw badRequest([{ field: 'contents', description }]);
  }
  return generateContentRequest ?? { contents: contents ?? [] };
}

/** Generate-content API, "Embeddings": the largest batch. */
const MAX_BATCH = 100;
const DEFAULT_DIMENSIONS = 768;
const MAX_DIMENSIONS = 3072;

/** `{embedding, usageMetadata}`. @throws SandboxError */
export async function embed(call: ModelCall, services: GenerateServices): Promise<JsonObject> {
  const model = requireMethod(call.address, 'embedContent');
  const request = readMessage('EmbedContentRequest', call.body);
  checkAddress(request, call.account, call.address);
  const tokens = checkAll((report) => checkEmbeddable(request, model, report));
  const [embedding = {}] = await vectorsOf([request], call, services);
  return { embedding, usageMetadata: writeEmbedUsage(tokens) };
}

/** `{embeddings, usageMetadata}`. @throws SandboxError */
export async function embedBatch(call: ModelCall, services: GenerateServices): Promise<JsonObject> {
  const model = requireMethod(call.address, 'embedContent');
  const { requests = [], ...target } = readMessage('BatchEmbedContentsRequest', call.body);
  checkAddress(target, call.account, call.address);
  if (requests.length === 0 || requests.length > MAX_BATCH) {
    const description = `must hold 1 to ${MAX_BATCH} requests, not ${requests.length}`;
    throw badRequest([{ field: 'requests', description }]);
  }
  const tokens = checkAll((reportAll) =>
    requests.reduce((sum, request, index) => {
      const report: Report = (field, what) => reportAll(`requests[${index}].${field}`, what);
      checkBatched(request, model, report);
      return sum + checkEmbeddable(request, model, report);
    }, 0),
  );
  const embeddings = await vectorsOf(requests, call, services);
  return { embeddings, usageMetadata: writeEmbedUsage(tokens) };
}

function writeEmbedUsage(tokenCount: number): JsonObject {
  return {
    promptTokenCount: tokenCount,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount }],
  };
}

/** Faults and quota come before the answer. @throws SandboxError */
async function vectorsOf(
  requests: readonly EmbedContentRequest[],
  { account, address: { modelId }, signal }: ModelCall,
  services: GenerateServices,
): Promise<JsonObject[]> {
  const models = [modelId, ownIdOf(modelId)];
  await applyFault({ endpoint: 'embed', account: account.email, models }, services, signal);
  for (const request of requests) failWhenAsked(readDirectives(textOf(request)));
  services.quotas.spend(account, modelId);
  return requests.map((request) => ({ values: vectorOf(request) }));
}

function checkBatched(
  { model, project }: EmbedContentRequest,
  { id }: SandboxModel,
  report: Report,
): void {
  if (model !== `models/${id}`) report('model', `must be models/${id}, as in the path`);
  if (project !== undefined) report('project', 'belongs beside requests, not into one of them');
}

/** The tokens of the content. */
function checkEmbeddable(
  request: EmbedContentRequest,
  { id, inputTokenLimit }: SandboxModel,
  report: Report,
): number {
  const { outputDimensionality: dimensions = DEFAULT_DIMENSIONS, taskType, title } = request;
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS) {
    report('output_dimensionality', `must be from 1 to ${MAX_DIMENSIONS}`);
  }
  if (title !== undefined && taskType !== 'RETRIEVAL_DOCUMENT') {
    report('title', 'goes with the task type RETRIEVAL_DOCUMENT only');
  }
  const { content = {} } = request;
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
export function embedText(
  text: string,
  { task, dimensions }: { task: string; dimensions: number },
): number[] {
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
