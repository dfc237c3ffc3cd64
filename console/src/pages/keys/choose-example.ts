// The model of the examples that a new key is shown with.

import type { Models } from '../../../../src/admin/contract.ts';
import { suggestModel } from '../playground/suggest-model.ts';
import { isNamed } from '../requests/matches-running.ts';

const USUAL = 'alpha-3-flash';

/** One that the key may use and that goes somewhere; without a list of models the first that its limits name. */
export function chooseExample(allowed: readonly string[], models: Models['models']): string {
  const known = models.filter(
    ({ id, target }) =>
      target !== null && (allowed.length === 0 || allowed.some((one) => isNamed(id, one))),
  );
  const first = allowed.find((one) => !one.includes('*')) ?? USUAL;
  return known.some(({ id }) => id === first) ? first : suggestModel(known, false) || first;
}
