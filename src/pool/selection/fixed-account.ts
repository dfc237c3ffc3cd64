// The operator's fixed account: every request goes to it while it can be used.

import type { SelectionPolicy } from './choice.ts';

export const useFixedAccount: SelectionPolicy = ({ usable, fixedAccount }) => {
  if (fixedAccount === undefined) return undefined;
  const candidate = usable.byId(fixedAccount) ?? usable.byLabel(fixedAccount)[0];
  return candidate && { candidate, by: 'fixed-account' };
};
