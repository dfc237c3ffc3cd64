// Whether requests that an entry of the mapping sends to a name would find no model there.

import { useQuery } from '@tanstack/react-query';
import { modelsQuery, routeQuery } from '../../api/queries/models.ts';

/** False also while it is not known. Names in the list are known to be good without asking. */
export function useGoesNowhere(target: string): boolean {
  const { data: listed } = useQuery(modelsQuery);
  const isAsked = listed?.models.some(({ id }) => id === target) === false;
  const { data: route, isPlaceholderData } = useQuery({ ...routeQuery(target), enabled: isAsked });
  return isAsked && !isPlaceholderData && route?.servedAs === null;
}
