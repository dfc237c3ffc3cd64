// What people are told of a name that leads to no model: of one they ask about, and of a mapping's target.

import { type Sentence, told } from '../lib/told.ts';
import type { Explanation, Router } from './router.ts';

/** What is wrong with a name, and the one that may have been meant; undefined for one that is served. */
export function sayUnserved(
  name: string,
  { steps, error }: Explanation,
  router: Pick<Router, 'meant'>,
): string | undefined {
  if (error === undefined) return undefined;
  // Where the mapping sent the name on, its target is what was misspelt.
  const wrong = steps.findLast(({ kind }) => kind.startsWith('mapping-'))?.target ?? name;
  const meant = router.meant(wrong);
  return meant === undefined ? error : told`${error} Did you mean "${meant}"?`;
}

/** What is said when an entry of the mapping sends names to a model that none of them would find. */
export function warnOfTarget(
  key: string,
  target: string,
  router: Pick<Router, 'explainTarget' | 'meant'>,
): Sentence | undefined {
  const { route, steps, servedAs } = router.explainTarget(target);
  // An account whose list is unknown may have the model, but hardly one that is nearly the name of another.
  const isGuess = steps.some(({ kind }) => kind === 'passed-on');
  if (servedAs !== undefined && !isGuess) return undefined;
  const meant = router.meant(target);
  if (isGuess && meant === undefined) return undefined;
  const warning =
    route === undefined
      ? told`"${key}" goes to "${target}", which no account offers and no rule knows: requests for it will fail.`
      : told`"${key}" goes to "${target}", which no enabled account is known to offer now.`;
  return meant === undefined ? warning : told`${warning} Did you mean "${meant}"?`;
}
