// All Chinese texts, by page.

import { accounts } from './zh/accounts.ts';
import { addAccount } from './zh/add-account.ts';
import { attempts } from './zh/attempts.ts';
import { clients } from './zh/clients.ts';
import { common } from './zh/common.ts';
import { environment } from './zh/environment.ts';
import { keys } from './zh/keys.ts';
import { logs } from './zh/logs.ts';
import { overview } from './zh/overview.ts';
import { playground } from './zh/playground.ts';
import { provider } from './zh/provider.ts';
import { refusals } from './zh/refusals.ts';
import { requests } from './zh/requests.ts';
import { routing } from './zh/routing.ts';
import { security } from './zh/security.ts';
import { settings } from './zh/settings.ts';
import { shell } from './zh/shell.ts';
import { signIn } from './zh/sign-in.ts';
import { textView } from './zh/text-view.ts';
import { usage } from './zh/usage.ts';

export const zh = {
  common,
  shell,
  signIn,
  overview,
  accounts,
  addAccount,
  routing,
  provider,
  keys,
  requests,
  attempts,
  refusals,
  textView,
  usage,
  settings,
  environment,
  logs,
  security,
  playground,
  clients,
};
