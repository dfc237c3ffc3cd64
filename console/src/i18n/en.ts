// All English texts, by page.

import { accounts } from './en/accounts.ts';
import { addAccount } from './en/add-account.ts';
import { attempts } from './en/attempts.ts';
import { clients } from './en/clients.ts';
import { common } from './en/common.ts';
import { environment } from './en/environment.ts';
import { keys } from './en/keys.ts';
import { logs } from './en/logs.ts';
import { overview } from './en/overview.ts';
import { playground } from './en/playground.ts';
import { provider } from './en/provider.ts';
import { refusals } from './en/refusals.ts';
import { requests } from './en/requests.ts';
import { routing } from './en/routing.ts';
import { security } from './en/security.ts';
import { settings } from './en/settings.ts';
import { shell } from './en/shell.ts';
import { signIn } from './en/sign-in.ts';
import { textView } from './en/text-view.ts';
import { usage } from './en/usage.ts';

export const en = {
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
