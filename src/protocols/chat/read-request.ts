// Reads one chat completion request: the whole field list, strictly, into the canonical request.

import { invalidRequest } from '../../canonical/error.ts';
import type { ImageOptions } from '../../canonical/image-options.ts';
import { readImageOptions } from '../../canonical/image-options.ts';
import { sniffMediaType } from '../../canonical/media.ts';
import { plainModelName } from '../../canonical/model.ts';
import { memberPath, type Receipt, type ReceiptEntry } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  OutputFormat,
  OutputModality,
  Sampling,
} from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { findUrlFault } from '../../lib/net.ts';
import { objectsOf, textOf } from '../../lib/read-values.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import { isEmptyValue, type ValueOf } from '../body-schema.ts';
import type { AnswerOptions } from './answer-parts.ts';
import { readMessages } from './read-messages.ts';
import { type Extension, readExtension, readReasoning } from './read-reasoning.ts';
import { readSchema, readToolChoice, readTools } from './read-tools.ts';
import {
  BODY,
  type Body,
  check,
  clientNamesOf,
  createReadContext,
  EXTRA_BODY,
  missingField,
  noteUnread,
  type ReadContext,
  readAll,
  type SAMPLING,
  type SCHEMA_FORMAT,
  unknownWord,
  wrongType,
} from './schema.ts';

interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly canonical: CanonicalRequest;
  /** What it leaves out. */
  readonly losses: readonly ReceiptEntry[];
  readonly answer: AnswerOptions;
}

/** What every call needs at once; undefined where it is not as it must be, which `readChatRequest` tells. */
export function readChatHead({
  model,
  stream,
  messages,
}: JsonObject): Pick<ChatRequest, 'model' | 'stream'> | undefined {
  if (typeof model !== 'string' || plainModelName(model) === '') return undefined;
  // No service takes others, and what is no message cannot be patched.
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  if (!messages.every(isJsonObject) || messages.some(namesInnerMedia)) return undefined;
  const streams = stream ?? false;
  return typeof streams === 'boolean'
    ? { model: plainModelName(model), stream: streams }
    : undefined;
}

/** Servers of the operator's own fetch any address and open any file that is named (vLLM, LMDeploy, SGLang). */
function namesInnerMedia({ content }: JsonObject): boolean {
  if (!Array.isArray(content)) return false;
  for (const part of objectsOf(content)) {
    for (const name in part) {
      const { [name]: value } = part;
      if (name === 'file' && isJsonObject(value) && namesInnerFile(value)) return true;
      if (!name.endsWith('_url')) continue;
      const url = isJsonObject(value) ? value.url : value;
      if (typeof url === 'string' && isInnerMedia(url)) return true;
    }
  }
  return false;
}

/** Gateways fetch what stands in the place of base64 or of an id (LiteLLM). */
function namesInnerFile({ file_data: data, file_id: id }: JsonObject): boolean {
  return [data, id].some((one) => typeof one === 'string' && isInnerAddress(one));
}

/** Without a scheme (or with the letter of a drive) it is the name of a file, or base64 alone, as some clients send it. */
function isInnerMedia(url: string): boolean {
  const scheme = schemeOf(url);
  if (scheme !== undefined) return isInnerAddress(url, scheme);
  const head = url.slice(0, 64);
  return !/^[a-z\d+/]{16}/i.test(head) || sniffMediaType(head) === undefined;
}

function schemeOf(url: string): string | undefined {
  return /^[a-z][a-z\d+.-]+(?=:)/i.exec(url.slice(0, 64))?.[0].toLowerCase();
}

function isInnerAddress(url: string, scheme = schemeOf(url)): boolean {
  return scheme === 'file' || (/^https?$/.test(scheme ?? '') && findUrlFault(url) !== undefined);
}

/** @throws GatewayError (invalid-request) naming the field. */
export function readChatRequest(sent: JsonObject, receipt: Receipt): ChatRequest {
  const context = createReadContext(receipt);
  refuseCachedContent(sent);
  const { value: body, unknown } = check(sent, BODY, '');
  const model = readModel(body.model);
  const isLegacy = (body.functions?.length ?? 0) > 0 && (body.tools?.length ?? 0) === 0;
  const canonical = readCanonical(body, isLegacy, context);
  if (unknown !== undefined) noteUnread(unknown, { path: '', receipt });
  if (body.extra_body) readAll(body.extra_body, EXTRA_BODY, { path: 'extra_body', receipt });
  const freeform = canonical.tools.filter((tool) => tool.kind === 'freeform');
  return {
    model,
    stream: body.stream ?? false,
    canonical,
    losses: receipt.entries,
    answer: {
      includeUsage: body.stream_options?.include_usage ?? false,
      extensionKey: context.extensionKey,
      freeformTools: new Set(freeform.map((tool) => tool.name)),
      // `functions` alone: the answer then calls by `function_call`, one at a time.
      callForm: isLegacy ? 'function_call' : 'tool_calls',
    },
  };
}

