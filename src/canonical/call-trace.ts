// What an upstream did by itself before it called a tool of the client's.

import type { JsonObject } from '../lib/json.ts';

/** Wanted back before the call, unchanged: the model goes on from it. */
export interface CallTrace {
  /** The family of the model that wrote and signed it. */
  readonly family: string;
  /** Parts of the upstream's wire, in order; never empty. */
  readonly parts: readonly JsonObject[];
}

/** A call that may have one. */
export interface TracedCall {
  readonly trace?: CallTrace | undefined;
}

/** Traces remembered from earlier answers to the same client key. */
export interface TraceRecall {
  trace(id: string, name: string): CallTrace | undefined;
}
