// What the server edge asks of dispatch: one answer for one call, whatever happens behind it.

import type { Tier } from '../accounts/account.ts';
import type { CallRecord, SelectionLogEntry } from '../canonical/call-record.ts';
import type { GatewayError } from '../canonical/error.ts';
import type { ReceiptEntry, RequestReceipt } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import type { CountTokensCall, EmbedCall, GenerateCall } from '../protocols/protocol.ts';
import type { ModelRoute, RoutedModel } from '../routing/router.ts';

export interface Dispatcher {
  /**
   * Resolves at the commit point: the first real upstream event has been seen. Until then every
   * failure may have moved to another account.
   * @throws GatewayError to render in the client's protocol.
   */
  generate(call: GenerateCall, context: CallContext): Promise<GenerateAnswer>;
  /** What `generate` would send and why, without sending it. @throws GatewayError */
  explain(call: GenerateCall, context: CallContext): Promise<CallExplanation>;
  /** The protocol's own count body. @throws GatewayError */
  countTokens(call: CountTokensCall, context: CallContext): Promise<JsonObject>;
  /** The protocol's own answer with the vectors. @throws GatewayError */
  embed(call: EmbedCall, context: CallContext): Promise<WholeAnswer>;
}

/** A dry run: the routing decision, the account, and both forms of the request. */
export interface CallExplanation {
  readonly route: RoutedModel;
  readonly accountId: string;
  readonly considered: readonly SelectionLogEntry[];
  readonly upstreamId: string;
  readonly upstreamModel: string;
  readonly lane: 'relay' | 'translate';
  /** Undefined for what is relayed without being understood. */
  readonly canonical: CanonicalRequest | undefined;
  readonly upstreamBody: JsonObject;
  /** What the call would lose on this way. */
  readonly receipt: readonly ReceiptEntry[];
}

export interface CallContext {
  readonly requestId: string;
  /** Identity of the client's key; `local` for keyless local requests. */
  readonly clientKeyId: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  readonly receipt: RequestReceipt;
  /** Refuse the request with a 400 when the receipt is not empty before the first attempt. */
  readonly strict: boolean;
  /** A session named by a header. */
  readonly headerSession?: string | undefined;
  readonly preferredAccount?: string | undefined;
  /** The label of the account that alone may serve it. */
  readonly onlyAccount?: string | undefined;
  /** The upstream that alone may serve it, and knows the model by this very name. */
  readonly onlyUpstream?: string | undefined;
  readonly preferredTier?: Tier | undefined;
  /** The most tokens that each of its answers may have, where a budget leaves no more. */
  readonly answerTokens?: number | undefined;
  /** Whether the client may use a model of that name; without it every one. */
  readonly mayUse?: ((model: string) => boolean) | undefined;
  /** True where only the first of several targets may serve it. */
  readonly isFallbackOff?: boolean | undefined;
  /** Of a call that is several upstream calls: which of them this is, from 1. */
  readonly upstreamCall?: number | undefined;
  /** True for a body whose work is done in steps, with a turn for others between them. */
  readonly isLarge?: boolean | undefined;
  /** Filled while the request runs; complete when it ended. */
  readonly record: CallRecord;
}

export interface WholeAnswer {
  readonly kind: 'reply';
  readonly body: JsonObject;
  /** Of a large one: the memory that counted for it until now, for whoever writes it. */
  readonly heldBytes?: number | undefined;
}

export type GenerateAnswer =
  | WholeAnswer
  | {
      readonly kind: 'stream';
      /**
       * The stream's text, the committed beginning first. Never throws after the first item: a late
       * failure is the protocol's own in-band error, then the end.
       */
      readonly chunks: AnswerChunks;
    };

export interface AnswerChunks extends AsyncIterableIterator<string, unknown> {
  /** What its writer says it is; undefined where several writers take part. */
  readonly contentType?: string | undefined;
  /** Ends an answer that has begun with this failure, in its own words, which are in the next chunks. */
  endWithError?(error: GatewayError): void;
}

export interface ModelRouter {
  /**
   * @param account the account the client asks for by name
   * @throws GatewayError (not-found, invalid-request)
   */
  route(name: string, account?: string): ModelRoute;
  /** The name that a misspelt one was meant to be, of those that are allowed; without it none is suggested. */
  meant?(name: string, isAllowed?: (name: string) => boolean): string | undefined;
}

/** Undefined while the provider is not set up; `off` where no name of a client may lead to it. */
export type ProviderRule =
  | ExternalProvider
  | { readonly upstreamId: string; readonly mode: 'off' }
  | undefined;

/** An upstream beside the pool that takes part in Messages requests. */
export interface ExternalProvider {
  readonly upstreamId: string;
  readonly mode: 'exclusive' | 'pooled' | 'fallback';
  /** Its own name of what a client asks for. */
  modelFor(asked: string): string;
}