export function readModel(model: string): string {
  const name = plainModelName(model);
  if (name === '') throw invalidRequest('model', 'model is empty; name a model of GET /v1/models.');
  return name;
}

function readCanonical(body: Body, isLegacy: boolean, context: ReadContext): CanonicalRequest {
  const { receipt } = context;
  const { system, turns } = readMessages(body.messages, context);
  const tools = readTools(body, context);
  const maxOutputTokens = readMaxTokens(body, receipt);
  const outputModalities = body.modalities ? readModalities(body.modalities) : undefined;
  const image = readImage(body, receipt);
  const extension = readExtension(body, context);
  const reasoning = readReasoning(body, extension, context);
  const { safety, safetyPath } = readSafety(body, extension);
  const topK = readNumber(body.top_k) ?? 0;
  return {
    system,
    turns,
    tools,
    toolChoice: readToolChoice(body, tools, context),
    parallelToolCalls: isLegacy ? false : (body.parallel_tool_calls ?? undefined),
    sampling: {
      ...readSampling(body),
      seed: readNumber(body.seed ?? body.random_seed),
      topK: topK > 0 ? topK : undefined,
      logprobs: readLogprobs(body),
    },
    maxOutputTokens,
    stopSequences: readStops(body.stop, receipt),
    choices: readNumber(body.n) ?? 1,
    reasoning,
    outputFormat: body.response_format
      ? readResponseFormat(body.response_format)
      : { kind: 'text' },
    outputModalities,
    image,
    safety,
    serviceTier: body.service_tier ?? undefined,
    cacheKey: body.prompt_cache_key || undefined,
    verbosity: readVerbosity(body.verbosity),
    clientNames: { ...clientNamesOf(body, context, isLegacy), safety_settings: safetyPath },
  };
}

/** As some clients add them, or within the vendor extension object. */
function readSafety(body: Body, extension: Extension) {
  const isInner = (body.safety_settings ?? null) === null;
  const settings = isInner ? extension.value.safety_settings : body.safety_settings;
  return {
    safety: (settings ?? []).map(({ category, threshold }) => ({ category, threshold })),
    safetyPath: memberPath(isInner ? extension.path : '', 'safety_settings'),
  };
}

function readImage(body: Body, receipt: Receipt): ImageOptions | undefined {
  const { size, imageSize, quality, image_config: config } = body;
  if ((size ?? imageSize ?? quality ?? config ?? null) === null) return undefined;
  const { aspect_ratio: ratio, image_size: resolution } = config ?? {};
  const paths = {
    quality: 'quality',
    size: size ? 'size' : 'image_config.aspect_ratio',
    imageSize: imageSize ? 'imageSize' : 'image_config.image_size',
  };
  return readImageOptions(
    { size: size ?? ratio, imageSize: imageSize ?? resolution, quality },
    { receipt, unknownWord: (field, words) => unknownWord(paths[field], words) },
  );
}

/** `medium` is what every model does anyway. */
export function readVerbosity(word: string | null | undefined): string | undefined {
  return word === 'medium' ? undefined : (word ?? undefined);
}

/** What all surfaces that answer in words have. */
export function readSampling(
  body: {
    readonly [Key in keyof typeof SAMPLING]?: JsonValue;
  },
): Sampling {
  return {
    temperature: readNumber(body.temperature),
    topP: readNumber(body.top_p),
    presencePenalty: readNumber(body.presence_penalty),
    frequencyPenalty: readNumber(body.frequency_penalty),
  };
}

function readLogprobs(body: Body): Sampling['logprobs'] {
  const alternatives = readNumber(body.top_logprobs) ?? 0;
  if (body.logprobs === true) return { alternatives };
  if (alternatives === 0) return undefined;
  throw invalidRequest('top_logprobs', 'top_logprobs needs logprobs to be true.');
}

/** The newer name wins over the deprecated one; that it says something else is noted. */
function readMaxTokens(body: Body, receipt: Receipt): number | undefined {
  const newer = readNumber(body.max_completion_tokens);
  const older = readNumber(body.max_tokens);
  if (newer !== undefined && older !== undefined && newer !== older) {
    const name = 'max_completion_tokens';
    receipt.add('dropped', 'max_tokens', told`${name} says something else and takes precedence.`);
  }
  return newer ?? older;
}

const MAX_STOPS = 4;

