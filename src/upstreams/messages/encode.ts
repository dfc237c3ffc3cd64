// Writes a canonical request as the wire body of one model.

import { invalidRequest } from '../../canonical/error.ts';
import { unreadableAddress } from '../../canonical/media.ts';
import type {
  CanonicalRequest,
  MediaPart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts';
import { definedFields, type JsonObject } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { objectsOf } from '../../lib/read-values.ts';
import type { EncodeTarget } from '../upstream.ts';
import { drawsNone, encodeServiceTier, tellRun } from '../wire-parts.ts';
import {
  encodeFormat,
  encodeOutputLimit,
  encodeSampling,
  encodeStops,
  encodeThinking,
  isForcedCall,
  isThought,
  THOUGHT_ALONE,
  withoutLostThinking,
} from './encode-config.ts';
import { CallIds, cached, demandInWords, encodeToolChoice, encodeTools } from './encode-tools.ts';
import { traitsOf } from './models.ts';

/**
 * The body without `stream`, which is set when it is sent. Expects what the transforms establish
 * (canonical/request.ts), and never writes an empty block or an unknown field.
 * @throws GatewayError (invalid-request) for what this upstream cannot be sent.
 */
export function encode(request: CanonicalRequest, target: EncodeTarget): JsonObject {
  refuseUnsendable(request);
  noteDropped(request, target);
  const tools = encodeTools(request, target);
  const toolChoice = encodeToolChoice(request, tools, target);
  const { format, words } = encodeFormat(request.outputFormat, target);
  const limit = encodeOutputLimit(request, target);
  const isForced = isForcedCall(toolChoice);
  const { thinking, effort } = encodeThinking(request.reasoning, { limit, isForced }, target);
  const body: JsonObject = {
    model: target.modelId,
    max_tokens: limit,
    messages: encodeMessages(request.turns, { target, hasFormat: format !== undefined, thinking }),
    ...definedFields({
      system: encodeSystem(request.system, [words, demandInWords(request, target.modelId)]),
      tools: tools.length === 0 ? undefined : tools,
      tool_choice: toolChoice,
      stop_sequences: encodeStops(request, target),
      thinking,
      output_config: definedFields({ effort, format }),
      service_tier: encodeServiceTier(request.serviceTier, SERVICE_TIERS, target.receipt),
    }),
    ...encodeSampling(request, thinking, target),
  };
  const settled = withoutLostThinking(body, target.receipt);
  return hasHint(request) ? withinMaxMarks(settled, target) : withBreakpoints(settled);
}

/** @throws GatewayError (invalid-request) */
function refuseUnsendable({ cachedContent, outputModalities, mustDraw }: CanonicalRequest): void {
  if (cachedContent !== undefined) {
    const message = 'cachedContent: this upstream keeps no cached contents; send the whole prompt.';
    throw invalidRequest('cachedContent', message, 'unsupported');
  }
  if (outputModalities !== undefined && !outputModalities.includes('text')) {
    const message = 'modalities: this upstream answers in text alone.';
    throw invalidRequest('modalities', message, 'unsupported');
  }
  if (mustDraw === true) throw drawsNone();
}

function noteDropped(request: CanonicalRequest, { receipt }: EncodeTarget): void {
  const { image, imageDrafts, speech, mediaResolution, safety, outputModalities } = request;
  if (image !== undefined) receipt.add('dropped', 'size', told`This model draws no images.`);
  if (imageDrafts) {
    receipt.add('dropped', 'partial_images', told`This model sends no partial images.`);
  }
  const isSilent = outputModalities?.some((modality) => modality !== 'text') === true;
  if (isSilent || speech !== undefined) {
    receipt.add('dropped', 'modalities', told`This upstream answers in text alone.`);
  }
  const noCounterpart = told`The upstream has no such setting.`;
  if (mediaResolution !== undefined) receipt.add('dropped', 'media_resolution', noCounterpart);
  if (safety.length > 0) receipt.add('dropped', 'safety_settings', noCounterpart);
  if (request.verbosity !== undefined) receipt.add('dropped', 'verbosity', noCounterpart);
}

/** Source: docs.anthropic.com, "Service tiers". */
const SERVICE_TIERS = ['auto', 'standard_only'];

function encodeSystem(
  system: readonly TextPart[],
  words: readonly (string | undefined)[],
): JsonObject[] | undefined {
  const blocks = system.filter(saysSomething).map(encodeText);
  for (const text of words) if (text !== undefined) blocks.push({ type: 'text', text });
  return blocks.length === 0 ? undefined : blocks;
}

/** The wire refuses texts of white space alone. */
function saysSomething({ text }: { readonly text: string }): boolean {
  return text.trim() !== '';
}

function encodeText({ text, cacheHint }: TextPart): JsonObject {
  const block: JsonObject = { type: 'text', text };
  return cacheHint ? cached(block, cacheHint) : block;
}

/** What stands where a turn would be empty. */
const SILENCE: JsonObject = { type: 'text', text: '…' };

interface MessagesContext {
  readonly target: EncodeTarget;
  readonly hasFormat: boolean;
  readonly thinking: JsonObject | undefined;
}

/** @throws GatewayError (invalid-request) when nothing is left to send. */
function encodeMessages(turns: readonly Turn[], context: MessagesContext): JsonObject[] {
  const { target } = context;
  const ids = new CallIds();
  const messages: JsonObject[] = [];
  for (const { role, parts } of turns) {
    if (role === 'assistant') {
      const content = new AssistantTurn(target, ids).encode(parts);
      if (content.length > 0) messages.push({ role: 'assistant', content });
      continue;
    }
    const content = encodeUserTurn(parts, ids, target);
    if (content.length === 0) {
      const reason = told`A user turn "\u2026" stands for one of white space.`;
      target.receipt.add('approximated', 'messages', reason);
    }
    messages.push({ role: 'user', content: content.length === 0 ? [SILENCE] : content });
  }
  if (messages.length === 0) {
    throw invalidRequest('messages', 'messages: there is nothing to answer; send some content.');
  }
  return settleEnd(messages, context);
}

/** A conversation that ends with the assistant is gone on with: where the model or the request allows that. */
function settleEnd(messages: JsonObject[], context: MessagesContext): JsonObject[] {
  const { target, hasFormat, thinking } = context;
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return messages;
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  if (!traitsOf(target.modelId).takesPrefill || hasFormat || isThinking) {
    const reason = told`The model does not continue its own turn: a user turn "\u2026" was added after it.`;
    target.receipt.add('approximated', 'messages', reason);
    return [...messages, { role: 'user', content: [SILENCE] }];
  }
  const content = objectsOf(last.content);
  const end = content.at(-1);
  if (typeof end?.text !== 'string') return messages;
  const trimmed = { ...end, text: end.text.trimEnd() };
  return [...messages.slice(0, -1), { ...last, content: [...content.slice(0, -1), trimmed] }];
}

/** Results stand first, and media a failed one cannot hold behind them. */
function encodeUserTurn(parts: readonly Part[], ids: CallIds, target: EncodeTarget): JsonObject[] {
  const results: JsonObject[] = [];
  const others: JsonObject[] = [];
  for (const part of parts) {
    switch (part.kind) {
      case 'tool-result': {
        const { block, beside } = encodeToolResult(part, ids, target);
        results.push(block);
        others.push(...beside);
        break;
      }
      case 'text':
        if (saysSomething(part)) others.push(encodeText(part));
        break;
      case 'media':
        others.push(encodeMedia(part, target));
        break;
      case 'server-tool-call':
      case 'server-tool-result':
      case 'code':
      case 'code-result':
        others.push({ type: 'text', text: tellRun(part, target.receipt) });
        break;
      case 'tool-call':
      case 'thinking':
      case 'redacted-thinking': {
        const reason = told`A ${part.kind} was in a user turn.`;
        target.receipt.add('dropped', 'messages', reason);
        break;
      }
      default:
        part satisfies never;
    }
  }
  return [...results, ...others];
}

interface EncodedResult {
  readonly block: JsonObject;
  readonly beside: readonly JsonObject[];
}

function encodeToolResult(
  { callId, content, isError, cacheHint }: ToolResultPart,
  ids: CallIds,
  target: EncodeTarget,
): EncodedResult {
  const texts: string[] = [];
  const inside: JsonObject[] = [];
  const media: JsonObject[] = [];
  for (const item of content) {
    if (item.kind === 'media') {
      const block = encodeMedia(item, target);
      inside.push(block);
      media.push(block);
      continue;
    }
    const text = item.kind === 'text' ? item.text : JSON.stringify(item.value);
    if (text.trim() === '') continue;
    texts.push(text);
    inside.push({ type: 'text', text });
  }
  if (isError && media.length > 0) {
    const reason = told`Media of tool results are in the user message after them.`;
    target.receipt.add('approximated', 'messages', reason);
  }
  const isPlain = media.length === 0 || isError;
  const written = isPlain ? texts.join('\n') : inside;
  const block: JsonObject = {
    type: 'tool_result',
    tool_use_id: ids.sentOf(callId),
    ...(written.length === 0 ? {} : { content: written }),
    ...(isError ? { is_error: true } : {}),
  };
  return {
    block: cacheHint ? cached(block, cacheHint) : block,
    beside: isError ? media : [],
  };
}

/** Clients keep a streamed text in the pieces it came in: one of them may be blank, as no block may be. */
function joinTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind !== 'text' || last?.kind !== 'text') joined.push(part);
    else joined[joined.length - 1] = { ...part, text: last.text + part.text };
  }
  return joined;
}

