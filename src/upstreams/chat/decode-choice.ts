// Decides where the blocks of one choice begin and end, and puts its tool calls together.

import type { BlockOpening, CanonicalEvent, TokenLogprob } from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { KeptText } from '../../lib/long-text.ts';
import {
  deprecatedCall,
  type PartialCall,
  PartialCalls,
  readArguments,
  thoughtIn,
} from '../../wire/chat.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../read-values.ts';
import type { DecodeContext } from '../upstream.ts';
import {
  plainField,
  type Reasoning,
  ReasoningDetails,
  readThought,
  rememberedThought,
  signatureOf,
  traceOf,
} from './reasoning.ts';

/** What all choices of one answer share. */
export interface SharedState {
  readonly context: DecodeContext;
  /** True where calls are remembered with the thoughts that led to them. */
  readonly tracesThoughts: boolean;
  /** So much of a text is kept, in UTF-16 units, to place citations in it. */
  readonly mostCited: number;
  /** Media type of the sound that was asked for. */
  readonly audioType: string;
  /** The index of the next block; they rise over all choices. */
  nextIndex: number;
  readonly callIds: Set<string>;
}

interface OpenBlock {
  readonly index: number;
  readonly kind: 'text' | 'thinking';
}

/** Kinds of parts are few; more are an upstream's nonsense. */
const MAX_UNREAD = 5;

/**
 * Thoughts, then text, then calls, as they come. Calls are given out whole, once the choice ends or says something
 * else: their pieces may be mixed, and what is no JSON in the end must not have been shown.
 */
export class ChoiceDecoder {
  readonly choice: number;
  /** The upstream's own, which may leave some out. */
  readonly number: number;
  readonly #shared: SharedState;
  readonly #text: KeptText;
  readonly #details = new ReasoningDetails();
  #open: OpenBlock | undefined;
  /** The words of the open thought. */
  #thought: string[] = [];
  /** The field that thoughts come in. */
  #thoughtField: string | undefined;
  /** What was thought so far, for the calls it leads to. */
  #thoughts: Reasoning[] = [];
  readonly #calls = new PartialCalls();
  #sound: Buffer[] = [];
  #unread: Set<string> | undefined;
  hasContent = false;
  hasToolCalls = false;
  hasBrokenCall = false;
  /** True when the answer's limit cut a call off, which is left out then. */
  hasCutCall = false;
  rawReason: string | undefined;
  /** True when it came in one message, of an answer that was asked for whole. */
  isWhole = false;
  /** The stop sequence the upstream says it stopped at. */
  stopSequence: string | undefined;
  /** Why the model refused. */
  refusal = '';
  logprobs: TokenLogprob[] | undefined;
  readonly annotations: JsonObject[] = [];

  constructor(shared: SharedState, choice: number, number: number) {
    this.#shared = shared;
    this.choice = choice;
    this.number = number;
    this.#text = new KeptText(shared.mostCited);
  }

  get text(): string {
    return this.#text.toString();
  }

  /** What parts of unknown kinds call themselves; undefined where there was none. */
  get unread(): readonly string[] | undefined {
    return this.#unread && [...this.#unread];
  }

  /** A delta of a stream, or a whole message. */
  read(message: JsonObject, events: CanonicalEvent[]): void {
    const details = message.reasoning_details;
    if (details !== undefined) this.#details.add(details);
    const thought = readThought(message);
    if (thought !== undefined) {
      this.#thoughtField ??= plainField(message);
      this.#addText('thinking', thought, events);
    }
    const { content } = message;
    if (typeof content === 'string') this.#addText('text', content, events);
    else for (const part of objectsOf(content)) this.#readPart(part, events);
    this.refusal += textOf(message.refusal) ?? '';
    for (const image of objectsOf(message.images)) this.#readImage(image, events);
    if (isJsonObject(message.audio)) this.#readAudio(message.audio, events);
    this.annotations.push(...objectsOf(message.annotations));
    const calls = objectsOf(message.tool_calls);
    for (const call of calls) this.#calls.add(call);
    // llama-cpp-python says each call in both forms.
    const deprecated = calls.length === 0 ? deprecatedCall(message) : undefined;
    if (deprecated !== undefined) this.#calls.add({ index: 0, function: deprecated });
  }

