// What writes an answer in a client's protocol, event by event or frame by frame.

import type { GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import type { JsonObject } from '../lib/json.ts';

export interface ReplyContext {
  /** The model name the answer shows: the one the client asked for. */
  readonly model: string;
  /** A fresh random id with the given prefix, such as `msg_` + 24 characters. */
  createId(prefix: string): string;
  /** Seconds since the epoch at which the answer began. */
  readonly createdAt: number;
  /** What its conversation is known by in the pool. */
  readonly session?: string | undefined;
  /** True when the model's name asks for a search, so that there may be citations without a tool. */
  readonly isSearchNamed?: boolean | undefined;
  /** The tokens of the prompt as far as they can be guessed, for what is written before the upstream counts. */
  estimatePrompt?(): number;
}

/** Turns events into the bytes of one client's stream. Synchronous; one instance a stream. */
export interface StreamWriter {
  readonly contentType: string;
  /** Text to send for this event, '' for none. An `error` event gives the protocol's in-band error. */
  write(event: CanonicalEvent): string;
  /** What is long is made as it is sent: the next piece of it, asked for behind what `write` gave; '' for none. */
  more?(): string;
  /** Bytes of the answer that it holds until the end; absent where that is next to nothing. */
  readonly heldBytes?: number;
  /** How often one text may have a picture in it; once where it is not said. */
  readonly copies?: number;
  /** A keep-alive this protocol's clients take at any time before the end. */
  keepAlive(): string;
}

/** As StreamWriter, for native frames. */
export interface RelayWriter {
  readonly contentType: string;
  /** `text` is the frame as it came, `frame` the same parsed. */
  write(frame: JsonObject, text: string): string;
  /**
   * As `write`, for a frame that says the same as the last one but for the text of its only part, `said`, and its
   * counts; undefined where that one did not go out as it came.
   */
  repeat?(text: string, said?: string): string | undefined;
  /** Text that closes a stream which ended well. */
  end(): string;
  error(error: GatewayError): string;
  keepAlive(): string;
}
