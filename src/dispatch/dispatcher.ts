// What the server edge asks of dispatch: one answer for one call, whatever happens behind it.

import type { GatewayError } from '../canonical/error.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Considered, Tier } from '../pool/pool.ts';
import type { CountTokensCall, GenerateCall } from '../protocols/protocol.ts';
import type { RoutedModel } from './router.ts';

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
}

/** A dry run: the routing decision, the account, and both forms of the request. */
export interface CallExplanation {
  readonly route: RoutedModel;
  readonly accountId: string;
  readonly considered: readonly Considered[];
  readonly upstreamId: string;
  readonly upstreamModel: string;
  readonly lane: 'relay' | 'translate';
  readonly canonical: CanonicalRequest;
  readonly upstreamBody: JsonObject;
}

export interface CallContext {
  readonly requestId: string;
  /** Identity of the client's key; `local` for keyless local requests. */
  readonly clientKeyId: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  readonly receipt: Receipt;
  /** Refuse the request with a 400 when the receipt is not empty before the first attempt. */
  readonly strict: boolean;
  /** A session named by a header. */
  readonly headerSession: string | undefined;
  readonly preferredAccount: string | undefined;
  readonly preferredTier: Tier | undefined;
  /** Filled while the request runs; complete when it ended. */
  readonly record: CallRecord;
}

/** What is known of one request, for headers, logs and the monitor. */
export interface CallRecord {
  routedModel?: string | undefined;
  upstreamModel?: string | undefined;
  accountLabel?: string | undefined;
  /** True when a token count is an estimate of ours. */
  isEstimate?: boolean | undefined;
  attempts: AttemptRecord[];
  /** Milliseconds spent by phase, for `Server-Timing`. */
  timings: { upstreamMs?: number; translateMs?: number };
  error?: GatewayError | undefined;
}

export interface AttemptRecord {
  readonly accountId: string;
  readonly modelId: string;
  readonly considered: readonly Considered[];
  readonly outcome: string;
  readonly status?: number | undefined;
}

export type GenerateAnswer =
  | { readonly kind: 'reply'; readonly body: JsonObject }
  | {
      readonly kind: 'stream';
      /**
       * The stream's text, the committed beginning first. Never throws after the first item: a late
       * failure is the protocol's own in-band error, then the end.
       */
      readonly chunks: AsyncIterable<string>;
    };
