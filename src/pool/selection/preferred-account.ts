// `X-Preferred-Account`: the account with that e-mail, when it can be used.

import type { SelectionPolicy } from './choice.ts';

export const preferPreferredAccount: SelectionPolicy = ({ usable, request }) => {
  if (request.preferredAccount === undefined) return undefined;
  const candidate = usable.byLabel(request.preferredAccount)[0];
  return candidate && { candidate, by: 'preferred-account' };
};
