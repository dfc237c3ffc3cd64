// What is known of one model request: written down on its way, read by headers, logs and the monitor.

import type { JsonObject } from '../lib/json.ts';
import type { Sentence } from '../lib/localized-message.ts';
import type { GatewayError } from './error.ts';
import type { FinishReason } from './event.ts';
import type { AnswerTranscript, KeptText } from './transcript.ts';
import type { Usage } from './usage.ts';

/** On an answer, how often upstreams were asked for it; absent where none was. */
export const ATTEMPTS_HEADER = 'x-isthmus-attempts';

/** What is known of one request, for headers, logs and the monitor. */
export interface CallRecord {
  routedModel?: string | undefined;
  upstreamModel?: string | undefined;
  accountLabel?: string | undefined;
  /** True when the answer is made up by a sandbox. */
  isSandbox?: boolean | undefined;
  /** True when a token count is an estimate of ours. */
  isEstimate?: boolean | undefined;
  attempts: AttemptRecord[];
  /** Why targets were left for the next one, in order; absent for none. */
  fallbacks?: FallbackRecord[] | undefined;
  /** How many upstream calls it is, where it is several. */
  upstreamCalls?: number | undefined;
  /** Why no account was left, where none was. */
  passedOver?: readonly SelectionLogEntry[] | undefined;
  /** Milliseconds spent by phase, for `Server-Timing`. */
  timings: { upstreamMs?: number };
  /** The session it belongs to, as `plainSession` writes it. */
  session?: string | undefined;
  /** Monotonic milliseconds at which the answer began for certain. */
  committedAt?: number | undefined;
  /** The answers behind this one; several for a call that is several requests. */
  answers?: AnswerFigures[] | undefined;
  /** The body the last attempt sent; never changed. */
  upstreamBody?: JsonObject | undefined;
  /** Set before dispatch by whoever wants the words of the answers. */
  keepsAnswers?: boolean | undefined;
  /** Where it is kept: the body the client was sent, as it was sent. */
  sentBody?: KeptText | undefined;
  error?: GatewayError | undefined;
  /** Who stopped it while it was under way, as the audit log names them. */
  stoppedBy?: string | undefined;
}

/** `busy`: no call came free in time; `limited` and `overloaded` pass; `unusable`: disabled or refused. */
const NO_ACCOUNT_REASONS = [
  ...(['no-accounts', 'not-offered', 'limited', 'overloaded'] as const),
  ...(['busy', 'unusable', 'all-tried'] as const),
] as const;

/** Why no account is left. */
export type NoAccountReason = (typeof NO_ACCOUNT_REASONS)[number];

/** Why a target is left for the next one. */
export const FALLBACK_REASONS = [
  ...NO_ACCOUNT_REASONS,
  ...(['fails-more', 'loses-more', 'no-answer', 'prompt-too-long'] as const),
] as const;

export type FallbackReason = (typeof FALLBACK_REASONS)[number];

interface FallbackRecord {
  /** The names as the mapping has them: a model, or `upstream/model`. */
  readonly from: string;
  readonly to: string;
  readonly reason: FallbackReason;
  /** Which of several upstream calls, from 1. */
  readonly upstreamCall?: number | undefined;
  /** Attempts of that call that were made before. */
  readonly afterAttempts: number;
}

export interface AttemptRecord {
  readonly accountId: string;
  readonly upstreamId?: string | undefined;
  readonly modelId: string;
  /** Which of several upstream calls, from 1. */
  readonly upstreamCall?: number | undefined;
  readonly considered: readonly SelectionLogEntry[];
  readonly outcome: string;
  readonly status?: number | undefined;
  /** What the upstream said, or what the fault was, for the operator alone. */
  readonly detail?: Sentence | undefined;
  /** E-mail or label of the account. */
  readonly accountLabel?: string | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt?: number | undefined;
  /** From the choice of the account to the commit point or the failure. */
  readonly durationMs?: number | undefined;
}

/** Who gave an answer. */
export interface ServedBy {
  readonly accountId: string;
  readonly upstreamId: string;
  /** The upstream's own id of the model. */
  readonly modelId: string;
}

/** What became of one upstream answer; current while it still comes. */
export interface AnswerFigures {
  readonly servedBy?: ServedBy | undefined;
  /** Undefined while nobody told it. */
  readonly usage: Usage | undefined;
  readonly modelVersion?: string | undefined;
  /** One a choice, once it finished. */
  readonly finishReasons?: readonly FinishReason[] | undefined;
  /** Why it, or a choice of it, was held back. */
  readonly withheld?: Sentence | undefined;
  /** Pictures in the answer. */
  readonly imageCount: number;
  /** What the answer said, where `keepsAnswers` asks for it. */
  readonly transcript?: AnswerTranscript | undefined;
}

/** Why this account. Of more than 50 the chosen one, those tried before, and the others by reason. */
export type SelectionLogEntry =
  | { readonly accountId: string; readonly verdict: string }
  | {
      readonly count: number;
      readonly verdict: string;
      /** The first few of them. */
      readonly accountIds: readonly string[];
    };

/** `figures` may still change while the answer comes; `committedAt` is in monotonic milliseconds. */
export function noteCommit(record: CallRecord, figures: AnswerFigures, committedAt: number): void {
  record.committedAt ??= committedAt;
  record.answers ??= [];
  record.answers.push(figures);
}

// The names of sessions: as the pool binds them to accounts, and as people read them.

/** What a session is known by in the pool: who named it, and its name. */
export function headerName(name: string): string {
  return `header ${name}`;
}

export function bodyName(name: string): string {
  return `body ${name}`;
}

/** Of a conversation that nobody names: a hash of how it begins. */
export function textName(hash: string): string {
  return `text ${hash}`;
}

/** As records have it: the client's own word for it, where there is one. */
export function recordedSession(name: string): string {
  return name.replace(/^(?:header|body) /, '');
}

/** What a session of records may be known by in the pool. */
export function namesOfRecorded(session: string): readonly string[] {
  const named = [headerName(session), bodyName(session)];
  return session.startsWith(textName('')) ? [session, ...named] : named;
}
