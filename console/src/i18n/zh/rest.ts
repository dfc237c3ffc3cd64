// The Chinese texts that the other pages need besides.

import { protocols } from '../protocols.ts';
import { accounts } from './accounts.ts';
import { addAccount } from './add-account.ts';
import { alerts } from './alerts.ts';
import { attempts } from './attempts.ts';
import { budgets } from './budgets.ts';
import { clients } from './clients.ts';
import { environment } from './environment.ts';
import { keys } from './keys.ts';
import { logs } from './logs.ts';
import { markdown } from './markdown.ts';
import { palette } from './palette.ts';
import { people } from './people.ts';
import { playground } from './playground.ts';
import { provider } from './provider.ts';
import { requests } from './requests.ts';
import { routing } from './routing.ts';
import { security } from './security.ts';
import { settings } from './settings.ts';
import { targets } from './targets.ts';
import { textView } from './text-view.ts';
import { usage } from './usage.ts';

export const rest = {
  protocols,
  accounts,
  addAccount,
  routing,
  targets,
  provider,
  budgets,
  keys,
  requests,
  alerts,
  attempts,
  textView,
  usage,
  settings,
  environment,
  logs,
  security,
  markdown,
  palette,
  people,
  playground,
  clients,
};
