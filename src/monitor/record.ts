// One model request as the monitor keeps it.

import type { GatewayError } from '../canonical/error.ts';
import type { FinishReason } from '../canonical/event.ts';
import type { ReceiptEntry } from '../canonical/receipt.ts';
import type { CanonicalRequest, Wanting } from '../canonical/request.ts';
import type { AnswerTranscript, TranscriptBlock } from '../canonical/transcript.ts';
import type { Usage } from '../canonical/usage.ts';
import type { JsonObject } from '../lib/json.ts';

export type RequestOutcome = 'ok' | 'error' | 'cancelled';

/** What lists show. Times in milliseconds since the epoch; counts are whole numbers. */
export interface RequestRow {
  readonly id: string;
  /** The `x-request-id` of the exchange; not unique, as clients may choose it. */
  readonly requestId: string;
  /** When it began. */
  readonly at: number;
  readonly protocol: string;
  /** The endpoint, such as `chat/completions` or `generateContent`. */
  readonly surface: string;
  readonly method: string;
  readonly path: string;
  readonly stream: boolean;
  readonly status: number;
  /** `error` also for a stream that broke off behind a status of 200. */
  readonly outcome: RequestOutcome;
  /** As the client wrote it; '' when the request could not be read so far. */
  readonly model: string;
  /** Where that name leads, also of a request that was refused before; absent when nobody offers it. */
  readonly routedModel?: string | undefined;
  readonly upstreamModel?: string | undefined;
  readonly account?: string | undefined;
  readonly keyId: string;
  readonly keyName?: string | undefined;
  readonly clientAddress: string;
  readonly attempts: number;
  /** Attempts beyond the first of each upstream call; a request may be several such calls. */
  readonly retries: number;
  readonly firstEventMs?: number | undefined;
  readonly totalMs: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly thoughtTokens?: number | undefined;
  readonly images?: number | undefined;
  readonly receipt: ReceiptCounts;
  /** What went wrong, in words for people; of a request that went well, why its answer was held back. */
  readonly error?: string | undefined;
}

export interface ReceiptCounts {
  readonly dropped: number;
  readonly approximated: number;
  readonly repaired: number;
}

/** What only the view of one request shows. */
export interface RequestDetails {
  readonly route: string;
  readonly pathModel: string;
  readonly errorKind?: string | undefined;
  readonly modelVersion?: string | undefined;
  /** How the answers ended, each way once; absent where none came to its end. */
  readonly finishReasons?: readonly FinishReason[] | undefined;
  /** True when a token count is an estimate of the gateway. */
  readonly isEstimate?: boolean | undefined;
  readonly attemptsList: readonly AttemptEntry[];
  /** How many upstream calls it was, where it was several. */
  readonly upstreamCalls?: number | undefined;
  readonly passedOver?: readonly ConsideredEntry[] | undefined;
  readonly receiptEntries: readonly ReceiptEntry[];
  readonly session?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly timings: { readonly upstreamMs?: number | undefined };
}

type ConsideredEntry = ConsideredFacts;

export interface AttemptEntry {
  readonly account: string;
  readonly model: string;
  /** Which of several upstream calls, from 1. */
  readonly upstreamCall?: number | undefined;
  readonly outcome: string;
  readonly status?: number | undefined;
  /** What the upstream said, or what the fault was; absent on success. */
  readonly detail?: string | undefined;
  readonly considered: readonly ConsideredEntry[];
  readonly ms?: number | undefined;
}

export interface RequestBodies {
  readonly clientRequest?: BodyText | undefined;
  readonly upstreamRequest?: BodyText | undefined;
  readonly response?: BodyBlocks | undefined;
}

interface BodyText {
  /** JSON. */
  readonly text: string;
  /** False when something was shortened, cut or redacted: it cannot be sent again. */
  readonly isWhole: boolean;
}

export interface BodyBlocks {
  readonly blocks: readonly TranscriptBlock[];
  readonly isWhole: boolean;
}

export interface RequestRecord {
  readonly row: RequestRow;
  readonly details: RequestDetails;
  readonly bodies?: RequestBodies | undefined;
}

/** The name under which usage is summed: of the model that served it, or would have; '' when there is none. */
export function usageModel(row: Pick<RequestRow, 'upstreamModel' | 'routedModel'>): string {
  return row.upstreamModel ?? row.routedModel ?? '';
}

/** Characters the bodies of a record hold, about. */
export function bodySize({ bodies }: RequestRecord): number {
  if (bodies === undefined) return 0;
  const { clientRequest, upstreamRequest, response } = bodies;
  const blocks = response?.blocks ?? [];
  return (
    (clientRequest?.text.length ?? 0) +
    (upstreamRequest?.text.length ?? 0) +
    blocks.reduce((sum, block) => sum + blockSize(block), 0)
  );
}

/** Characters a block holds, about. */
export function blockSize(block: TranscriptBlock): number {
  switch (block.kind) {
    case 'text':
    case 'thinking':
      return block.text.length;
    case 'tool-call':
      return block.name.length + block.arguments.length;
    case 'code':
      return block.code.length;
    case 'code-result':
      return block.output.length;
    case 'media':
      return block.mediaType.length;
    default:
      return block satisfies never;
  }
}

// What the edge tells the monitor: that a request begins, and everything known of it when it ended.

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
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** The same moment, monotonic. */
  readonly endedAtMonotonic: number;
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
type ConsideredFacts =
  | { readonly accountId: string; readonly verdict: string }
  | {
      readonly count: number;
      readonly verdict: string;
      readonly accountIds: readonly string[];
    };
