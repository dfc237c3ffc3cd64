// What tests say is remembered of earlier answers, kind by kind.

import type {
  SignatureEntry,
  SignatureKey,
  SignatureRecall,
} from '../../src/canonical/signatures.ts';

type KeyOf<Kind> = Extract<SignatureKey, { readonly kind: Kind }>;

export type Remembered = {
  readonly [Kind in SignatureKey['kind']]?: (key: KeyOf<Kind>) => SignatureEntry | undefined;
};

export function recallOf(remembered: Remembered = {}): SignatureRecall {
  return {
    lookup(key) {
      const find = remembered[key.kind] as
        | ((key: SignatureKey) => SignatureEntry | undefined)
        | undefined;
      return find?.(key);
    },
  };
}
