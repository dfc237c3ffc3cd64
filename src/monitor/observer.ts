// What the edge tells the monitor: that a request begins, and everything known of it when it ended.

import type { GatewayError } from '../canonical/error.ts';
import type { FinishReason } from '../canonical/event.ts';
import type { ReceiptEntry } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { AnswerTranscript } from '../canonical/transcript.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Wanting } from '../canonical/wanted-answers.ts';
import type { JsonObject } from '../lib/json.ts';

/** Called on the way of requests: neither method throws or waits. */
export interface RequestObserver {
  /** Whether the bodies of a request that begins now are wanted at its end. */
  readonly keepsBodies: boolean;
  /** Whether what requests ask for is wanted at their end. */
  readonly readsRequests: boolean;
  onBegin(): void;
  /** Exactly once for each `onBegin`. */
  onEnd(request: EndedRequest): void;
}

export interface EndedRequest {
  readonly requestId: string;
  /** True when the client chose the id, so that another request may have it too. */
  readonly isIdGiven: boolean;
  readonly protocol: string;
  /** The pattern of its route, such as `/v1/models/{model}:generateContent`. */
  readonly route: string;
  /** `embed`, `count-tokens` or, also when absent, `generate`. */
  readonly operation?: string | undefined;
  /** What stands in the path for the model. */
  readonly pathModel: string;
  /** What its body or form names as the model, where that is a text. */
  readonly bodyModel?: string | undefined;
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  /** Undefined when the request could not be read so far. */
  readonly call: { readonly model: string; readonly stream: boolean } | undefined;
  /** What an answer was asked for; reading it may be work, which only who exports it does. */
  readonly asked?: AskedFor | undefined;
  readonly body: JsonObject | undefined;
  /** True when its body was a form: the body given has the fields, and none of the files. */
  readonly isForm?: boolean | undefined;
  /** HTTP status; 499 when the client left before the answer was whole. */
  readonly status: number;
  readonly clientKeyId: string;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
  readonly session: string | undefined;
  /** The header of that name as the client sent it, unchecked. */
  readonly traceparent?: string | undefined;
  /** All keys the request showed: they stand nowhere in its record. */
  readonly credentials: readonly string[];
  readonly receipt: readonly ReceiptEntry[];
  readonly facts: CallFacts;
  readonly totalMs: number;
  /** From the beginning of the request to the first of its answer. */
  readonly firstEventMs: number | undefined;
}

/** `GenerateCall` fits it. */
export interface AskedFor extends Wanting {
  /** @throws GatewayError for a native request that only its own wire can say */
  canonical(): CanonicalRequest;
}

/** What dispatch wrote down; `CallRecord` fits it. */
export interface CallFacts {
  readonly routedModel?: string | undefined;
  readonly upstreamModel?: string | undefined;
  readonly accountLabel?: string | undefined;
  readonly isEstimate?: boolean | undefined;
  readonly attempts: readonly AttemptFacts[];
  /** How many upstream calls it was, where it was several. */
  readonly upstreamCalls?: number | undefined;
  readonly passedOver?: readonly ConsideredFacts[] | undefined;
  readonly timings: { readonly upstreamMs?: number; readonly translateMs?: number };
  readonly answers?: readonly AnswerFacts[] | undefined;
  readonly upstreamBody?: JsonObject | undefined;
  readonly error?: GatewayError | undefined;
}

interface AnswerFacts {
  /** Undefined when nobody told it. */
  readonly usage: Usage | undefined;
  readonly modelVersion?: string | undefined;
  readonly finishReasons?: readonly FinishReason[] | undefined;
  /** Why it, or a choice of it, was held back. */
  readonly withheld?: string | undefined;
  readonly imageCount: number;
  readonly transcript?: AnswerTranscript | undefined;
}

export interface AttemptFacts {
  readonly accountId: string;
  readonly accountLabel?: string | undefined;
  readonly modelId: string;
  /** Which of several upstream calls, from 1. */
  readonly upstreamCall?: number | undefined;
  readonly considered: readonly ConsideredFacts[];
  readonly outcome: string;
  readonly status?: number | undefined;
  /** What the upstream said, or what the fault was, for the operator alone. */
  readonly detail?: string | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** One account, or several passed over for one reason. */
export type ConsideredFacts =
  | { readonly accountId: string; readonly verdict: string }
  | {
      readonly count: number;
      readonly verdict: string;
      readonly accountIds: readonly string[];
    };
