// The model the playground begins with.

import type { Models } from '../../../../src/admin/contract.ts';

/**
 * The first that is no other's second name and does what is asked for, of those that an account has under this very
 * name if there are any: people know these. '' where there is none.
 */
export function suggestModel(models: Models['models'], isImage: boolean): string {
  const fitting = models.filter(
    ({ id, target, tasks, drawsImages }) =>
      (target === id || target === null) && tasks.includes('generate') && drawsImages === isImage,
  );
  const found = fitting.find(({ id, servedAs }) => servedAs === id) ?? fitting[0];
  return found?.id ?? '';
}
