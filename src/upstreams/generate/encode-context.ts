// What every piece of the encoder is given.

import type { EncodeTarget } from '../upstream.ts';
import type { GenerateProfile } from './profiles/profile.ts';

export interface EncodeContext {
  readonly target: EncodeTarget;
  readonly profile: Pick<
    GenerateProfile,
    'vocabulary' | 'extraFields' | 'readsUri' | 'webFileType' | 'isVertex'
  >;
}

/** Of what writes the conversation. */
export interface ContentsContext extends EncodeContext {
  /** True where the upstream wants back what it did by itself before a call. */
  readonly sendsTraces: boolean;
}
