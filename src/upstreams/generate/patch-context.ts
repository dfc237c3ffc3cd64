// What every piece of the patcher is given.

import type { EncodeTarget } from '../upstream.ts';
import type { GenerateProfile } from './profiles/profile.ts';

export interface PatchContext {
  readonly target: EncodeTarget;
  readonly profile: Pick<GenerateProfile, 'vocabulary' | 'extraFields'>;
}
