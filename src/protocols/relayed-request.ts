// A request that an upstream of the same wire gets as it came: its body, the headers of its client, how the answer goes
// back, and what the body says, read when somebody first asks: most relayed ones never are.

import type { EmbedAnswer } from '../canonical/embedding.ts';
import { GatewayError } from '../canonical/error.ts';
import { createReceipt, type Receipt, type ReceiptEntry } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import { once } from '../lib/once.ts';
import type { RelayWriter, ReplyContext } from './writers.ts';

export interface RelayBody {
  /** Name of the wire the body is written in; equal to an upstream's wire for the relay lane. */
  readonly wire: string;
  /** The client's own body, normalised to the wire's official spelling and validated. */
  readonly body: JsonObject;
  /** The field of what the client sent that the body stands in; absent where it is all of it. */
  readonly field?: string | undefined;
  /** Headers of the client that go along with it; lower-case names, never a credential. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Reads it, at the first call, for what `request` of the call has no words for: lost where it is not relayed. */
  readonly reading?: (() => { readonly losses: readonly ReceiptEntry[] }) | undefined;
  /** Whether it has tools of free text, or calls of such; absent where the wire has none. */
  hasFreeText?(): boolean;
  /** Whether it asks for one call at a time; absent where every upstream of the wire can be told. */
  asksForOneCall?(): boolean;
}

export interface RelayCall extends RelayBody {
  /** How many answers the body asks for; absent for one. */
  readonly choices?: number | undefined;
  /** As `openingText` of the canonical request, for session affinity. */
  openingText(): string | undefined;
  /**
   * An upstream's frame or body with the names of its calls as `rename` has them; the same object when nothing
   * changes.
   */
  renameCalls(frame: JsonObject, rename: (name: string) => string): JsonObject;
  /** Of the tools the body declares, read from it as it came. */
  declaredNames(): ReadonlySet<string>;
  createStreamWriter(context: ReplyContext): RelayWriter;
  /**
   * True for a piece of a stream: some upstreams stream what was asked for whole, or the other way round, and only a
   * translation makes one of the other. Absent where `writeReply` and the stream writer do.
   */
  isPiece?(frame: JsonObject): boolean;
  /** Mostly one body. */
  writeReply(upstreamBodies: readonly JsonObject[], context: ReplyContext): JsonObject;
  /** An upstream's refusal that names fields as the client did; absent where upstreams are sent the same names. */
  inOwnNames?(refusal: GatewayError): GatewayError;
}

export interface EmbedRelay {
  readonly wire: string;
  /** One an input, in order. */
  readonly bodies: readonly JsonObject[];
  /** From the native forms of the answer. */
  writeEmbeddings(answer: EmbedAnswer): JsonObject;
}

export type LateReading = () => {
  readonly request: CanonicalRequest;
  /** What it leaves out. */
  readonly losses: readonly ReceiptEntry[];
};

export function readLate(read: (receipt: Receipt) => CanonicalRequest): LateReading {
  return once(() => {
    const receipt = createReceipt();
    return { request: read(receipt), losses: receipt.entries };
  });
}

/** Undefined where the body is not understood here, which a relay need not mind. @throws where there is none */
export function understood(call: {
  readonly request: CanonicalRequest;
  readonly relay?: RelayBody | undefined;
}): CanonicalRequest | undefined {
  try {
    return call.request;
  } catch (error) {
    if (error instanceof GatewayError && call.relay !== undefined) return undefined;
    throw error;
  }
}

/** Names, or their beginnings: who the client is, which version and features it speaks, what it says of its work. */
const FORWARDED = [
  ...['anthropic-', 'vendorb-', 'openai-', 'x-stainless-', 'x-claude-', 'x-app'],
  ...['user-agent', 'http-referer', 'x-title'],
];

/** Credentials and what belongs to one connection or to this gateway stay here, with all that is not listed. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const forwarded: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && FORWARDED.some((begin) => name.startsWith(begin))) {
      forwarded[name] = value;
    }
  }
  return forwarded;
}
