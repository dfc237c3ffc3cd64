// What a client protocol is to the rest of the gateway: a route table, readers and writers.

import type { GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import type { Reply } from '../canonical/fold.ts';
import type { ListedModel } from '../canonical/model-list.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';

export type { ListedModel } from '../canonical/model-list.ts';

export type ProtocolName = 'chat' | 'messages' | 'generate';

export interface ClientProtocol {
  readonly name: ProtocolName;
  readonly routes: readonly ProtocolRoute[];
  /** The protocol's own error answer. Never throws. */
  writeError(error: GatewayError, context: ErrorContext): ErrorReply;
}

export interface ErrorContext {
  readonly requestId: string;
}

export interface ErrorReply {
  readonly status: number;
  readonly body: JsonObject;
}

/** `path` may hold `{model}`, which also stands for names with slashes; the colon may come encoded. */
export type ProtocolRoute =
  | {
      readonly operation: 'generate';
      readonly method: 'POST';
      readonly path: string;
      /** @throws GatewayError (invalid-request) naming the field. */
      readCall(input: RouteInput): GenerateCall;
    }
  | {
      readonly operation: 'count-tokens';
      readonly method: 'POST';
      readonly path: string;
      readCall(input: RouteInput): CountTokensCall;
    }
  | {
      readonly operation: 'list-models';
      readonly method: 'GET';
      readonly path: string;
      writeModels(models: readonly ListedModel[], query: URLSearchParams): JsonObject;
    }
  | {
      readonly operation: 'get-model';
      readonly method: 'GET';
      readonly path: string;
      writeModel(model: ListedModel): JsonObject;
    };

export interface RouteInput {
  /** The `{model}` of the path, percent-decoded, without a leading `models/`; '' when the path has none. */
  readonly pathModel: string;
  readonly query: URLSearchParams;
  /** Lower-case names; repeated lines are joined with ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: JsonObject;
  readonly receipt: Receipt;
}

/** A request for an answer, read and validated, on its way to dispatch. */
export interface GenerateCall {
  readonly protocol: ProtocolName;
  /** The model name as the client wrote it (without `models/`). */
  readonly model: string;
  readonly stream: boolean;
  /** A session the body itself names (metadata, cache key, user), for account affinity. */
  readonly bodySession: string | undefined;
  /** The canonical request, built on first use and only in the translate lane. */
  canonical(): CanonicalRequest;
  createStreamWriter(context: ReplyContext): StreamWriter;
  writeReply(reply: Reply, context: ReplyContext): JsonObject;
  /** Present when the protocol can also carry an upstream's native frames of the same wire. */
  readonly relay?: RelayCall | undefined;
}

export interface RelayCall {
  /** Name of the wire the body is written in; equal to an upstream's wire for the relay lane. */
  readonly wire: string;
  /** The client's own body, normalised to the wire's official spelling and validated. */
  readonly body: JsonObject;
  /** The system text and the first user text of at least ten characters, for session affinity. */
  openingText(): string | undefined;
  createStreamWriter(context: ReplyContext): RelayWriter;
  writeReply(upstreamBody: JsonObject, context: ReplyContext): JsonObject;
}

export interface ReplyContext {
  /** The model name the answer shows: the one the client asked for. */
  readonly model: string;
  /** A fresh random id with the given prefix, such as `msg_` + 24 characters. */
  createId(prefix: string): string;
  /** Seconds since the epoch at which the answer began. */
  readonly createdAt: number;
}

/** Turns events into the bytes of one client's stream. Synchronous; one instance a stream. */
export interface StreamWriter {
  readonly contentType: string;
  /** Text to send for this event, '' for none. An `error` event gives the protocol's in-band error. */
  write(event: CanonicalEvent): string;
  /** A keep-alive this protocol's clients take at any time before the end. */
  keepAlive(): string;
}

/** As StreamWriter, for native frames. */
export interface RelayWriter {
  readonly contentType: string;
  /** `text` is the frame as it came, `frame` the same parsed. */
  write(frame: JsonObject, text: string): string;
  /** Text that closes a stream which ended well. */
  end(): string;
  error(error: GatewayError): string;
  keepAlive(): string;
}

export interface CountTokensCall {
  readonly protocol: ProtocolName;
  readonly model: string;
  canonical(): CanonicalRequest;
  writeCount(count: TokenCount): JsonObject;
}

export interface TokenCount {
  readonly totalTokens: number;
  readonly cachedTokens?: number | undefined;
}
