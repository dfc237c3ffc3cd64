// One model request as the monitor keeps it.

import type { FinishReason } from '../canonical/event.ts';
import type { ReceiptEntry } from '../canonical/receipt.ts';
import type { TranscriptBlock } from '../canonical/transcript.ts';
import type { ConsideredFacts } from './observer.ts';

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
