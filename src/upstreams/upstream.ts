// What an upstream is to the rest of the gateway: one wire, reached through profiles.

import type { ThinkingMode } from '../canonical/effort.ts';
import type { EmbedAnswer, EmbedInput } from '../canonical/embedding.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import type { ModelCapabilities, ModelVariant, UpstreamModel } from '../canonical/model.ts';
import type { RateLimit, UpstreamQuota } from '../canonical/quota.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { SignatureRecall, SignatureSource } from '../canonical/signatures.ts';
import type { TypedValues } from '../canonical/typed-values.ts';
import type { Usage } from '../canonical/usage.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Frame } from '../stream/sse.ts';

export interface Upstream {
  /** Its id in the configuration; the profile's name, such as `sandbox`, where there is none. */
  readonly id: string;
  /** The wire it speaks; a client call of the same wire is relayed. */
  readonly wire: string;
  /** True for one that makes its answers up. */
  readonly isSandbox?: boolean | undefined;
  /** True where its accounts serve only requests that are routed to it by its id. */
  readonly servesByNameOnly?: boolean | undefined;
  /** Where it is reached. */
  readonly baseUrl?: string | undefined;
  /** The spellings under which this upstream may know a model, best first. */
  modelIds(name: string): readonly string[];
  /** The id to ask for while an account's list is unknown; without one the first of `modelIds`. */
  unlistedId?(name: string): string | undefined;
  /** True where nothing says that it has the models of the catalogue: without a list it is asked for names as clients send them. */
  readonly hasOwnNames?: boolean | undefined;
  /** True where it may know models that its list lacks, by their `unlistedId`. */
  readonly servesUnlisted?: boolean | undefined;
  /** What one of its models can do; limits the upstream listed itself win over built-in ones. */
  capabilities(modelId: string, listed: UpstreamModel | undefined): ModelCapabilities;
  /** True for addresses this upstream reads itself; any other media has to be sent along. */
  readsUri(uri: string): boolean;
  /** The wire body of a canonical request. Lossy steps go to the receipt. */
  encode(request: CanonicalRequest, target: EncodeTarget): JsonObject;
  /** Of an encoded body: what was asked for so that it comes in its own types, and nothing in it as text. */
  typedValues(body: JsonObject): TypedValues;
  /** Of an encoded body: the most tokens its answer may have, thinking included; undefined where it says none. */
  outputLimit(body: JsonObject): number | undefined;
  /** An encoded or patched body whose answer has so many tokens at most, thinking included. */
  limitOutput(
    body: JsonObject,
    most: number,
    target: Pick<EncodeTarget, 'modelId'> & Partial<Pick<EncodeTarget, 'capabilities'>>,
  ): JsonObject;
  /** The wire body of a native client body: only what this upstream needs different is edited. */
  patch(body: JsonObject, target: PatchTarget): JsonObject;
  /**
   * Sends one request. Resolves when the response headers are there and good.
   * @throws GatewayError with `failure` set; or the signal's reason when it aborts.
   */
  open(call: UpstreamCall): Promise<UpstreamStream>;
  createDecoder(context: DecodeContext): Decoder;
  /** Undefined where the wire or the service has no such call. @throws GatewayError with `failure` set. */
  countTokens(call: Omit<UpstreamCall, 'stream'>): Promise<TokenCount | undefined>;
  /** The wire body of a canonical input to embed. */
  encodeEmbedInput(input: EmbedInput): JsonObject;
  /**
   * The vectors of all bodies in their order, some at a time, as they come.
   * @throws GatewayError with `failure` set, or invalid-request for an input the model cannot take.
   */
  embed(call: UpstreamEmbedCall): AsyncIterable<EmbedAnswer>;
  listModels(access: AccountAccess, signal: AbortSignal): Promise<readonly UpstreamModel[]>;
  /**
   * What the upstream itself reports of the account's quotas; undefined when it has no such call.
   * @throws GatewayError with `failure` set.
   */
  readQuota(access: AccountAccess, signal: AbortSignal): Promise<UpstreamQuota | undefined>;
  close(): Promise<void>;
}

export interface TokenCount {
  readonly total: number;
  /** The upstream's own answer, for clients of its wire. */
  readonly answer: JsonObject;
  /** What the upstream could not count, as text to estimate; absent when it counted all. */
  readonly uncounted?: string | undefined;
}

/** What becomes of the thought signatures of a conversation; the retries after a complaint change it. */
export interface SignaturePlan {
  readonly signatures: SignatureSource;
  /**
   * True once the upstream missed a signature: every step that lacks one gets the stand-in, also in
   * earlier turns and whatever is known of the model.
   */
  readonly usesPlaceholders: boolean;
}

