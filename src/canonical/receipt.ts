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

/** The receipt of a whole request, of which several bodies may be sent until one is answered. */
export interface RequestReceipt extends Receipt {
  /** Takes back what was added for a body that another one stands in for; what others added too stays. */
  withdraw(entries: readonly ReceiptEntry[]): void;
}

export function createReceipt(): RequestReceipt {
  const entries: ReceiptEntry[] = [];
  const counts = new Map<string, number>();
  return {
    entries,
    add(action, path, reason) {
      const key = keyOf({ action, path, reason });
      const before = counts.get(key) ?? 0;
      counts.set(key, before + 1);
      if (before === 0) entries.push({ path, action, reason });
    },
    withdraw(gone) {
      const left = new Set<string>();
      for (const key of gone.map(keyOf)) {
        const times = (counts.get(key) ?? 0) - 1;
        if (times > 0) counts.set(key, times);
        else if (counts.delete(key)) left.add(key);
      }
      if (left.size === 0) return;
      const kept = entries.filter((entry) => !left.has(keyOf(entry)));
      entries.length = 0;
      for (const entry of kept) entries.push(entry);
    },
  };
}

function keyOf({ action, path, reason }: ReceiptEntry): string {
  return `${action} ${path} ${reason}`;
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
