// One row of the fault matrix, and the words rows are written in.

import type { JsonObject } from '../../../src/lib/json.ts';
import type { ErrorWords } from '../../support/protocol-calls.ts';
import { errorBody, type ScriptedReply } from '../../support/scripted-upstream.ts';

/** Accounts are asked in this order: those who sign in, or those with a key. */
export type Place = 'first' | 'second' | 'third';

/** Replies call by call, then good answers; one reply alone is given every time. */
type Replies = readonly ScriptedReply[] | ScriptedReply;

export interface Row {
  readonly what: string;
  readonly only?: 'stream' | 'whole';
  /** `oauth` unless given. `refused` and `insecure` put an account before them that cannot be reached. */
  readonly accounts?: 'oauth' | 'api-key' | 'refused' | 'insecure';
  readonly meets: Partial<Record<Place | 'all', Replies>>;
  /** What the token endpoint says of the first account, or of all. */
  readonly tokens?: Partial<Record<Place | 'all', Replies>>;
  /** So many requests one after the other; the last one is judged. */
  readonly requests?: number;
  /** Time that passes between them. */
  readonly betweenMs?: number;
  /** A clean answer unless given. */
  readonly error?: Omit<ErrorWords, 'status'> & { readonly status: number };
  /** Where a protocol has a status of its own. */
  readonly messagesStatus?: number;
  /** `begun`: the stream ends in the protocol's error. `other`: an answer, though not the usual one. */
  readonly answer?: 'begun' | 'other';
  readonly attempts: number;
  /** Seconds of `Retry-After`. */
  readonly retryAfter?: number;
  /** How the first account stands, in the words of `standing`. */
  readonly first: string;
  /** How the second stands, where that says something. */
  readonly second?: string;
}

export const status = (code: number, body?: JsonObject | string, headers = {}): ScriptedReply => ({
  kind: 'status',
  status: code,
  headers,
  body: body ?? errorBody(code, `scripted ${code}`),
});
export const info = (reason: string, metadata: JsonObject = {}): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  metadata,
});
export const retryInfo = (retryDelay: string): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});
export const limited = (message: string, ...details: JsonObject[]): ScriptedReply =>
  status(429, errorBody(429, message, details));
export const page = (code: number): ScriptedReply => ({
  kind: 'status',
  status: code,
  type: 'text/html',
  body: '<!doctype html><title>Log in</title>',
});
export const frames = (...list: (JsonObject | string)[]): ScriptedReply => ({
  kind: 'frames',
  frames: list,
});
