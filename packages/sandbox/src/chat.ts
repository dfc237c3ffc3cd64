// The calls of the Chat wire: answers, embeddings and the model list.

import { toSimulated } from './chat-read.ts';
import { checkChatRequest, readChatRequest, readEmbeddingsRequest } from './chat-rules.ts';
import { type EmbeddingsRequest, nameOfTool } from './chat-wire.ts';
import { embedText } from './generate.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { applyFault, failWhenAsked, type PlayServices, play } from './play.ts';
import { readDirectives } from './simulate.ts';
import { type Ending, type PrefixCache, requireStanding, type Seals } from './state.ts';
import { countPromptTokens, countTextTokens, sumTokens } from './tokens.ts';
import { chatLimits, idHeader, type WireCall, WireError } from './wire-errors.ts';
import { CHAT_MODELS, type ChatModel as Model } from './wire-models.ts';
import { writeChatFrames } from './write-chat.ts';

export interface ChatServices extends PlayServices {
  readonly seals: Seals;
  readonly prefixes: PrefixCache;
}

/** @throws SandboxError until the answer has begun. */
export async function complete(call: WireCall, services: ChatServices): Promise<Ending> {
  const { account, body, requestId } = call;
  const { clock, quotas, prefixes, seals } = services;
  const model = requireModel(body, 'answer');
  requireStanding(account, model.id);
  const asked = readChatRequest(body, model);
  checkChatRequest(asked, model, seals);
  const request = toSimulated(asked, model);
  const tokens = sumTokens(countPromptTokens(request));
  if (tokens > model.inputTokenLimit) throw tooLong(tokens, model);
  const { tools = [], tool_choice: choice, stream_options: options } = asked;
  const isStream = asked.stream === true;
  return play(
    call,
    {
      ...{ model, request, isStream },
      idPrefixes: { answer: 'chatcmpl-', call: 'call_' },
      isSerial: asked.parallel_tool_calls === false,
      countCached: () => prefixes.visit(`${account.email}\n${model.id}`, request),
      refuse: ({ isTooLong }) => {
        if (isTooLong) throw tooLong(model.inputTokenLimit + 1, model);
      },
      write: (answer, fault, { refuses }) =>
        writeChatFrames(
          answer,
          {
            ...{ seals, refuses, created: Math.floor(clock.now() / 1000) },
            showsReasoning: model.showsReasoning === true,
            customTools: new Set(tools.filter(({ type }) => type === 'custom').map(nameOfTool)),
            isNamed: typeof choice === 'object' && choice.type !== 'allowed_tools',
            includesUsage: options?.include_usage === true,
            topLogprobs: asked.logprobs === true ? (asked.top_logprobs ?? 0) : undefined,
            headers: {
              ...idHeader('chat', requestId),
              ...chatLimits(quotas.read(account, model.id), clock.now()),
            },
          },
          { isStream, fault },
        ),
    },
    services,
  );
}

function tooLong(tokens: number, { inputTokenLimit }: Model): WireError {
  const message = `This model's maximum context length is ${inputTokenLimit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
  return new WireError(400, message, { param: 'messages', code: 'context_length_exceeded' });
}

/** What an address is for. */
type ChatTask = 'answer' | 'embed' | NonNullable<Model['endpoint']>;

/** @throws WireError 400 without a model, 404 for one that is not there or cannot do this. */
export function requireModel(body: JsonValue, task: ChatTask): Model {
  if (!isJsonObject(body)) throw new WireError(400, 'The request body must be an object.');
  if (typeof body.model !== 'string') {
    throw new WireError(400, 'you must provide a model parameter');
  }
  const model = requireChatModel(body.model);
  const own: ChatTask = model.embeds === true ? 'embed' : (model.endpoint ?? 'answer');
  if (own === task) return model;
  const message = `The model '${model.id}' is not supported at this address.`;
  throw new WireError(404, message, { param: 'model', code: 'model_not_found' });
}

/** @throws WireError 404 */
export function requireChatModel(id: string): Model {
  const model = CHAT_MODELS.find((one) => one.id === id);
  if (model !== undefined) return model;
  const message = `The model '${id}' does not exist or you do not have access to it.`;
  throw new WireError(404, message, { param: 'model', code: 'model_not_found' });
}

/** When the sandbox's models were made, in seconds since the epoch. */
const CREATED = Date.UTC(2026, 0, 1) / 1000;

export function listChatModels(): JsonObject {
  return { object: 'list', data: CHAT_MODELS.map(writeChatModel) };
}

export function writeChatModel({ id }: Model): JsonObject {
  return { id, object: 'model', created: CREATED, owned_by: 'sandbox' };
}

const DIMENSIONS = new Map([['text-embedding-3-large', 3072]]);
const DEFAULT_DIMENSIONS = 1536;

/** `{object, data, model, usage}`. @throws SandboxError */
export async function embedInputs(call: WireCall, services: ChatServices): Promise<JsonObject> {
  const { account, body, signal } = call;
  const model = requireModel(body, 'embed');
  requireStanding(account, model.id);
  const { input, encoding_format: format, dimensions } = readEmbeddingsRequest(body);
  const most = DIMENSIONS.get(model.id) ?? DEFAULT_DIMENSIONS;
  if (dimensions !== undefined && dimensions > most) {
    const message = `Invalid value for 'dimensions' = ${dimensions}. Must be less than or equal to ${most}.`;
    throw new WireError(400, message, { param: 'dimensions' });
  }
  const texts = textsOf(input);
  const faulty = { endpoint: 'embed', account: account.email, models: [model.id] } as const;
  await applyFault(faulty, services, signal);
  for (const text of texts) failWhenAsked(readDirectives(text));
  services.quotas.spend(account, model.id);
  const data = texts.map((text, index) => {
    const vector = embedText(text, { task: 'CHAT', dimensions: dimensions ?? most });
    const embedding = format === 'base64' ? packFloats(vector) : vector;
    return { object: 'embedding', index, embedding };
  });
  const tokens = texts.reduce((sum, text) => sum + countTextTokens(text), 0);
  return {
    ...{ object: 'list', data, model: model.id },
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** Tokens stand for themselves: the sandbox has no words for them. */
function textsOf(input: EmbeddingsRequest['input']): readonly string[] {
  if (typeof input === 'string') return [input];
  if (input.every((item) => typeof item === 'number')) return [input.join(' ')];
  return input.map((item) => (typeof item === 'string' ? item : String(item).replaceAll(',', ' ')));
}

function packFloats(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
