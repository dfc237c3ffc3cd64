// The relay lane: native frames go through as they came; the decoder only watches them.

import { GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/told.ts';
import type { RelayWriter } from '../protocols/protocol.ts';
import type { Decoder, Frame, UpstreamStream } from '../upstreams/upstream.ts';
import { type AnswerLane, AnswerText } from './answer-text.ts';
import type { AnswerWatch } from './answer-watch.ts';
import { type MissingUsage, untoldUsage } from './missing-usage.ts';

export interface RelayInput {
  readonly frames: UpstreamStream;
  readonly decoder: Decoder;
  readonly watch: AnswerWatch;
  /** What the answer used, for the record alone, should it end before the upstream tells. */
  readonly missingUsage: MissingUsage;
}

export interface RelayLaneInput extends RelayInput {
  /** A frame or body as the client is to see it; the same object when nothing changes. */
  readonly edit: (value: JsonObject) => JsonObject;
}

/** Takes an answer that fails before the commit point but says itself what is wrong with it. */
export type OnTold<Answer> = (answer: Answer) => void;

/** As `translateStream`. */
export function relayStream(
  input: RelayLaneInput,
  writer: RelayWriter,
  onTold: OnTold<string>,
): AnswerText {
  return new AnswerText(input.frames, new RelayLane(input, writer, onTold));
}

/** The bodies of the upstream's own answer, mostly one. @throws GatewayError when it is an error, empty or no answer. */
export async function relayReply(
  input: RelayLaneInput,
  onTold: OnTold<readonly JsonObject[]>,
): Promise<readonly JsonObject[]> {
  const { frames, decoder, watch, edit } = input;
  const bodies: JsonObject[] = [];
  for await (const batch of frames) {
    for (const frame of batch) {
      const value = edit(frame.value);
      bodies.push(value);
      for (const event of decoder.push(value)) see(event, input);
    }
  }
  if (watch.error === undefined) for (const event of decoder.end()) see(event, input);
  if (watch.error !== undefined) {
    if (bodies.length > 0 && tellsItself(watch.error)) onTold(bodies);
    throw watch.error;
  }
  if (bodies.length === 0) throw emptyAnswer();
  return bodies;
}

/** True when a native answer holds the upstream's own word for what is wrong with it. */
export function tellsItself({ failure }: GatewayError): boolean {
  return failure?.finishReason !== undefined;
}

function see(event: CanonicalEvent, { watch, missingUsage, decoder }: RelayInput): void {
  missingUsage.see(event);
  const untold = untoldUsage(event, missingUsage, decoder);
  if (untold !== undefined) watch.see(untold);
  watch.see(event);
}

function emptyAnswer(): GatewayError {
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: told`The upstream closed without an answer.`,
    failure: { kind: 'path' },
  });
}

class RelayLane implements AnswerLane {
  readonly watch: AnswerWatch;
  text = '';
  readonly #input: RelayLaneInput;
  readonly #decoder: Decoder;
  readonly #writer: RelayWriter;
  readonly #onTold: OnTold<string>;

  constructor(input: RelayLaneInput, writer: RelayWriter, onTold: OnTold<string>) {
    this.#onTold = onTold;
    this.watch = input.watch;
    this.#input = input;
    this.#decoder = input.decoder;
    this.#writer = writer;
  }

  push(frame: Frame): void {
    if (this.isComplete()) return;
    const value = this.#input.edit(frame.value);
    this.#see(this.#decoder.push(value));
    if (this.isComplete()) return;
    const text = value === frame.value ? frame.text : JSON.stringify(value);
    this.text += this.#writer.write(value, text);
  }

  isComplete(): boolean {
    return this.watch.error !== undefined;
  }

  end(): void {
    if (!this.isComplete()) this.#see(this.#decoder.end());
    const { error } = this.watch;
    const isTold = error === undefined || tellsItself(error);
    this.text += isTold ? this.#writer.end() : this.#writer.error(error);
  }

  fail(error: GatewayError): void {
    this.watch.see({ kind: 'error', error });
    this.text += this.#writer.error(error);
  }

  #see(events: readonly CanonicalEvent[]): void {
    for (const event of events) {
      see(event, this.#input);
      if (event.kind !== 'error' || this.watch.isCommitted) continue;
      if (tellsItself(event.error)) this.#onTold(this.text + this.#writer.end());
      throw event.error;
    }
  }
}
