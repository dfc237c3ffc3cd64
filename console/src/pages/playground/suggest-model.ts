// The model the playground begins with.

import type { Models } from '../../../../src/admin/contract.ts';

/** The first that is no other's second name and does what is asked for; '' where there is none. */
export function suggestModel(models: Models['models'], isImage: boolean): string {
  const found = models.find(
    ({ id, target, tasks, drawsImages }) =>
      (target === id || target === null) && tasks.includes('generate') && drawsImages === isImage,
  );
  return found?.id ?? '';
}
