// What a transform is: one pure rule from canonical request to canonical request.

import type { ThinkingMode } from '../canonical/effort.ts';
import type { ModelCapabilities, ModelVariant } from '../canonical/model.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CanonicalRequest, Part, Turn } from '../canonical/request.ts';
import type { SignatureRecall, SignatureSource } from '../canonical/signatures.ts';
import { mapItems, unlessSame } from '../lib/collections.ts';

export type Transform = (request: CanonicalRequest, context: TransformContext) => CanonicalRequest;

/** What there is of a relayed request. */
export type Conversation = Pick<CanonicalRequest, 'system' | 'turns' | 'tools'>;

/** A rule that looks at nothing else: relayed requests are under it as well. */
export type TurnRule = <Request extends Conversation>(
  request: Request,
  context: TransformContext,
) => Request;

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

/** The same object when its parts are; undefined when none are left. */
export function withParts(turn: Turn, parts: readonly Part[]): Turn | undefined {
  if (parts.length === 0) return undefined;
  // Rules give turns of instructions no parts but texts.
  return unlessSame(parts, turn.parts) === turn.parts ? turn : ({ ...turn, parts } as Turn);
}

/** A request with its turns mapped; the same object when no turn changed. */
export function mapTurns<Request extends Conversation>(
  request: Request,
  map: (turn: Turn, index: number) => Turn | undefined,
): Request {
  const turns = mapItems(request.turns, map);
  return turns === request.turns ? request : { ...request, turns };
}
