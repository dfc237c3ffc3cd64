// The two vocabularies of the wire, as one client and one upstream speak them.

import type { TargetName } from '../golden/targets.ts';

export interface Words {
  readonly vocabulary: 'real' | 'neutral';
  readonly target: TargetName;
  readonly model: string;
  /** The key of the search tool. */
  readonly search: string;
  /** The key of the chat protocol's vendor extension. */
  readonly extension: string;
}

export const VOCABULARIES: readonly Words[] = [
  {
    vocabulary: 'real',
    target: 'gemini',
    model: 'gemini-3-flash',
    search: 'googleSearch',
    extension: 'google',
  },
  {
    vocabulary: 'neutral',
    target: 'sandbox',
    model: 'alpha-3-flash',
    search: 'vendoraSearch',
    extension: 'vendora',
  },
];
