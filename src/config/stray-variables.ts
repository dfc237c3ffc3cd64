// Finds variables that nothing reads but somebody may have meant for the gateway: misspelt ones.

import { nearestName } from '../lib/near-name.ts';
import { type Sentence, told } from '../lib/told.ts';

const OWN_PREFIX = /^(?:UPSTREAM|ISTHMUS)_/;
/** Kubernetes sets these for each service, also for one of these names. */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)?)$/;
/** Names as short as `PORT` are near to too many others. */
const LEAST_LENGTH = 7;

/** One sentence each; values are never repeated. */
export function findStrayVariables(
  variables: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): readonly Sentence[] {
  const known = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  return Object.keys(variables)
    .filter((name) => (variables[name] ?? '') !== '' && !known.has(name))
    .sort()
    .flatMap((name) => {
      const free = [...known].filter((one) => one.length >= LEAST_LENGTH && !variables[one]);
      const meant = nearestName(name, free);
      if (meant !== undefined) {
        return [told`The variable ${name} is not known and does nothing. Did you mean ${meant}?`];
      }
      const isOurs = OWN_PREFIX.test(name) && !SERVICE_LINK.test(name);
      return isOurs ? [told`The variable ${name} is not known and does nothing.`] : [];
    });
}
