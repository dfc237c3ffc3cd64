// The translate lane: upstream frames → canonical events → the client protocol's text.

import type { GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import { fold, type Reply } from '../canonical/fold.ts';
import type { StreamWriter } from '../protocols/protocol.ts';
import type { AnswerTransform } from '../transforms/answer/index.ts';
import type { Decoder, Frame, UpstreamStream } from '../upstreams/upstream.ts';
import { type AnswerLane, AnswerText } from './answer-text.ts';
import type { AnswerWatch } from './answer-watch.ts';
import { type MissingUsage, untoldUsage } from './missing-usage.ts';

export interface TranslateInput {
  readonly frames: UpstreamStream;
  readonly decoder: Decoder;
  readonly watch: AnswerWatch;
  /** What the client is to see of the answer, and what is remembered of it. */
  readonly transform: AnswerTransform;
  /** True when the rest of the answer is not needed; the decoder's ending then closes it. */
  readonly isComplete?: (() => boolean) | undefined;
  /** What the answer used, should it end before the upstream tells. */
  readonly missingUsage: MissingUsage;
}

/** The client's stream: `AnswerText` says when its items come and what becomes of failures. */
export function translateStream(input: TranslateInput, writer: StreamWriter): AnswerText {
  return new AnswerText(input.frames, new TranslateLane(input, writer));
}

/** The whole answer at once. @throws GatewayError */
export async function translateReply(input: TranslateInput): Promise<Reply> {
  const { frames, decoder, watch, transform, missingUsage } = input;
  const events: CanonicalEvent[] = [];
  const add = (event: CanonicalEvent): void => {
    watch.see(event);
    events.push(event);
  };
  const take = (decoded: readonly CanonicalEvent[]): void => {
    for (const event of decoded) missingUsage.see(event);
    for (const event of transform(decoded)) {
      const untold = untoldUsage(event, missingUsage, decoder);
      if (untold !== undefined) add(untold);
      add(event);
    }
  };
  for await (const batch of frames) {
    for (const frame of batch) take(decoder.push(frame.value));
  }
  if (watch.error === undefined) take(decoder.end());
  return fold(events);
}

class TranslateLane implements AnswerLane {
  readonly watch: AnswerWatch;
  text = '';
  readonly #input: TranslateInput;
  readonly #writer: StreamWriter;

  constructor(input: TranslateInput, writer: StreamWriter) {
    this.watch = input.watch;
    this.#input = input;
    this.#writer = writer;
  }

  more(): string {
    return this.#writer.more?.() ?? '';
  }

  push(frame: Frame): void {
    this.#take(this.#input.decoder.push(frame.value));
  }

  isComplete(): boolean {
    return this.watch.error !== undefined || this.#input.isComplete?.() === true;
  }

  end(): void {
    if (this.watch.error === undefined) this.#take(this.#input.decoder.end());
  }

  fail(error: GatewayError): void {
    this.#take([{ kind: 'error', error }]);
  }

  #take(decoded: readonly CanonicalEvent[]): void {
    const { transform, missingUsage, decoder } = this.#input;
    for (const event of decoded) missingUsage.see(event);
    for (const event of transform(decoded)) {
      const untold = untoldUsage(event, missingUsage, decoder);
      if (untold !== undefined) this.#write(untold);
      this.#write(event);
    }
  }

  #write(event: CanonicalEvent): void {
    const { watch } = this;
    watch.see(event);
    if (event.kind === 'error' && !watch.isCommitted) throw event.error;
    this.text += this.#writer.write(event);
  }
}
