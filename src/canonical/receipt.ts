// The translation receipt: every lossy step of one request, so that nothing is dropped silently.

import { type Sentence, told } from '../lib/told.ts';
import { memberPath } from './field-reader.ts';

export type ReceiptAction = 'dropped' | 'approximated' | 'repaired' | 'capped';

export { type Sentence, told };

export interface ReceiptEntry {
  /** Path of the field in the client's own request, such as `tools[2].input_schema`. */
  readonly path: string;
  readonly action: ReceiptAction;
  readonly reason: Sentence;
}

/** Collects entries while a request is read, transformed and encoded. The same entry counts once. */
export interface Receipt {
  readonly entries: readonly ReceiptEntry[];
  add(action: ReceiptAction, path: string, reason: Sentence): void;
}

export function createReceipt(): Receipt {
  const entries: ReceiptEntry[] = [];
  const seen = new Set<string>();
  return {
    entries,
    add(action, path, reason) {
      const key = `${action} ${path} ${reason}`;
      if (seen.has(key)) return;
      seen.add(key);
      entries.push({ path, action, reason });
    },
  };
}

/** Notes into `receipt` what is met in a field of the client's request. */
export function receiptWithin(receipt: Receipt, field: string): Receipt {
  return {
    entries: receipt.entries,
    add: (action, path, reason) => receipt.add(action, memberPath(field, path), reason),
  };
}

/** The advisory header's value, such as `dropped=2;approximated=0;repaired=1`; undefined when nothing was lost. */
export function summarizeReceipt(receipt: Receipt): string | undefined {
  if (receipt.entries.length === 0) return undefined;
  const count = (...actions: ReceiptAction[]): number =>
    receipt.entries.filter((entry) => actions.includes(entry.action)).length;
  return `dropped=${count('dropped')};approximated=${count('approximated', 'capped')};repaired=${count('repaired')}`;
}
