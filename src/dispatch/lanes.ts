// The two lanes of an answer: translated from its events, or relayed as it came while the decoder watches.

import type { GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import { fold, type Reply } from '../canonical/fold.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../lib/chunked-json.ts';
import type { JsonObject } from '../lib/json.ts';
import type { RelayWriter, StreamWriter } from '../protocols/writers.ts';
import type { HeldMemory } from '../stream/held-memory.ts';
import type { Frame } from '../stream/sse.ts';
import type { AnswerTransform } from '../transforms/answer/index.ts';
import type { Decoder, UpstreamStream } from '../upstreams/upstream.ts';
import { AnswerText } from './answer-text.ts';
import type { StreamObserver } from './stream-observer.ts';

export interface LaneInput {
  readonly frames: UpstreamStream;
  readonly decoder: Decoder;
  readonly watch: StreamObserver;
  /** For what is held of the answer. */
  readonly memory: HeldMemory;
}

/** What the client is to see of a translated answer. */
interface TranslateRules {
  readonly transform: AnswerTransform;
  /** True when the rest of the answer is not needed; the decoder's ending then closes it. */
  readonly isComplete?: (() => boolean) | undefined;
  /** Bytes of the text that wait for its end; absent where none do. */
  readonly heldBytes?: (() => number) | undefined;
}

/** What is made of a large answer takes as much memory again; others have their turn before. @throws GatewayError overloaded */
async function prepareLargeWork(memory: HeldMemory, bytes: number): Promise<void> {
  memory.count(2 * bytes);
  if (bytes >= STEPWISE_FROM_BYTES) await nextTurn();
}

/** The whole answer at once. @throws GatewayError */
export async function translateReply(
  { frames, decoder, watch, memory }: LaneInput,
  rules: TranslateRules,
): Promise<Reply> {
  const events: CanonicalEvent[] = [];
  let bytes = 0;
  const take = (decoded: readonly CanonicalEvent[]): void => {
    for (const event of watch.take(decoded, rules.transform(decoded))) {
      watch.onEvent(event);
      events.push(event);
    }
  };
  for await (const batch of frames) {
    for (const frame of batch) {
      watch.transcript?.wire.addLine(frame.text);
      bytes += frame.text.length;
      memory.count(bytes);
      take(decoder.push(frame.value));
    }
  }
  if (watch.error === undefined) take(decoder.end());
  await prepareLargeWork(memory, bytes);
  return fold(events);
}

/** The client's stream, written from the events. */
export class TranslatedText extends AnswerText {
  readonly contentType: string;
  readonly #decoder: Decoder;
  readonly #rules: TranslateRules;
  readonly #writer: StreamWriter;

  constructor(input: LaneInput, rules: TranslateRules, writer: StreamWriter) {
    super(input);
    this.contentType = writer.contentType;
    this.#decoder = input.decoder;
    this.#rules = rules;
    this.#writer = writer;
    this.more = writer.more?.bind(writer);
  }

  protected get heldBytes(): number {
    const { heldBytes: decoded = 0 } = this.#decoder;
    const { heldBytes: written = 0 } = this.#writer;
    const waiting = decoded + (this.#rules.heldBytes?.() ?? 0);
    // Once it is whole it is read and written all at once, which takes as much again.
    return 2 * waiting + written;
  }

  protected override get copies(): number {
    return this.#writer.copies ?? 1;
  }

  protected push(frame: Frame): void {
    const repeated = frame.repeats === undefined ? undefined : this.#decoder.repeat?.(frame);
    this.#take(repeated ?? this.#decoder.push(frame.value));
  }

  protected isComplete(): boolean {
    return this.watch.error !== undefined || this.#rules.isComplete?.() === true;
  }

  protected end(): void {
    if (this.watch.error === undefined) this.#take(this.#decoder.end());
  }

  protected fail(error: GatewayError): void {
    this.#take([{ kind: 'error', error }]);
  }

  #take(decoded: readonly CanonicalEvent[]): void {
    const { watch } = this;
    for (const event of watch.take(decoded, this.#rules.transform(decoded))) {
      watch.onEvent(event);
      if (event.kind === 'error' && !watch.isCommitted) throw event.error;
      this.text += this.#writer.write(event);
    }
  }
}

interface RelayInput extends LaneInput {
  /** A frame or body as the client is to see it; the same object when nothing changes. */
  readonly edit: (value: JsonObject) => JsonObject;
}

/** Takes an answer that fails before the commit point but says itself what is wrong with it. */
type OnTold<Answer> = (answer: Answer) => void;

/** True when a native answer holds the upstream's own word for what is wrong with it. */
export function isNativeErrorReply({ failure }: GatewayError): boolean {
  return failure?.finishReason !== undefined;
}

/** The bodies of the upstream's own answer, mostly one. @throws GatewayError when it is an error, empty or no answer. */
export async function relayReply(
  { frames, decoder, watch, memory, edit }: RelayInput,
  onTold: OnTold<readonly JsonObject[]>,
): Promise<readonly JsonObject[]> {
  const bodies: JsonObject[] = [];
  let bytes = 0;
  for await (const batch of frames) {
    for (const frame of batch) {
      watch.transcript?.wire.addLine(frame.text);
      bytes += frame.text.length;
      memory.count(bytes);
      const value = edit(frame.value);
      bodies.push(value);
      watch.observe(decoder.push(value));
    }
  }
  if (watch.error === undefined) watch.observe(decoder.end());
  if (watch.error !== undefined) {
    if (bodies.length > 0 && isNativeErrorReply(watch.error)) onTold(bodies);
    throw watch.error;
  }
  await prepareLargeWork(memory, bytes);
  return bodies;
}

/** Native frames, which go through as they came; the decoder only watches them. */
export class RelayedText extends AnswerText {
  readonly contentType: string;
  readonly #input: RelayInput;
  readonly #writer: RelayWriter;
  readonly #onTold: OnTold<string>;
  /** The frame that was read last, or that it repeats, when it went to the writer as it came. */
  #last: JsonObject | undefined;

  constructor(input: RelayInput, writer: RelayWriter, onTold: OnTold<string>) {
    super(input);
    this.contentType = writer.contentType;
    this.#input = input;
    this.#writer = writer;
    this.#onTold = onTold;
  }

  protected push(frame: Frame): void {
    if (this.isComplete() || this.#pass(frame)) return;
    // That of a frame that repeats another is made when it is asked for.
    const { value: given } = frame;
    const value = this.#input.edit(given);
    this.#see(this.#input.decoder.push(value));
    if (this.isComplete()) return;
    const isEdited = value !== given;
    this.#last = isEdited ? undefined : (frame.repeats ?? value);
    this.text += this.#writer.write(value, isEdited ? JSON.stringify(value) : frame.text);
  }

  /** Most frames repeat the one before: what held for that one holds for them, and they are not read. */
  #pass(frame: Frame): boolean {
    if (frame.repeats === undefined || frame.repeats !== this.#last) return false;
    const text = this.#writer.repeat?.(frame.text, frame.said);
    const events = text === undefined ? undefined : this.#input.decoder.repeat?.(frame);
    if (events === undefined) return false;
    this.#see(events);
    this.text += text;
    return true;
  }

  protected get heldBytes(): number {
    return this.#input.decoder.heldBytes ?? 0;
  }

  protected isComplete(): boolean {
    return this.watch.error !== undefined;
  }

  protected end(): void {
    if (!this.isComplete()) this.#see(this.#input.decoder.end());
    const { error } = this.watch;
    const isTold = error === undefined || isNativeErrorReply(error);
    this.text += isTold ? this.#writer.end() : this.#writer.error(error);
  }

  protected fail(error: GatewayError): void {
    this.watch.onEvent({ kind: 'error', error });
    this.text += this.#writer.error(error);
  }

  #see(events: readonly CanonicalEvent[]): void {
    const { watch } = this;
    watch.observe(events);
    if (watch.error === undefined || watch.isCommitted) return;
    if (isNativeErrorReply(watch.error)) this.#onTold(this.text + this.#writer.end());
    throw watch.error;
  }
}
