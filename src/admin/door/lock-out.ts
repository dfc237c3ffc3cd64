// Keeps a change of the settings from shutting out whoever makes it.

import { invalidRequest } from '../../canonical/error.ts';
import type { Settings } from '../../config/effective.ts';
import type { Door } from '../../door/door.ts';
import { told } from '../../lib/told.ts';
import type { AdminCaller } from '../../server/admin-route.ts';

/** What of the settings says who a caller of the admin API is, and whether they may come in. */
export type EntrySettings = Pick<
  Settings,
  'addressFilter' | 'allowedHosts' | 'consolePassword' | 'host' | 'trustedProxies'
>;

/** A change of the settings. */
export interface EntryChange {
  readonly from: EntrySettings;
  /** What would be in force, or will be with the next start. */
  readonly to: EntrySettings;
}

const DELIBERATELY = told`Whoever means it all the same changes the config file on the machine of the gateway.`;

/**
 * Asks whether the same request would still be let in. The mode of model requests and the origins
 * that may call the models do not matter: the console asks for its own password, and takes no page
 * from elsewhere.
 * @throws GatewayError invalid-request, with the way out
 */
export function refuseLockOut(
  door: Pick<Door, 'addresses' | 'login'> | undefined,
  caller: AdminCaller,
  { from, to: next }: EntryChange,
): void {
  const { address, isLocal, isOwnPage, isHeard } = caller.under(next);
  if (next.consolePassword === undefined && !isLocal) {
    throw door?.login.needsPassword === true ? noPassword() : foreignHost();
  }
  if (!isOwnPage) throw foreignHost();
  // The host of another change is of another time: it has been decided on already.
  if (!isHeard && caller.under(from).isHeard) throw unheard(next.host);
  door?.addresses.refuseLockOut(next.addressFilter, { from: caller.address, to: address });
}

function noPassword(): Error {
  return invalidRequest(
    'admin_password',
    told`This would lock you out: without any password the console opens on the machine of the gateway only, and you come from elsewhere. Set another password instead. ${DELIBERATELY}`,
  );
}

function unheard(host: string): Error {
  return invalidRequest(
    'host',
    told`This would lock you out with the next start: the gateway would listen at ${host} only, and you reach it at another of its addresses. Take 0.0.0.0 for all of them, or :: where there is IPv6. ${DELIBERATELY}`,
  );
}

function foreignHost(): Error {
  return invalidRequest(
    'allowed_hosts',
    told`This would lock out the page you use: the name of its host would be none of the gateway's. Leave that name among the allowed hosts, or make this change from a page at another of its names. ${DELIBERATELY}`,
  );
}
