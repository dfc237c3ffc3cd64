// The amounts of a playground's request as they are typed: what cannot be read is not sent.

import { type AmountRange, isGoodAmount, takeAmount } from '../../components/read-amount.ts';
import type { WireProtocol } from '../../wire/wire-protocol.ts';
import type { Draft } from '../../wire/write-request.ts';

export type AmountField = 'maxTokens' | 'temperature' | 'count';

/** What was typed since the page was opened. */
export type TypedAmounts = Readonly<Partial<Record<AmountField, string>>>;

const MAX_TOKENS = 100_000_000;
const MAX_IMAGES = 10;

export function rangeOf(field: AmountField, protocol: WireProtocol): AmountRange {
  switch (field) {
    case 'maxTokens':
      return { least: 1, most: MAX_TOKENS, isWhole: true };
    case 'temperature':
      return { least: 0, most: protocol === 'messages' ? 1 : 2, isWhole: false };
    case 'count':
      return { least: 1, most: MAX_IMAGES, isWhole: true, isNeeded: true };
    default:
      return field satisfies never;
  }
}

/** As it stands in the field. */
export function textOf(field: AmountField, draft: Draft, typed: TypedAmounts): string {
  return typed[field] ?? String(draft[field] ?? '');
}

/** The draft with what was typed, where that can be read. */
export function takeTyped(draft: Draft, field: AmountField, text: string): Draft {
  const range = rangeOf(field, draft.protocol);
  return isGoodAmount(text, range) ? { ...draft, [field]: takeAmount(text, range) } : draft;
}

/** Whether a field of the protocol holds what cannot be sent. */
export function hasBadAmount(draft: Draft, typed: TypedAmounts): boolean {
  const fields =
    draft.protocol === 'images' ? (['count'] as const) : (['maxTokens', 'temperature'] as const);
  return fields.some(
    (field) => !isGoodAmount(textOf(field, draft, typed), rangeOf(field, draft.protocol)),
  );
}