/** The blocks of an assistant turn; none when the turn says nothing. */
class AssistantTurn {
  readonly #target: EncodeTarget;
  readonly #ids: CallIds;
  readonly #blocks: JsonObject[] = [];
  /** Where the step begins that the next call belongs to: thoughts of its trace stand there. */
  #stepStart = 0;

  constructor(target: EncodeTarget, ids: CallIds) {
    this.#target = target;
    this.#ids = ids;
  }

  encode(parts: readonly Part[]): JsonObject[] {
    this.#ids.beginTurn();
    const isTraced = parts.some((part) => part.kind === 'tool-call' && part.trace !== undefined);
    const said = isTraced ? parts.filter((part) => !isToldByTrace(part)) : parts;
    for (const part of joinTexts(said)) this.#add(part);
    return this.#withoutTrailingThoughts();
  }

  #add(part: Part): void {
    switch (part.kind) {
      case 'text':
        if (saysSomething(part)) this.#blocks.push(encodeText(part));
        break;
      case 'thinking': {
        const { text, signature } = part;
        const isOwn = signature !== undefined && (signature.on ?? 'thinking') === 'thinking';
        if (isOwn)
          this.#blocks.push({ type: 'thinking', thinking: text, signature: signature.value });
        else this.#note(told`Thinking without a valid signature cannot be sent upstream.`);
        break;
      }
      case 'tool-call':
        this.#addCall(part);
        break;
      case 'media':
        this.#note(told`The upstream takes no ${part.modality} in an answer of the assistant.`);
        break;
      case 'redacted-thinking':
        this.#blocks.push({ type: 'redacted_thinking', data: part.payload });
        break;
      case 'server-tool-call':
      case 'server-tool-result':
      case 'code':
      case 'code-result':
        this.#blocks.push({ type: 'text', text: tellRun(part, this.#target.receipt) });
        break;
      case 'tool-result':
        // Results are the user's; the transforms have put them there.
        this.#note(told`A tool result was in an assistant turn.`);
        break;
      default:
        part satisfies never;
    }
  }

  /** What the model thought and did by itself before the call goes back as it came: thoughts lead their step. */
  #addCall({ id, name, input, trace, signature }: ToolCallPart): void {
    // One that this gateway issued stands for what the trace holds.
    if (signature !== undefined && signature.family === undefined) this.#note(SIGNATURES_OF_CALLS);
    const told = trace?.parts ?? [];
    const other = told.findIndex((block) => !isThought(block));
    const thoughts = other < 0 ? told : told.slice(0, other);
    this.#blocks.splice(this.#stepStart, 0, ...thoughts);
    this.#blocks.push(...told.slice(thoughts.length));
    this.#blocks.push({ type: 'tool_use', id: this.#ids.send(id), name, input });
    this.#stepStart = this.#blocks.length;
  }

  /** The wire refuses a turn that ends in a thought. */
  #withoutTrailingThoughts(): JsonObject[] {
    const end = this.#blocks.findLastIndex((block) => !isThought(block));
    if (end + 1 < this.#blocks.length) this.#note(THOUGHT_ALONE);
    return this.#blocks.slice(0, end + 1);
  }

  #note(reason: Sentence): void {
    this.#target.receipt.add('dropped', 'messages', reason);
  }
}

