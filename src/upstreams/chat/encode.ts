// Writes a canonical request as a chat completion request; what the upstream takes differently is fitted behind it.

import { writeCacheHint } from '../../canonical/cache-hint.ts';
import type { ReasoningAmount } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/error.ts';
import { unreadableAddress } from '../../canonical/media.ts';
import type {
  CanonicalRequest,
  MediaPart,
  Part,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts';
import { formatInWords } from '../../canonical/text-forms.ts';
import { definedFields, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { enforcedStops } from '../../transforms/stop-sequences.ts';
import { writeSignature } from '../../wire/chat.ts';
import type { EncodeTarget } from '../upstream.ts';
import { encodeServiceTier, tellRun, unreadableCache } from '../wire-parts.ts';
import { closeObjects, encodeTools, freeTextTools, toAnswerSchema } from './encode-tools.ts';
import { fitBody } from './fit.ts';
import { type FitContext, traitsOf } from './models.ts';
import type { ChatProfile, ChatQuirks } from './profiles.ts';
import {
  amountBesideFunctions,
  fieldFor,
  type Reasoning,
  readReasoning,
  reasoningFields,
} from './reasoning.ts';

/**
 * The body without `stream`, which is said when it is sent. Expects what the transforms establish
 * (canonical/request.ts).
 * @throws GatewayError (invalid-request) for what this upstream cannot be sent.
 */
export function encode(
  request: CanonicalRequest,
  target: EncodeTarget,
  profile: ChatProfile,
): JsonObject {
  const context: FitContext = { target, profile };
  const body: JsonObject = {
    model: target.modelId,
    messages: new Messages(context).encode(request),
    ...encodeTools(request, context),
    ...samplingFields(request),
    ...hintFields(request, context),
    ...formatFields(request),
    ...unsaidFields(request, context),
  };
  fitBody(body, fitAmount(request, context), context);
  return body;
}

/** Under the newest names; what an upstream calls them otherwise is fitted. */
function samplingFields(request: CanonicalRequest): JsonObject {
  const { sampling, choices } = request;
  const stops = enforcedStops(request);
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty, logprobs } = sampling;
  return (
    definedFields({
      max_completion_tokens: request.maxOutputTokens,
      temperature,
      top_p: topP,
      top_k: topK,
      seed,
      presence_penalty: presencePenalty,
      frequency_penalty: frequencyPenalty,
      logprobs: logprobs === undefined ? undefined : true,
      top_logprobs: logprobs?.alternatives || undefined,
      n: choices > 1 ? choices : undefined,
      stop: stops.length === 0 ? undefined : [...stops],
    }) ?? {}
  );
}

/** Source: platform.openai.com, "Create chat completion", `service_tier`. */
const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority', 'fast'];

/** What changes nothing of the answer's content; an upstream without it answers as it always does. */
function hintFields(request: CanonicalRequest, { target, profile }: FitContext): JsonObject {
  const { serviceTier, cacheKey, verbosity } = request;
  const { quirks } = profile;
  const words = quirks.takesServiceTier ? SERVICE_TIERS : [];
  const takesVerbosity = traitsOf(quirks, target.modelId).takesFreeText;
  if (verbosity !== undefined && !takesVerbosity) {
    target.receipt.add('dropped', 'verbosity', told`The upstream has no such setting.`);
  }
  return (
    definedFields({
      service_tier: encodeServiceTier(serviceTier, words, target.receipt),
      ...cacheKeyOf(cacheKey, quirks),
      verbosity: takesVerbosity ? verbosity : undefined,
    }) ?? {}
  );
}

/** Of `session_id`, in characters (openrouter.ai/docs, "Prompt Caching"). */
const MAX_SESSION = 256;

function cacheKeyOf(key: string | undefined, { cacheKeyField: field }: ChatQuirks): JsonObject {
  if (key === undefined || field === undefined) return {};
  return field === 'session_id' && key.length > MAX_SESSION ? {} : { [field]: key };
}

function fitAmount({ reasoning, tools }: CanonicalRequest, context: FitContext): ReasoningAmount {
  const hasFunctions = tools.some(({ kind }) => kind === 'function' || kind === 'freeform');
  return hasFunctions ? amountBesideFunctions(reasoning.amount, context) : reasoning.amount;
}

/** A name the wire takes; the schemas of other protocols have none. */
const FORMAT_NAME = 'answer';

function formatFields({ outputFormat: format }: CanonicalRequest): JsonObject {
  switch (format.kind) {
    case 'text':
      return {};
    case 'json':
      return { response_format: { type: 'json_object' } };
    case 'json-schema': {
      if (typeof format.schema === 'boolean') return { response_format: { type: 'json_object' } };
      const { schema, strict, isClosed, name = FORMAT_NAME } = format;
      const named = { name: name.replace(/[^\w-]/g, '_').slice(0, 64) || FORMAT_NAME };
      const json_schema = {
        ...named,
        schema: toAnswerSchema(isClosed === true ? closeObjects(schema) : schema),
        ...(strict === undefined ? {} : { strict }),
      };
      return { response_format: { type: 'json_schema', json_schema } };
    }
    case 'enum':
      // One word and no object around it: no format of the wire says that.
      return {};
    default:
      return format satisfies never;
  }
}

/** What the wire has no words for: told, and left out. */
function unsaidFields(request: CanonicalRequest, { target }: FitContext): JsonObject {
  const { outputModalities = [], image, mustDraw, speech, safety, imageDrafts } = request;
  const drop = (path: string, reason: Sentence): void =>
    target.receipt.add('dropped', path, reason);
  if (request.cachedContent !== undefined) throw unreadableCache();
  const { drawsImages } = target.capabilities;
  if (mustDraw === true && !drawsImages) {
    throw invalidRequest(
      'tool_choice',
      'tool_choice demands a picture, and this model draws none.',
    );
  }
  const drawing = drawsImages ? drawingFields(request) : {};
  if (image !== undefined && !drawsImages) drop('size', told`This model draws no images.`);
  if (imageDrafts) drop('partial_images', told`This model sends no partial images.`);
  if (outputModalities.includes('image') && !drawsImages)
    drop('modalities', told`This model draws no images.`);
  if (safety.length > 0) drop('safety_settings', told`The upstream has no such settings.`);
  if (request.mediaResolution !== undefined) {
    drop('media_resolution', told`The upstream takes a detail level for single pictures only.`);
  }
  if (!outputModalities.includes('audio')) return drawing;
  if (speech !== undefined) {
    const reason = told`The voices of the upstream have other names: its own was taken.`;
    target.receipt.add('approximated', 'speech', reason);
  }
  // The one format that can be streamed as well ("Audio and speech": pcm16).
  return { modalities: ['text', 'audio'], audio: { voice: VOICE, format: 'pcm16' } };
}

/** openrouter.ai/docs, "Image Generation": `modalities` and `image_config` with `aspect_ratio` and `image_size`. */
function drawingFields({ image, mustDraw, outputModalities }: CanonicalRequest): JsonObject {
  const isAsked = image !== undefined || mustDraw === true || outputModalities?.includes('image');
  if (isAsked !== true) return {};
  const config = definedFields({ aspect_ratio: image?.aspectRatio, image_size: image?.size });
  return {
    modalities: ['image', 'text'],
    ...(config === undefined ? {} : { image_config: config }),
  };
}

const VOICE = 'alloy';

/** One text where there is nothing else: servers without pictures take that alone. */
function plainOf(content: readonly JsonObject[]): JsonValue {
  const isPlain = content.every(({ type, cache_control: mark }) => type === 'text' && !mark);
  return isPlain ? content.map(({ text }) => text).join('\n\n') : [...content];
}

const MARKED_FIELDS = { system: 'system', messages: 'messages' } as const;

/** Puts the messages together, in the order in which they were said. */
class Messages {
  readonly #context: FitContext;
  readonly #messages: JsonObject[] = [];
  /** Names of the tools whose calls hold free text. */
  #freeText: ReadonlySet<string> = new Set();
  /** True where a recording is all that is asked about. */
  #isTranscription = false;

  constructor(context: FitContext) {
    this.#context = context;
  }

  /** @throws GatewayError (invalid-request) when nothing is left to send. */
  encode(request: CanonicalRequest): JsonObject[] {
    const { system, turns, outputFormat } = request;
    this.#isTranscription = request.transcription !== undefined;
    this.#freeText = freeTextTools(request, this.#context);
    const instructions = [...system];
    if (outputFormat.kind === 'enum') {
      const reason = told`The upstream has no such format: the model is told it in words.`;
      this.#context.target.receipt.add('approximated', 'response_format', reason);
      instructions.push({ kind: 'text', text: formatInWords(outputFormat) });
    }
    this.#addInstructions(instructions);
    for (const turn of turns) this.#addTurn(turn);
    if (this.#messages.every(({ role }) => role === 'system')) {
      const empty = 'messages: there is nothing to answer; send some content.';
      throw invalidRequest(MARKED_FIELDS.messages, empty);
    }
    return this.#messages;
  }

  #addInstructions(parts: readonly TextPart[]): void {
    const content = parts.filter(({ text }) => text !== '').map((part) => this.#textPart(part));
    if (content.length > 0) this.#messages.push({ role: 'system', content: plainOf(content) });
  }

  /** With the client's mark up to where the prompt is cached, where the upstream has such. */
  #textPart({ text, cacheHint }: Pick<TextPart, 'text' | 'cacheHint'>): JsonObject {
    const part = { type: 'text', text };
    return cacheHint && this.#context.profile.quirks.takesCacheMarks
      ? { ...part, cache_control: writeCacheHint(cacheHint) }
      : part;
  }

  #addTurn(turn: Turn): void {
    switch (turn.role) {
      case 'system':
        this.#addInstructions(turn.parts);
        break;
      case 'user':
        this.#addUserTurn(turn.parts);
        break;
      case 'assistant':
        this.#addAssistantTurn(turn.parts);
        break;
      default:
        turn satisfies never;
    }
  }

  /** Results first, as the wire wants them right behind their calls; their media stand in the message behind them. */
  #addUserTurn(parts: readonly Part[]): void {
    const content: JsonObject[] = [];
    for (const part of parts) {
      if (part.kind === 'tool-result') content.push(...this.#addResult(part));
    }
    for (const part of parts) {
      if (part.kind !== 'tool-result') content.push(...this.#contentOf(part));
    }
    if (content.length > 0) this.#messages.push({ role: 'user', content: plainOf(content) });
  }

  #addResult({ callId, content, isError, cacheHint }: ToolResultPart): JsonObject[] {
    const texts: string[] = [];
    const media: JsonObject[] = [];
    for (const item of content) {
      if (item.kind === 'text') texts.push(item.text);
      else if (item.kind === 'json') texts.push(JSON.stringify(item.value));
      else media.push(...this.#mediaOf(item));
    }
    if (media.length > 0) {
      const reason = told`Media of tool results are in the user message after them.`;
      this.#note('approximated', reason);
      if (texts.length === 0) texts.push('The result is in the next message.');
    }
    const text = texts.join('\n');
    if (isError)
      this.#note('approximated', told`That a tool failed is said in the text of its result.`);
    const isSaid = !isError || SAYS_ERROR.test(text);
    const said = this.#textPart({ text: isSaid ? text : `Error: ${text}`, cacheHint });
    this.#messages.push({ role: 'tool', tool_call_id: callId, content: plainOf([said]) });
    return media;
  }

  #contentOf(part: Exclude<Part, ToolResultPart>): JsonObject[] {
    switch (part.kind) {
      case 'text':
        return part.text === '' ? [] : [this.#textPart(part)];
      case 'media':
        return this.#mediaOf(part);
      case 'tool-call':
      case 'thinking':
      case 'redacted-thinking':
        this.#note('dropped', told`A ${part.kind} was in a user turn.`);
        return [];
      default:
        return [{ type: 'text', text: tellRun(part, this.#context.target.receipt) }];
    }
  }

  #addAssistantTurn(parts: readonly Part[]): void {
    // Apart until the end: to look at the last character of one text copies it each time.
    const pieces: string[] = [];
    /** What stands for no words of the model's, as a paragraph of its own. */
    let isApart = false;
    const say = (said: string, standsApart: boolean): void => {
      const endsLine = pieces.at(-1)?.endsWith('\n') ?? true;
      pieces.push((standsApart || isApart) && !endsLine ? `\n\n${said}` : said);
      isApart = standsApart;
    };
    const calls: ToolCallPart[] = [];
    const thoughts: ThinkingPart[] = [];
    for (const part of parts) {
      switch (part.kind) {
        case 'text':
          if (part.text !== '') say(part.text, false);
          break;
        case 'thinking':
          thoughts.push(part);
          break;
        case 'tool-call':
          calls.push(part);
          if (part.signature !== undefined && part.signature.family === undefined) {
            this.#note('dropped', told`The upstream takes no signatures of calls.`);
          }
          break;
        case 'media':
          this.#note('dropped', told`What the model drew or spoke cannot be sent back.`);
          break;
        case 'redacted-thinking':
          this.#note('dropped', told`Only its issuer can read redacted thinking.`);
          break;
        case 'tool-result':
          this.#note('dropped', told`A tool result was in an assistant turn.`);
          break;
        default:
          say(tellRun(part, this.#context.target.receipt), true);
      }
    }
    const reasoning = this.#reasoningOf(thoughts, calls[0]);
    const text = pieces.join('');
    if (text === '' && calls.length === 0) return;
    this.#messages.push({
      role: 'assistant',
      content: text === '' ? null : text,
      ...reasoning,
      ...(calls.length === 0
        ? {}
        : { tool_calls: calls.map((call) => encodeCall(call, this.#freeText)) }),
    });
  }

  /** As the client carried the thoughts, else as they are remembered of the call they led to. */
  #reasoningOf(thoughts: readonly ThinkingPart[], call: ToolCallPart | undefined): JsonObject {
    const carried = thoughts.flatMap((part) => readReasoning(part));
    const traced: readonly Reasoning[] = call?.trace?.parts ?? [];
    const known = carried.length > 0 ? carried : traced;
    const field = fieldFor(known, this.#context.profile.quirks.sendsReasoning);
    if (field !== undefined) return reasoningFields(known, field);
    if (carried.length > 0) this.#note('dropped', told`The upstream takes no earlier thoughts.`);
    return {};
  }

  #mediaOf(part: MediaPart): JsonObject[] {
    const encoded = encodeMedia(part, this.#context);
    if (encoded !== undefined) return [encoded];
    if (this.#isTranscription) throw unheard(part, this.#context);
    const reason = told`The upstream takes no ${part.modality} of this kind: the model is told that it is missing.`;
    this.#note('dropped', reason);
    return [
      { type: 'text', text: `[${part.modality} left out: it cannot be shown to this model]` },
    ];
  }

  #note(action: 'dropped' | 'approximated', reason: Sentence): void {
    this.#context.target.receipt.add(action, MARKED_FIELDS.messages, reason);
  }
}

function encodeCall(
  { id, name, input, signature }: ToolCallPart,
  freeText: ReadonlySet<string>,
): JsonObject {
  // One without a family is of another wire.
  const signed = signature?.family === undefined ? {} : writeSignature(signature.value);
  if (freeText.has(name) && typeof input.input === 'string') {
    return { id, type: 'custom', custom: { name, input: input.input }, ...signed };
  }
  const called = { name, arguments: JSON.stringify(input) };
  return { id, type: 'function', function: called, ...signed };
}

/** `Error: …`, as another gateway or the tool itself says it, and `TypeError: …`. */
const SAYS_ERROR = /^\s*\w*error:/i;

const DETAILS = { low: 'low', medium: 'auto', high: 'high' } as const;

/** The type a file is named by where its client gave it no name. */
const FILE_NAMES: Readonly<Record<string, string>> = { 'application/pdf': 'document.pdf' };

/** Undefined for what has no place. @throws GatewayError (invalid-request) for an address that is not read. */
function encodeMedia(
  part: MediaPart,
  { target, profile: { quirks } }: FitContext,
): JsonObject | undefined {
  const { modality, mediaType = '', source, resolution } = part;
  if (target.capabilities.refusesMedia?.includes(modality) === true) return undefined;
  const base64 = source.kind === 'base64' ? source.base64 : undefined;
  switch (modality) {
    case 'image': {
      const url =
        base64 === undefined
          ? addressOf(part, quirks.images === 'any')
          : `data:${mediaType};base64,${base64}`;
      const detail = resolution === undefined ? {} : { detail: DETAILS[resolution] };
      return { type: 'image_url', image_url: { url, ...detail } };
    }
    case 'audio': {
      const format = AUDIO_FORMATS.get(mediaType);
      if (format === undefined) return undefined;
      return {
        type: 'input_audio',
        input_audio: { data: base64 ?? addressOf(part, false), format },
      };
    }
    case 'document': {
      const data = base64 ?? addressOf(part, false);
      const filename = FILE_NAMES[mediaType] ?? 'document';
      return { type: 'file', file: { filename, file_data: `data:${mediaType};base64,${data}` } };
    }
    case 'video':
      return undefined;
    default:
      return modality satisfies never;
  }
}

function unheard({ mediaType = 'audio' }: MediaPart, { target }: FitContext): Error {
  const isDeaf = target.capabilities.refusesMedia?.includes('audio') === true;
  const why = isDeaf ? 'hears nothing; name' : `hears no ${mediaType}; send wav or mp3, or name`;
  const message = `messages: this model ${why} a model that transcribes.`;
  return invalidRequest(MARKED_FIELDS.messages, message, 'unsupported');
}

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/mp3', 'mp3'],
]);

/** @throws GatewayError (invalid-request) for one that the upstream does not read itself */
export function addressOf(part: MediaPart, isRead: boolean): string {
  if (isRead && part.source.kind === 'url') return part.source.url;
  throw unreadableAddress(part);
}
