// What a client protocol is to the rest of the gateway: a route table, readers and writers.

import type { EmbedAnswer, EmbedInput } from '../canonical/embedding.ts';
import type { GatewayError } from '../canonical/error.ts';
import type { Reply } from '../canonical/fold.ts';
import type { ListedModel } from '../canonical/model.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import type { ReadableEvents, RunsOfKey } from '../stored-responses/background-runs.ts';
import type { KeptAnswers, ResponseStore } from '../stored-responses/response-store.ts';
import type { EmbedRelay, RelayBody, RelayCall } from './relayed-request.ts';
import type { ReplyContext, StreamWriter } from './writers.ts';

export type ProtocolName = 'chat' | 'messages' | 'generate';

export interface ClientProtocol {
  readonly name: ProtocolName;
  readonly routes: readonly ProtocolRoute[];
  /** The protocol's own error answer. Never throws. */
  writeError(error: GatewayError, context: ErrorContext): ErrorReply;
}

export interface ErrorContext {
  readonly requestId: string;
  /** The path that was asked, where a protocol's surfaces differ in their errors. */
  readonly path?: string | undefined;
}

export interface ErrorReply {
  readonly status: number;
  readonly body: JsonObject;
}

interface CallRoute<Operation, Call> {
  readonly operation: Operation;
  readonly method: 'POST';
  readonly path: string;
  /** What records and figures call the protocol, where that is not its own name. */
  readonly recordedAs?: 'responses';
  /** @throws GatewayError (invalid-request) naming the field. */
  readCall(input: RouteInput): Call;
  /** Fetches what a body says of earlier answers, before it is read. @throws GatewayError not-found */
  findEarlier?(body: JsonObject, responses: KeptAnswers): Promise<EarlierItems>;
  /** Present when clients may also open a WebSocket on the path, and send each request as a message. */
  readonly webSocket?: WebSocketRoute<Call> | undefined;
}

/** What a protocol's messages on a WebSocket are, beside the bodies and the events of its HTTP. */
export interface WebSocketRoute<Call> {
  /** True for a short message that asks for no answer. */
  isNotice(text: string): boolean;
  /** As `readCall`, for a message. */
  readCall(input: RouteInput): Call;
  /** The message for what HTTP answers with an error status. */
  writeError(reply: ErrorReply, headers: Readonly<Record<string, string>>): string;
  /** The message that a connection has been open as long as one may be. */
  writeConnectionLimit(minutes: number): string;
}