const SIGNATURES_OF_CALLS = told`The upstream takes no signatures of calls.`;

/** What a client shows of thoughts and of the upstream's own tools stands in the trace itself. */
function isToldByTrace({ kind }: Part): boolean {
  switch (kind) {
    case 'thinking':
    case 'redacted-thinking':
    case 'server-tool-call':
    case 'server-tool-result':
    case 'code':
    case 'code-result':
      return true;
    default:
      return false;
  }
}

const IMAGE_TYPES: ReadonlySet<string | undefined> = new Set([
  ...(['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const),
]);
const PDF = 'application/pdf';

/** @throws GatewayError (invalid-request) for media this wire has no block for. */
function encodeMedia(part: MediaPart, { receipt, capabilities }: EncodeTarget): JsonObject {
  const { modality, source, mediaType, resolution, cacheHint } = part;
  if (resolution !== undefined) {
    const reason = told`This model takes no detail level for single media.`;
    receipt.add('dropped', 'messages', reason);
  }
  if (modality !== 'image' && modality !== 'document') throw unsendable(part);
  if (capabilities.refusesMedia?.includes(modality) === true) {
    const reason = told`The upstream takes no ${modality} of this kind: the model is told that it is missing.`;
    receipt.add('dropped', 'messages', reason);
    return { type: 'text', text: `[${modality} left out: it cannot be shown to this model]` };
  }
  const type = modality;
  const block: JsonObject = { type, source: encodeSource(part) };
  if (source.kind === 'base64' && modality === 'document' && mediaType !== PDF) {
    throw unsendable(part);
  }
  return cacheHint ? cached(block, cacheHint) : block;
}

function encodeSource(part: MediaPart): JsonObject {
  const { modality, source, mediaType } = part;
  switch (source.kind) {
    case 'base64': {
      const isTaken = modality === 'document' || IMAGE_TYPES.has(mediaType);
      if (!isTaken || mediaType === undefined || source.base64 === '') throw unsendable(part);
      return { type: 'base64', media_type: mediaType, data: source.base64 };
    }
    case 'url':
      if (!readsUri(source.url)) throw unsendable(part);
      return { type: 'url', url: source.url };
    case 'file':
      throw unsendable(part);
    default:
      return source satisfies never;
  }
}

/** Addresses this wire takes: the upstream fetches them itself. */
export function readsUri(uri: string): boolean {
  return uri.startsWith('https://');
}

function unsendable(part: MediaPart): Error {
  const { modality, source, mediaType } = part;
  const isRead = modality === 'image' || modality === 'document';
  if (isRead && source.kind !== 'base64') return unreadableAddress(part);
  const path = (source.kind === 'base64' ? undefined : source.path) ?? 'messages';
  const message = `${path}: this upstream takes no ${mediaType ?? modality} here; it reads pictures (JPEG, PNG, GIF, WebP) and PDF documents.`;
  return invalidRequest(path, message, 'unsupported');
}

/** True where the client says itself up to where the prompt is cached. */
function hasHint({ system, turns }: CanonicalRequest): boolean {
  return (
    system.some(({ cacheHint }) => cacheHint) ||
    turns.some(({ parts }) => parts.some((part: Part) => 'cacheHint' in part && part.cacheHint))
  );
}

const CACHED_USER_TURNS = 2;

/**
 * Where no client says what to cache: the tools, the instructions and the last two user turns, which the next
 * request of the conversation repeats. The wire takes four such marks.
 */
function withBreakpoints(body: JsonObject): JsonObject {
  const { tools, system } = body;
  const messages = [...objectsOf(body.messages)];
  let left = CACHED_USER_TURNS;
  for (let index = messages.length - 1; index >= 0 && left > 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user') continue;
    messages[index] = { ...message, content: cachedUpTo(objectsOf(message.content)) };
    left -= 1;
  }
  return {
    ...body,
    messages,
    ...(tools === undefined ? {} : { tools: cachedUpTo(objectsOf(tools)) }),
    ...(system === undefined ? {} : { system: cachedUpTo(objectsOf(system)) }),
  };
}

const MAX_MARKS = 4;

/**
 * Of more marks than the wire takes the last ones stay, as they cover most of the prompt, and the last one of the
 * instructions, which other conversations share.
 */
function withinMaxMarks(body: JsonObject, { receipt }: EncodeTarget): JsonObject {
  const system = objectsOf(body.system);
  const messages = objectsOf(body.messages);
  const blocks = [...system, ...messages.flatMap(({ content }) => objectsOf(content))];
  const marked = blocks.filter(isMarked);
  if (marked.length <= MAX_MARKS) return body;
  const shared = system.findLast(isMarked);
  const others = marked.filter((block) => block !== shared);
  const kept = new Set(others.slice(shared === undefined ? -MAX_MARKS : 1 - MAX_MARKS));
  const settle = (block: JsonObject): JsonObject => {
    if (!isMarked(block) || block === shared || kept.has(block)) return block;
    const { cache_control: _mark, ...rest } = block;
    return rest;
  };
  const reason = told`The upstream takes ${MAX_MARKS} cache breakpoints a request: ${marked.length - MAX_MARKS} were left out.`;
  receipt.add('dropped', 'cache_control', reason);
  return {
    ...body,
    messages: messages.map((message) => ({
      ...message,
      content: objectsOf(message.content).map(settle),
    })),
    ...(system.length === 0 ? {} : { system: system.map(settle) }),
  };
}

function isMarked({ cache_control }: JsonObject): boolean {
  return cache_control !== undefined;
}

function cachedUpTo(blocks: readonly JsonObject[]): JsonObject[] {
  return blocks.map((block, index) => (index === blocks.length - 1 ? cached(block) : block));
}
