// The Chinese texts of the shell and the overview, and of what stands on every page.

import { account } from './account.ts';
import { common } from './common.ts';
import { overview } from './overview.ts';
import { refusals } from './refusals.ts';
import { roles } from './roles.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';

export const first = {
  common,
  shell,
  signIn,
  roles,
  overview,
  account,
  refusals,
};