/** `path` may hold `{model}`, which also stands for names with slashes; the colon may come encoded. */
export type ProtocolRoute =
  | (CallRoute<'generate', GenerateCall> & {
      /** What bodies it takes; JSON when it does not say. */
      readonly bodies?: 'multipart' | 'json-or-multipart' | undefined;
    })
  | CallRoute<'count-tokens', CountTokensCall>
  | CallRoute<'embed', EmbedCall>
  | {
      /** Answers and conversations kept for later requests; the placeholder stands for the id of one. */
      readonly operation: 'kept-answers';
      readonly method: 'GET' | 'POST' | 'DELETE';
      readonly path: string;
      /** What it does, for the list of all routes. */
      readonly title: string;
      readonly takesBody?: true | undefined;
      /** @throws GatewayError not-found for an answer this client key has not */
      run(input: StoredResponseInput): Promise<JsonObject>;
      /** What to read along where the client asks for that, and not for the answer as it stands. @throws as `run` */
      follow?(input: StoredResponseInput): Promise<FollowedEvents | undefined>;
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

export type GenerateRoute = Extract<ProtocolRoute, { operation: 'generate' }>;
export type KeptRoute = Extract<ProtocolRoute, { operation: 'kept-answers' }>;

/** A stream that goes on without whoever reads it. */
export interface FollowedEvents {
  readonly events: ReadableEvents;
  /** The number of the first event to read. */
  readonly first: number;
  readonly reader: StreamWriter;
}

/** Lower-case names; repeated lines are joined with ", ". */
export type RequestHeaders = Readonly<Record<string, string | undefined>>;

export interface RouteInput {
  /** The `{model}` of the path, percent-decoded, without a leading `models/`; '' when the path has none. */
  readonly pathModel: string;
  readonly query: URLSearchParams;
  readonly headers: RequestHeaders;
  /** Of a multipart body its text fields; a field that came several times is a list. */
  readonly body: JsonObject;
  /** Of a multipart body its files, in order; empty for JSON. */
  readonly files?: readonly UploadedFile[] | undefined;
  /** What `findEarlier` of the route found. */
  readonly earlier?: EarlierItems | undefined;
  /** The answers kept for this client key; absent where the route has no `findEarlier`. */
  readonly responses?: ResponseStore | undefined;
  readonly receipt: Receipt;
}

/** What is kept of earlier answers, for the client key that asks. */
export interface EarlierItems {
  /** The items of the conversation that a request goes on with, in order. */
  readonly history: readonly JsonObject[];
  /** What that conversation is known by in the pool since its first request. */
  readonly session: string | undefined;
  findItem(id: string): JsonObject | undefined;
}

export interface StoredResponseInput {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly responses: ResponseStore;
  /** What is being made in the background for this client key. */
  readonly runs: RunsOfKey;
  /** Empty unless the route takes one. */
  readonly body: JsonObject;
  /** A fresh random id with the given prefix. */
  createId(prefix: string): string;
  /** Seconds since the epoch. */
  readonly now: number;
}

export interface UploadedFile {
  /** The name of its form field. */
  readonly field: string;
  /** As the client gives it: for its ending only, never for a path. */
  readonly fileName: string;
  /** As the client declares it; `application/octet-stream` when it does not. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** A request for an answer, read and validated, on its way to dispatch. */
export interface GenerateCall {
  readonly protocol: ProtocolName;
  /** The model name as the client wrote it (without `models/`). */
  readonly model: string;
  readonly stream: boolean;
  /** A session the body itself names (metadata, cache key, user), for account affinity. */
  readonly bodySession: string | undefined;
  /** What the conversation that it goes on with is known by in the pool; counts more than `bodySession`. */
  readonly session?: string | undefined;
  /** True where others may go on from the answer: their session begins here, if nothing else names it. */
  readonly beginsSession?: true | undefined;
  /** What is asked. A native body is read when this is first looked at: a relayed call never is. */
  readonly request: CanonicalRequest;
  createStreamWriter(context: ReplyContext): StreamWriter;
  /** With `textType` the body is `{text}`, with `answersBytes` `{mediaType, base64}`: the whole answer. */
  writeReply(reply: Reply, context: ReplyContext): JsonObject;
  /** Of the ids that tool calls get where the upstream gives none; `call_` where it is not said. */
  readonly callIdPrefix?: string | undefined;
  /** Content type of whole answers that are text and not JSON. */
  readonly textType?: string | undefined;
  /** True where whole answers are a file. */
  readonly answersBytes?: true | undefined;
  /** Present when the call is several requests; `request` is then the first of them. */
  readonly fanOut?: FanOut | undefined;
  /** Present when the protocol can also carry an upstream's native frames of the same wire. */
  readonly relay?: RelayCall | undefined;
  /** What is written of the answer waits for this, while it is defined: others may go on from what it kept. */
  readonly kept?: (() => Promise<unknown> | undefined) | undefined;
  /** Present when no model is asked: the whole stream, as it is sent at once. */
  readonly writeAtOnce?: ((context: ReplyContext) => string) | undefined;
  /** Present when the answer is made whether its client stays or not; `stream` is true then. */
  readonly background?: BackgroundCall | undefined;
}

/** A call whose answer keeps itself when it is written, whole or as a stream. */
export interface BackgroundCall {
  /** What it holds in memory, in UTF-16 units. */
  readonly size: number;
  /** Present when the client wants to read along: what it is told beside the events. */
  readonly reader: StreamWriter | undefined;
  /** Keeps that it was taken. The id is what the client asks for, the body or the first events what it is told. */
  queue(context: ReplyContext): {
    readonly id: string;
    readonly body: JsonObject;
    events(): string;
  };
  /** Keeps that it failed, or that it was cancelled (`client-gone`), unless it has ended already. */
  fail(error: GatewayError): void;
  /** Undefined until it is written; then whether it is kept as that: false where another process gave it up before. */
  ended(): Promise<boolean> | undefined;
}

/** Requests that are asked at the same time and answered as one, choice by choice. */
export interface FanOut {
  readonly requests: readonly CanonicalRequest[];
  /** True when some of the answers are worth having without the others. */
  readonly takesPartial: boolean;
  /** True when a stream of them is the streams of each, one after the other. */
  readonly isStreamedApart?: boolean | undefined;
  /** @throws GatewayError for an answer that counts as none. */
  readonly check?: ((reply: Reply) => void) | undefined;
}

export interface CountTokensCall {
  readonly protocol: ProtocolName;
  readonly model: string;
  /** Present when the protocol can also hand an upstream of the same wire the client's own body. */
  readonly relay?: RelayBody | undefined;
  /** As for answers. */
  readonly request: CanonicalRequest;
  writeCount(totalTokens: number): JsonObject;
}

/** A request for vectors, read and validated. */
export interface EmbedCall {
  readonly protocol: ProtocolName;
  readonly model: string;
  /** What to embed, at least one, in order. @throws GatewayError for what canonical cannot say. */
  inputs(): readonly EmbedInput[];
  /** All texts of them, of which tokens are estimated where nobody counts them. */
  texts(): readonly string[];
  /** Present when the protocol can also hand an upstream of the same wire the client's own bodies. */
  readonly relay?: EmbedRelay | undefined;
  /** True when the answer has to say how many tokens were read: an estimate where nobody counted. */
  readonly showsUsage: boolean;
  writeEmbeddings(answer: EmbedAnswer): JsonObject;
}