  /** A delta that has a text and nothing else. */
  say(text: string, events: CanonicalEvent[]): void {
    this.#addText('text', text, events);
  }

  /** Gives out what waits for the end of the choice, and ends the open block. */
  close(events: CanonicalEvent[]): void {
    this.#giveAudio(events);
    this.#giveCalls(events);
    this.#endBlock(events);
    this.#giveDetails(events);
  }

  /** Lists of parts, as some servers give them (docs.mistral.ai, "Reasoning"). */
  #readPart(part: JsonObject, events: CanonicalEvent[]): void {
    switch (part.type) {
      case 'text':
      case 'output_text':
        this.#addText('text', textOf(part.text) ?? '', events);
        break;
      case 'thinking':
        this.#addText('thinking', thoughtIn(part), events);
        break;
      case 'refusal':
        this.refusal += textOf(part.refusal) ?? '';
        break;
      case 'image_url':
        this.#readImage(part, events);
        break;
      default: {
        const kind = textOf(part.type);
        if (kind === undefined) return;
        this.#unread ??= new Set();
        if (this.#unread.size < MAX_UNREAD) this.#unread.add(kind);
      }
    }
  }

  #addText(kind: OpenBlock['kind'], text: string, events: CanonicalEvent[]): void {
    if (text === '') return;
    if (this.#open?.kind !== kind) {
      this.#giveCalls(events);
      this.#endBlock(events);
      this.#open = { index: this.#start({ kind }, events), kind };
    } else if (!this.#calls.isEmpty) {
      this.#giveCalls(events);
      this.#addText(kind, text, events);
      return;
    }
    events.push({ kind: 'block-delta', index: this.#open.index, delta: { kind, text } });
    if (kind === 'thinking') {
      this.#thought.push(text);
      return;
    }
    this.#text.add(text);
    this.hasContent = true;
  }

  #endBlock(events: CanonicalEvent[]): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    if (open.kind === 'text') {
      events.push({ kind: 'block-end', index: open.index });
      return;
    }
    const text = this.#thought.join('');
    this.#thought = [];
    const signature = this.#remember(text, this.#details.take());
    events.push({ kind: 'block-end', index: open.index, signature });
  }

  /** Details without any words, such as encrypted ones, are a thought nobody can read. */
  #giveDetails(events: CanonicalEvent[]): void {
    const details = this.#details.take();
    if (details === undefined) return;
    const signature = this.#remember('', details);
    const index = this.#start({ kind: 'thinking' }, events);
    events.push({ kind: 'block-end', index, signature });
  }

  #remember(text: string, details: readonly JsonObject[] | undefined): Signature {
    const thought = rememberedThought(text, details, this.#thoughtField);
    this.#thoughts.push(thought);
    return signatureOf(thought, this.#shared.context.signatureFamily);
  }

  #giveCalls(events: CanonicalEvent[]): void {
    if (this.#calls.isEmpty) return;
    for (const call of this.#calls.take()) this.#giveCall(call, events);
  }

  #giveCall(
    { id, name, pieces, signature, isFreeform }: PartialCall,
    events: CanonicalEvent[],
  ): void {
    const json = isFreeform
      ? JSON.stringify({ input: pieces.join('') })
      : readArguments(pieces.join(''));
    if (name === undefined || json === undefined) {
      // A limit may cut the last one off; whatever else is no JSON is the model's fault.
      if (isLimit(this.rawReason)) this.hasCutCall = true;
      else this.hasBrokenCall = true;
      return;
    }
    this.#endBlock(events);
    this.#giveDetails(events);
    const { context, tracesThoughts } = this.#shared;
    const thoughts = tracesThoughts && !this.hasToolCalls ? this.#thoughts : [];
    const traced = traceOf(thoughts, context.signatureFamily);
    const family = context.signatureFamily;
    const signed = signature && {
      signature: { value: signature, family, on: 'tool-call' as const },
    };
    const own = this.#takeCallId(id);
    const block = { kind: 'tool-call', id: own, name, ...signed, ...traced } as const;
    const index = this.#start(block, events);
    if (json !== '{}') {
      events.push({ kind: 'block-delta', index, delta: { kind: 'arguments', json } });
    }
    events.push({ kind: 'block-end', index });
    this.hasContent = true;
    this.hasToolCalls = true;
  }

  /** A call without an id, or with that of an earlier call, gets a fresh one. */
  #takeCallId(given: string | undefined): string {
    const { callIds, context } = this.#shared;
    const isUsable = given !== undefined && !callIds.has(given);
    const id = isUsable ? given : context.createId(context.callIdPrefix ?? 'call_');
    callIds.add(id);
    return id;
  }

  /** A drawn picture; one that is only named by its address is a link. */
  #readImage({ image_url: image }: JsonObject, events: CanonicalEvent[]): void {
    const url = textOf(image) ?? textOf(objectOf(image)?.url);
    if (url === undefined) return;
    const match = /^data:([\w.+/-]{1,60});base64,/.exec(url.slice(0, 100));
    if (match?.[1] === undefined) {
      this.#addText('text', `![image](${url.replace(ENDS_LINK, percentEncode)})`, events);
      return;
    }
    this.#addMedia(match[1], url.slice(match[0].length), events);
  }

  /** Sound comes in pieces of base64, each of whole bytes; what is heard is text as well. */
  #readAudio({ data, transcript }: JsonObject, events: CanonicalEvent[]): void {
    const words = textOf(transcript);
    if (words !== undefined) this.#addText('text', words, events);
    const piece = textOf(data);
    if (piece !== undefined) this.#sound.push(Buffer.from(piece, 'base64'));
  }

  #giveAudio(events: CanonicalEvent[]): void {
    const pieces = this.#sound;
    if (pieces.length === 0) return;
    this.#sound = [];
    this.#addMedia(this.#shared.audioType, Buffer.concat(pieces).toString('base64'), events);
  }

  #addMedia(mediaType: string, base64: string, events: CanonicalEvent[]): void {
    if (base64 === '') return;
    this.#giveCalls(events);
    this.#endBlock(events);
    const index = this.#start({ kind: 'media', mediaType, base64 }, events);
    events.push({ kind: 'block-end', index });
    this.hasContent = true;
  }

  #start(block: BlockOpening, events: CanonicalEvent[]): number {
    const index = this.#shared.nextIndex;
    this.#shared.nextIndex += 1;
    events.push({ kind: 'block-start', index, choice: this.choice, block });
    return index;
  }
}

/** What would end the address of a Markdown link too early. */
const ENDS_LINK = /[\s<>()]/g;

function percentEncode(sign: string): string {
  return Array.from(Buffer.from(sign), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

const LIMITS: ReadonlySet<string | undefined> = new Set([
  ...['length', 'max_tokens', 'model_length', 'model_context_window_exceeded'],
]);

export function isLimit(rawReason: string | undefined): boolean {
  return LIMITS.has(rawReason?.toLowerCase());
}

/** `{content: [{token, logprob, top_logprobs: [{token, logprob}]}]}`. */
export function readLogprobs(value: JsonValue | undefined): TokenLogprob[] {
  return itemsOf(objectOf(value)?.content).flatMap((one) => {
    const token = readToken(one);
    if (token === undefined || !isJsonObject(one)) return [];
    const alternatives = itemsOf(one.top_logprobs).flatMap((other) => readToken(other) ?? []);
    return [{ ...token, alternatives }];
  });
}

function readToken(value: JsonValue): { token: string; logprob: number } | undefined {
  if (!isJsonObject(value) || typeof value.token !== 'string') return undefined;
  return { token: value.token, logprob: Math.min(0, readNumber(value.logprob) ?? 0) };
}
