// What every piece of the encoder is given.

import type { EncodeTarget } from '../upstream.ts';
import type { GenerateProfile } from './profiles/profile.ts';

export interface EncodeContext {
  readonly target: EncodeTarget;
  readonly profile: Pick<GenerateProfile, 'vocabulary' | 'extraFields' | 'readsUri' | 'isVertex'>;
}
