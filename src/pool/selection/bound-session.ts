// Keeps a session on the account it is bound to, so that upstream prompt caching pays.

import type { SelectionPolicy } from './choice.ts';

export const preferBoundSession: SelectionPolicy = ({ usable, boundAccountIds }) => {
  for (const accountId of boundAccountIds) {
    const candidate = usable.byId(accountId);
    if (candidate !== undefined) return { candidate, by: 'session' };
  }
  return undefined;
};
