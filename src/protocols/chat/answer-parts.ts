// The pieces stream and unary answers share: usage, finish reasons, tool calls, blocks as markdown.

import type { BlockOpening, ChoiceEnd } from '../../canonical/event.ts';
import type { ReplyBlock } from '../../canonical/fold.ts';
import type { GroundingEvent } from '../../canonical/grounding.ts';
import type { RatedToken } from '../../canonical/logprobs.ts';
import { PARAGRAPH } from '../../canonical/media.ts';
import type { Signature } from '../../canonical/request.ts';
import { writeServiceTier } from '../../canonical/service-tier.ts';
import { writeCarrier } from '../../canonical/signatures.ts';
import { sourceTitle, writeCodeText } from '../../canonical/text-forms.ts';
import {
  cacheWriteTokens,
  inputTokens,
  outputTokens,
  totalTokens,
  type Usage,
} from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { dataFrame, EVENT_STREAM_TYPE, FRAME_END } from '../../stream/sse.ts';
import {
  CHAT_TIERS,
  type ChatAnnotation,
  type ChatExtensionKey,
  type ChatFinishReason,
  type ChatImage,
  type ChatLogprobs,
  type ChatTier,
  type ChatToolCall,
  type ChatTopLogprob,
  type ChatUsage,
} from '../../wire/chat.ts';

/** What all streams of this protocol have alike. */
export const STREAM = {
  contentType: EVENT_STREAM_TYPE,
  keepAlive: (): string => `: keep-alive${FRAME_END}`,
} as const;
/** Ends a stream that went well. */
export const LAST_FRAME = dataFrame('[DONE]');

export type ShownBlock = Extract<BlockOpening, { kind: 'media' | 'code' | 'code-result' }>;

/** Empty where the upstream tells none that this protocol has a word for. */
export function writeTier(serviceTier: string | undefined): { service_tier?: ChatTier } {
  const word = writeServiceTier(serviceTier, CHAT_TIERS);
  return word === undefined ? {} : { service_tier: word };
}

export function writeUsage(usage: Usage): ChatUsage {
  const written = cacheWriteTokens(usage);
  return {
    prompt_tokens: inputTokens(usage),
    completion_tokens: outputTokens(usage),
    total_tokens: totalTokens(usage),
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
      ...writeMedia(usage.media),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.thoughtTokens,
      ...writeMedia(usage.answerMedia),
    },
  };
}

/** Sound and pictures, where the upstream tells them. */
function writeMedia(media: Usage['media']) {
  return media && { audio_tokens: media.audio, image_tokens: media.image };
}

/** `hasCalls` guards against agents that stop at "stop" although the answer holds calls. */
export function writeFinishReason(
  end: ChoiceEnd,
  hasCalls: boolean,
  callForm: 'tool_calls' | 'function_call',
): ChatFinishReason {
  switch (end.reason) {
    case 'stop':
    case 'stop-sequence':
      return hasCalls ? callForm : 'stop';
    case 'tool-calls':
      return callForm;
    case 'max-tokens':
      return 'length';
    case 'safety':
    case 'prompt-blocked':
      return 'content_filter';
    default:
      return end.reason satisfies never;
  }
}

/** `{google: {thought_signature}}`, or the same under the neutral word. */
export function writeExtraContent(signature: Signature, key: ChatExtensionKey): JsonObject {
  return { [key]: { thought_signature: writeCarrier(signature) } };
}

/** A call whose arguments, or free text, are `text`. */
export function writeCall(
  {
    id,
    name,
    signature,
  }: Pick<Extract<ReplyBlock, { kind: 'tool-call' }>, 'id' | 'name' | 'signature'>,
  text: string,
  { freeformTools, extensionKey }: AnswerOptions,
): ChatToolCall {
  const call: ChatToolCall = freeformTools.has(name)
    ? { id, type: 'custom', custom: { name, input: text } }
    : { id, type: 'function', function: { name, arguments: text } };
  if (signature === undefined) return call;
  return { ...call, extra_content: writeExtraContent(signature, extensionKey) };
}

/**
 * The free text of a call to a custom tool: its argument `input`, or the only one whatever its name (models say
 * `patch`), else the arguments as they are, if any.
 */
export function writeFreeformInput(input: JsonObject): string {
  const [only = '', ...others] = Object.values(input);
  const text = input.input ?? (others.length === 0 ? only : undefined);
  return typeof text === 'string' ? text : JSON.stringify(input);
}

/** A block that is neither text nor thought nor call, as markdown. */
export function writeMarkdown(block: ShownBlock): string {
  switch (block.kind) {
    case 'media': {
      const name = block.mediaType.slice(0, block.mediaType.indexOf('/'));
      return `${name === 'image' ? '!' : ''}[${name}](${dataUri(block)})`;
    }
    case 'code':
    case 'code-result':
      return writeCodeText(block);
    default:
      return block satisfies never;
  }
}