export interface EncodeTarget extends SignaturePlan {
  /** The upstream's own id of the model. */
  readonly modelId: string;
  readonly capabilities: ModelCapabilities;
  readonly receipt: Receipt;
  /** True where no stream is asked for, be it for a client that reads one. */
  readonly isWhole?: boolean | undefined;
}

export interface PatchTarget extends EncodeTarget {
  /** What the requested model name asks for beside the model; the body's own fields win. */
  readonly variant: ModelVariant;
  readonly thinkingMode: ThinkingMode;
  readonly recall: SignatureRecall;
  /** True where tokens are counted: what could not be answered may still be a piece of a conversation. */
  readonly mayBePiece?: boolean | undefined;
}

export interface AccountAccess {
  readonly accountId: string;
  /** The API key or access token. */
  readonly credential: string;
  readonly credentialKind: 'api-key' | 'access-token';
  readonly projectId?: string | undefined;
  /** `http://`, `https://` or `socks5://`, perhaps with user and password; undefined goes direct. */
  readonly proxyUrl?: string | undefined;
}

export interface UpstreamCall {
  readonly modelId: string;
  readonly body: JsonObject;
  readonly stream: boolean;
  readonly access: AccountAccess;
  readonly signal: AbortSignal;
  /** True to use a new connection: the last one was lost before any byte of the answer. */
  readonly freshConnection?: boolean | undefined;
  /** Called once, when the first byte behind the headers is there. */
  readonly onFirstByte?: (() => void) | undefined;
  /** Told before anything is sent when the text of the body has to be mended. */
  readonly receipt?: Receipt | undefined;
  /** True for a body whose work is done in steps. */
  readonly isLarge?: boolean | undefined;
  /** The client key whose share of the upstream's connections it takes; nobody's where it is absent. */
  readonly clientKeyId?: string | undefined;
  /** Told of every answer, whatever its status, where the wire has headers for it; `read` looks at them. */
  readonly onRateLimit?: ((read: () => RateLimit | undefined) => void) | undefined;
  /** True while another account could be asked for the same model in place of this one. */
  readonly hasSibling?: (() => boolean) | undefined;
  /** True where another model goes first, now that what this one lacks is known. */
  readonly isOutdone?: (() => boolean) | undefined;
  /** Of a relayed call: the headers of the client that go along, without its credential; lower-case names. */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined;
}

export interface UpstreamEmbedCall extends Omit<UpstreamCall, 'body' | 'stream'> {
  /** One wire body an input; never empty. */
  readonly bodies: readonly JsonObject[];
}

/** The frames of one answer, a batch per chunk read, for one reader. Iteration throws GatewayError with `failure` set. */
export interface UpstreamStream extends AsyncIterableIterator<readonly Frame[], unknown> {
  /** True of a body that does not say it is a stream of events. */
  readonly mayBeWhole?: boolean;
  /** True where it is the last of several attempts of a gateway like this one. */
  readonly isTriedOut?: boolean;
}

export interface DecodeContext {
  readonly signatureFamily: string;
  /** The wire body that is answered: what an empty answer means depends on it. */
  readonly body?: JsonObject | undefined;
  readonly stream?: boolean | undefined;
  /** With which the answer was asked for: kept out of the texts of its errors. */
  readonly access?: AccountAccess | undefined;
  /** False when nobody asks where citations stand; their text need not be kept then. True by default. */
  readonly placesCitations?: boolean | undefined;
  /** True where the client is shown the parts as they come: one of a kind unknown here is content, too. */
  readonly passesParts?: boolean | undefined;
  /** True to pass on unfinished pictures. */
  readonly showsDrafts?: boolean | undefined;
  /** Of the ids that calls get where the upstream gave none; `call_` where it is not said. */
  readonly callIdPrefix?: string | undefined;
  /** A fresh random id with the given prefix. */
  createId(prefix: string): string;
}

/** A synchronous reducer from frames to events; owns all decisions about block boundaries. */
export interface Decoder {
  push(frame: JsonObject): CanonicalEvent[];
  /**
   * As `push`, for a frame that repeats the one that came last, whose value nobody needs then; undefined
   * where it has to be pushed.
   */
  repeat?(frame: Frame): CanonicalEvent[] | undefined;
  /**
   * Call when the upstream closed. Closes open blocks and gives the last events: `finish`, or
   * `error` when the answer was cut off or empty.
   */
  end(): CanonicalEvent[];
  /** What the upstream told last of the usage, also of an answer that never ends; undefined when it told nothing. */
  readonly usage: Usage | undefined;
  /** Bytes of the answer that it holds until what they belong to is whole; absent where that is next to nothing. */
  readonly heldBytes?: number | undefined;
  /** Tokens of the answer without its thoughts so far, where the upstream's own count is of these alone. */
  readonly countedAnswer?: number | undefined;
}
