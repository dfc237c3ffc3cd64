// Embeddings: checks contents strictly, counts the quota, and gives one vector a content.

import type { SandboxCaller } from './accounts.ts';
import { badRequest, type Violation } from './errors.ts';
import { checkAddress, type GenerateServices, requireMethod } from './generate.ts';
import { writeScriptedError } from './http/frames.ts';
import type { ModelAddress } from './http/routes.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { ownIdOf, type SandboxModel } from './models.ts';
import { readDirectives } from './play/directives.ts';
import { embedText } from './play/embed-text.ts';
import { readBatchEmbedRequest, readEmbedRequest } from './proto/read-message.ts';
import { checkParts } from './rules/contents.ts';
import type { Report } from './rules/rule.ts';
import { countContentTokens } from './tokens.ts';
import { type Content, type EmbedContentRequest, partsOf } from './wire.ts';

export interface EmbedCall {
  readonly account: SandboxCaller;
  readonly address: ModelAddress;
  readonly isBatch: boolean;
  readonly body: JsonValue;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

/** Generate-content API, "Embeddings": the largest batch. */
const MOST_REQUESTS = 100;
const DEFAULT_DIMENSIONS = 768;
const MOST_DIMENSIONS = 3072;

/** `{embedding, usageMetadata}` or `{embeddings, usageMetadata}`. @throws SandboxError */
export async function embed(call: EmbedCall, services: GenerateServices): Promise<JsonObject> {
  const { account, address, isBatch } = call;
  const model = requireMethod(address, 'embedContent');
  const requests = isBatch ? readBatch(call) : [readSingle(call)];
  const counts = checkRequests(requests, model, isBatch);
  await suffer(call, model, services);
  failIfTold(requests);
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
  if (requests.length === 0 || requests.length > MOST_REQUESTS) {
    const description = `must hold 1 to ${MOST_REQUESTS} requests, not ${requests.length}`;
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
  if (dimensions < 1 || dimensions > MOST_DIMENSIONS) {
    report('output_dimensionality', `must be from 1 to ${MOST_DIMENSIONS}`);
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

async function suffer(
  { account, signal }: EmbedCall,
  { id }: SandboxModel,
  { faults, clock }: GenerateServices,
): Promise<void> {
  const models = [id, ownIdOf(id)];
  const fault = faults.take({ endpoint: 'embed', account: account.email, models });
  if (fault?.delayMs !== undefined) await clock.sleep(fault.delayMs, signal);
  if (fault?.status !== undefined) throw writeScriptedError(fault.status, fault);
}

function failIfTold(requests: readonly EmbedContentRequest[]): void {
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