/** A string, at most four strings, or null; empty strings would stop every answer and are left out. */
export function readStops(value: JsonValue | undefined, receipt: Receipt): readonly string[] {
  if (value === undefined || value === null) return [];
  const stops = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(stops)) throw wrongType('stop', 'a string or an array of strings');
  if (stops.length > MAX_STOPS) {
    throw invalidRequest('stop', `stop may hold at most ${MAX_STOPS} strings.`);
  }
  return stops.flatMap((stop, index) => {
    const path = typeof value === 'string' ? 'stop' : `stop[${index}]`;
    if (typeof stop !== 'string') throw wrongType(path, 'a string');
    if (stop !== '') return [stop];
    receipt.add('dropped', path, told`An empty stop sequence stops nothing.`);
    return [];
  });
}

/**
 * Several services take a schema beside the word for any JSON (llama.cpp, Together, Fireworks). Hugging Face's server
 * has its own words: huggingface.co/docs/text-generation-inference, "Guidance".
 */
function readResponseFormat(format: NonNullable<Body['response_format']>): OutputFormat {
  const { type, json_schema, value } = format;
  if (type === 'json_object' || type === 'json') {
    const schema = format.schema ?? value ?? null;
    return readFormat('json_object', { schema }, ['response_format', '']);
  }
  const inner = isJsonObject(value) ? (value.schema ?? value) : value;
  const holder = json_schema ?? (inner === undefined ? undefined : { schema: inner });
  return readFormat(type, holder, ['response_format', '.json_schema']);
}

type SchemaFormat = {
  readonly [Key in keyof typeof SCHEMA_FORMAT]?: ValueOf<(typeof SCHEMA_FORMAT)[Key]> | null;
};

/** `place` is the path of the format and the rest of that of the schema's holder. @throws GatewayError 400 */
export function readFormat(
  type: string,
  holder: SchemaFormat | null | undefined,
  [path, rest]: readonly [string, string],
): OutputFormat {
  switch (type) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
    case 'json_schema': {
      if (!holder) throw missingField(path + rest);
      const { name, strict, description } = holder;
      const schema = readSchema(holder.schema ?? undefined, `${path}${rest}.schema`);
      // Without one any JSON will do.
      if (schema === undefined) return { kind: 'json' };
      return {
        kind: 'json-schema',
        schema: typeof schema === 'boolean' ? schema : withPurpose(schema, description),
        name: name ?? undefined,
        strict: strict ?? undefined,
      };
    }
    default:
      throw unknownWord(`${path}.type`, ['text', 'json_object', 'json_schema']);
  }
}

/** What the format is for belongs to its schema, which may say more of itself. */
function withPurpose(schema: JsonObject, purpose: string | null | undefined): JsonObject {
  if (!purpose) return schema;
  const own = textOf(schema.description);
  const isSaid = own === undefined || own === purpose;
  return { ...schema, description: isSaid ? purpose : `${purpose}\n\n${own}` };
}

/** Undefined for plain text. @throws GatewayError 400, also for audio, which no answer can carry yet. */
function readModalities(
  values: NonNullable<Body['modalities']>,
): readonly OutputModality[] | undefined {
  const modalities = values.map((value, index): OutputModality => {
    const path = `modalities[${index}]`;
    if (typeof value !== 'string') throw wrongType(path, 'a string');
    const word = value.toLowerCase();
    if (word === 'text' || word === 'image') return word;
    if (word !== 'audio') throw unknownWord(path, ['text', 'image']);
    throw invalidRequest(path, 'Audio answers are not supported; ask for text.', 'unsupported');
  });
  return modalities.includes('image') ? modalities : undefined;
}

const HOLDERS = ['extra_body', ...CHAT_EXTENSION_KEYS];

/**
 * A conversation that begins in a cache of the upstream is refused: the model would not see its beginning. The name
 * of a cache stands in the vendor extension object (ai.google.dev, "OpenAI compatibility"), in `extra_body` or bare.
 * @throws GatewayError 400
 */
export function refuseCachedContent(holder: JsonObject, path = ''): void {
  for (const key of ['cached_content', 'cachedContent']) {
    if (!(key in holder) || isEmptyValue(holder[key])) continue;
    const field = memberPath(path, key);
    const message = `${field} is not supported: a cache belongs to one upstream account. Send the content itself; requests of one session stay on one account and are cached implicitly.`;
    throw invalidRequest(field, message, 'unsupported');
  }
  for (const key of HOLDERS) {
    const inner = holder[key];
    if (isJsonObject(inner)) refuseCachedContent(inner, memberPath(path, key));
  }
}

/** The session a body names for itself: its cache key or its user. */
export function readBodySession(body: JsonObject): string | undefined {
  for (const name of [body.prompt_cache_key, body.user]) {
    if (typeof name === 'string' && name !== '') return name;
  }
  return undefined;
}
