// Keeps a session on the account it is bound to, so that upstream prompt caching pays.

import { preferring, type SelectionPolicy } from './candidate.ts';

export const preferBoundSession: SelectionPolicy = (candidates, { boundAccountId }) =>
  boundAccountId === undefined
    ? candidates
    : preferring(candidates, (candidate) => candidate.accountId === boundAccountId);
