// `X-Preferred-Account`: the account with that e-mail, when it can be used.

import { preferring, type SelectionPolicy } from './candidate.ts';

export const preferPreferredAccount: SelectionPolicy = (candidates, { request }) => {
  const wanted = request.preferredAccount?.toLowerCase();
  if (wanted === undefined) return candidates;
  return preferring(candidates, (candidate) => candidate.label.toLowerCase() === wanted);
};