/** The picture a block draws; undefined when it draws none. */
export function writeImage(block: ShownBlock, index: number): ChatImage | undefined {
  if (block.kind !== 'media' || !block.mediaType.startsWith('image/')) return undefined;
  return { type: 'image_url', index, image_url: { url: dataUri(block) } };
}

function dataUri({ mediaType, base64 }: Extract<ShownBlock, { kind: 'media' }>): string {
  return `data:${mediaType};base64,${base64}`;
}

/**
 * One annotation a citation and source. Where nothing is cited, all sources stand for the whole content.
 * `textStart` is where the content's text begins in the model's whole text.
 */
export function writeAnnotations(
  grounding: GroundingEvent | undefined,
  content: ContentText,
  textStart = 0,
): ChatAnnotation[] {
  if (grounding === undefined) return [];
  const annotations: ChatAnnotation[] = [];
  const add = (source: number, start: number, end: number): void => {
    const found = grounding.sources[source];
    if (found === undefined) return;
    annotations.push({
      type: 'url_citation',
      url_citation: {
        start_index: start,
        end_index: end,
        title: sourceTitle(found),
        url: found.url,
      },
    });
  };
  for (const citation of grounding.citations) {
    const start = content.startOf(citation.startIndex - textStart);
    const end = content.endOf(citation.endIndex - textStart);
    for (const source of citation.sources) add(source, start, end);
  }
  if (grounding.citations.length > 0) return annotations;
  for (const source of grounding.sources.keys()) add(source, 0, content.length);
  return annotations;
}

interface Insertion {
  /** Position in the model's text before which it stands. */
  readonly at: number;
  /** Of this and all before it. */
  readonly total: number;
}

/**
 * Builds the one `content` text of an answer and maps positions of the model's own text into it. Chat has one text
 * and no order of blocks, so that blocks are woven into it as markdown.
 */
export class ContentText {
  readonly #insertions: Insertion[] = [];
  #textLength = 0;
  #length = 0;
  #isAfterBlock = false;

  /** UTF-16 units so far. */
  get length(): number {
    return this.#length;
  }

  /** Of these the model's own text. */
  get modelLength(): number {
    return this.#textLength;
  }

  /** What to append for a piece of the model's text. */
  addText(piece: string): string {
    if (piece === '') return piece;
    const lead = this.#isAfterBlock ? this.#insert(PARAGRAPH) : '';
    this.#isAfterBlock = false;
    this.#textLength += piece.length;
    this.#length += piece.length;
    return lead === '' ? piece : lead + piece;
  }

  /** What to append for a markdown block (a picture, code) that stands in a paragraph of its own. */
  addBlock(markdown: string): string {
    const text = this.#insert(this.#length === 0 ? markdown : PARAGRAPH + markdown);
    this.#isAfterBlock = true;
    return text;
  }

  /** Where a position of the model's text stands in the content. */
  startOf(position: number): number {
    return this.#shift(position, (at) => at <= position);
  }

  /** As `startOf`, for the end of a passage: a block inserted right there is not part of it. */
  endOf(position: number): number {
    return this.#shift(position, (at) => at < position);
  }

  #insert(text: string): string {
    const before = this.#insertions.at(-1)?.total ?? 0;
    this.#insertions.push({ at: this.#textLength, total: before + text.length });
    this.#length += text.length;
    return text;
  }

  /** The insertions that count are the first ones. */
  #shift(position: number, isCounted: (at: number) => boolean): number {
    let [low, high] = [0, this.#insertions.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const at = this.#insertions[middle]?.at ?? 0;
      if (isCounted(at)) low = middle + 1;
      else high = middle;
    }
    return position + (this.#insertions[low - 1]?.total ?? 0);
  }
}

/** What stands for bytes that are no text: such a token is part of a character. */
const REPLACEMENT = '\uFFFD';

/**
 * Null when the upstream gave none. Streams carry it in the chunk that ends the choice, where the
 * official accumulator still takes it (`openai` lib/ChatCompletionStream).
 */
export function writeLogprobs({ logprobs }: ChoiceEnd): ChatLogprobs | null {
  if (logprobs === undefined || logprobs.tokens.length === 0) return null;
  const content = logprobs.tokens.map((token) => ({
    ...writeToken(token),
    top_logprobs: token.alternatives.map(writeToken),
  }));
  return { content, refusal: null };
}

function writeToken({ token, logprob }: RatedToken): ChatTopLogprob {
  const bytes = token.includes(REPLACEMENT) ? null : [...new TextEncoder().encode(token)];
  return { token, bytes, logprob };
}

/** The settings of a request that shape its answer. */
export interface AnswerOptions {
  /** True when the stream ends with a usage chunk. */
  readonly includeUsage: boolean;
  /** The vendor word thought signatures are put under. */
  readonly extensionKey: ChatExtensionKey;
  /** Names of the tools that take free text: their calls are written as custom calls. */
  readonly freeformTools: ReadonlySet<string>;
  /** `function_call` for requests with the deprecated `functions`. */
  readonly callForm: 'tool_calls' | 'function_call';
}
