// What a transform is: one pure rule from canonical request to canonical request.

import type { ThinkingMode } from '../canonical/effort.ts';
import type { ModelCapabilities, ModelVariant } from '../canonical/model.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest, Turn } from '../canonical/request.ts';
import type { SignatureRecall, SignatureSource } from '../canonical/signatures.ts';

export type Transform = (request: CanonicalRequest, context: TransformContext) => CanonicalRequest;

export interface TransformContext {
  readonly capabilities: ModelCapabilities;
  readonly variant: ModelVariant;
  readonly thinkingMode: ThinkingMode;
  readonly recall: SignatureRecall;
  readonly signatures: SignatureSource;
  readonly receipt: Receipt;
  /** True where tokens are counted: what could not be answered may still be a piece of a conversation. */
  readonly mayBePiece?: boolean | undefined;
}

/** A request with its turns mapped; the same object when no turn changed. */
export function mapTurns(
  request: CanonicalRequest,
  map: (turn: Turn, index: number) => Turn | undefined,
): CanonicalRequest {
  const turns = request.turns.map(map).filter((turn) => turn !== undefined);
  const isSame =
    turns.length === request.turns.length && turns.every((turn, i) => turn === request.turns[i]);
  return isSame ? request : { ...request, turns };
}
