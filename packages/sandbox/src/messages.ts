// The calls of the Messages wire: answers, token counts and the model list.

import type { JsonObject } from './json.ts';
import { countPrompt, type MarkedCache } from './messages-cache.ts';
import { toSimulated } from './messages-read.ts';
import {
  checkMessagesRequest,
  MESSAGES_VERSIONS,
  type MessagesContext,
  readMessagesRequest,
} from './messages-rules.ts';
import type { MessagesRequest } from './messages-wire.ts';
import { applyFault, type PlayedCall, type PlayServices, play } from './play.ts';
import { type Ending, requireStanding, type Seals } from './state.ts';
import { messagesLimits, type WireCall, WireError } from './wire-errors.ts';
import { MESSAGES_MODELS, type MessagesModel } from './wire-models.ts';
import { writeMessagesFrames } from './write-messages.ts';

export interface MessagesServices extends PlayServices {
  readonly seals: Seals;
  readonly marked: MarkedCache;
}

interface Read {
  readonly request: MessagesRequest;
  readonly model: MessagesModel;
  readonly context: MessagesContext;
}

/** @throws SandboxError until the answer has begun. */
export function createMessage(call: WireCall, services: MessagesServices): Promise<Ending> {
  const { request, model, context } = readCall(call, 'create', services);
  const { account, requestId } = call;
  const { quotas, marked, seals } = services;
  const scope = `${account.email}\n${model.id}`;
  let prompt = { fresh: 0, read: 0, writtenShort: 0, writtenLong: 0 };
  return play(
    call,
    {
      ...{ model, request: toSimulated(request), isStream: request.stream === true },
      idPrefixes: { answer: 'msg_', call: 'toolu_' },
      isSerial: request.tool_choice?.disable_parallel_tool_use === true,
      countCached: () => {
        prompt = marked.visit(scope, request);
        return prompt.read;
      },
      refuse: ({ isTooLong }) => {
        if (isTooLong) throw tooLong(model.inputTokenLimit + 1, model);
      },
      write: (answer, fault, { isRedacted, searchError }) =>
        writeMessagesFrames(
          answer,
          {
            ...{ seals, prompt, requestId, isRedacted, searchError },
            isNewer: context.version === '2026-10-21',
            showsThoughts: request.thinking?.display !== 'omitted',
            headers: { 'request-id': requestId, ...messagesLimits(quotas.read(account, model.id)) },
          },
          { isStream: request.stream === true, fault },
        ),
    },
    services,
  );
}

/** `{input_tokens}`. @throws SandboxError */
export async function countMessage(
  call: WireCall,
  services: MessagesServices,
): Promise<JsonObject> {
  const { request, model } = readCall(call, 'count', services);
  await failAsScripted(call, model.id, services);
  return { input_tokens: countPrompt(request) };
}

function failAsScripted(
  { account, signal }: PlayedCall,
  modelId: string,
  services: PlayServices,
): Promise<void> {
  const faulty = { endpoint: 'count-tokens', account: account.email, models: [modelId] } as const;
  return applyFault(faulty, services, signal);
}

/** @throws WireError 400 or 404, SandboxError 403 */
function readCall(
  { body, headers, account }: WireCall,
  kind: MessagesContext['kind'],
  { seals }: MessagesServices,
): Read {
  const context = { kind, seals, ...readHeaders(headers) };
  const request = readMessagesRequest(body, context);
  const model = requireMessagesModel(request.model);
  requireStanding(account, model.id);
  checkMessagesRequest(request, model, context);
  const tokens = countPrompt(request);
  if (tokens > model.inputTokenLimit) throw tooLong(tokens, model);
  return { request, model, context };
}

function tooLong(tokens: number, { inputTokenLimit }: MessagesModel): WireError {
  return new WireError(400, `prompt is too long: ${tokens} tokens > ${inputTokenLimit} maximum`);
}

const BETA = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d{4}-?\d\d-?\d\d$/;

/** @throws WireError 400 for a missing version, an unknown one, or what is no beta flag. */
export function readHeaders(headers: WireCall['headers']) {
  const { 'anthropic-version': given, 'anthropic-beta': flags = '' } = headers;
  if (given === undefined) throw new WireError(400, 'anthropic-version: header is required');
  const version = MESSAGES_VERSIONS.find((known) => known === given);
  if (version === undefined) {
    const valid = MESSAGES_VERSIONS.join(', ');
    const what = `anthropic-version: "${given}" is not a valid version. Valid versions: ${valid}`;
    throw new WireError(400, what);
  }
  const betas = String(flags)
    .split(',')
    .map((flag) => flag.trim())
    .filter((flag) => flag !== '');
  const odd = betas.find((flag) => !BETA.test(flag));
  if (odd !== undefined) {
    throw new WireError(400, `Unexpected value(s) \`${odd}\` for the \`anthropic-beta\` header.`);
  }
  return { version, betas };
}

/** @throws WireError 404 */
export function requireMessagesModel(id: string): MessagesModel {
  const model = MESSAGES_MODELS.find((one) => one.id === id);
  if (model === undefined) throw new WireError(404, `model: ${id}`);
  return model;
}

const MAX_PAGE_SIZE = 1000;
const PAGE_SIZE = 20;

/** `{data, has_more, first_id, last_id}`. @throws WireError 400 */
export function listMessagesModels(query: URLSearchParams): JsonObject {
  const size = Number(query.get('limit') ?? PAGE_SIZE);
  if (!Number.isInteger(size) || size < 1 || size > MAX_PAGE_SIZE) {
    throw new WireError(400, `limit: Input should be between 1 and ${MAX_PAGE_SIZE}`);
  }
  const after = query.get('after_id');
  const from = after === null ? 0 : MESSAGES_MODELS.findIndex(({ id }) => id === after) + 1;
  const data = MESSAGES_MODELS.slice(from, from + size).map(writeMessagesModel);
  return {
    data,
    has_more: from + size < MESSAGES_MODELS.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

const SUPPORTED: JsonObject = { supported: true };

export function writeMessagesModel({
  id,
  displayName,
  inputTokenLimit,
  outputTokenLimit,
  isAdaptive,
}: MessagesModel): JsonObject {
  return {
    ...{ type: 'model', id, display_name: displayName, created_at: '2026-01-01T00:00:00Z' },
    ...{ max_input_tokens: inputTokenLimit, max_tokens: outputTokenLimit, lifecycle: 'active' },
    capabilities: {
      image_input: SUPPORTED,
      pdf_input: SUPPORTED,
      structured_outputs: SUPPORTED,
      thinking: {
        supported: true,
        types: { adaptive: { supported: isAdaptive }, enabled: SUPPORTED, disabled: SUPPORTED },
      },
    },
  };
}
