// Lets a request into the admin API: with the console password, as a signed-in browser, or from this
// machine while no password is set.

import { GatewayError } from '../../canonical/error.ts';
import type { ConsoleLogin } from '../../door/console-login.ts';
import { told } from '../../lib/told.ts';
import { classifyPeer, isOwnNumericPage, isOwnPage, type PeerInput } from './locality.ts';

export interface ConsoleInput {
  readonly login: ConsoleLogin;
  /** Keys and passwords that the request shows. */
  readonly credentials: readonly string[];
  /** The secret of its session cookie. */
  readonly cookie: string | undefined;
  readonly method: string;
  /** The client's, as the limits count it. */
  readonly address: string;
  readonly peer: PeerInput;
}

export interface ConsoleEntry {
  /** Whether the same would be let in now, for answers that go on. */
  isStillIn(): boolean;
  readonly hasShownPassword: boolean;
}

/**
 * The mode of model requests does not matter here: with a password it is asked for in every mode.
 * A web page of another origin is refused whatever it shows, also one that may call the models.
 * @throws GatewayError unauthenticated, forbidden or rate-limited, with the way out.
 */
export async function authenticateConsole(input: ConsoleInput): Promise<ConsoleEntry> {
  const { login, credentials, cookie, address, peer } = input;
  if (!login.needsPassword) {
    if (classifyPeer(peer) !== 'local') {
      throw refused(
        told`Set WEB_PASSWORD where the gateway runs to use the admin API from elsewhere.`,
      );
    }
    return { isStillIn: () => !login.needsPassword, hasShownPassword: false };
  }
  if (credentials.length > 0) {
    // One try for each request: several credentials would be several.
    const [credential = '', ...others] = new Set(credentials);
    if (others.length > 0 || !(await login.isPassword(credential, address))) throw wrongPassword();
    if (!isSamePage(peer)) throw foreignPage();
    const { passwordTag } = login;
    return { isStillIn: () => login.passwordTag === passwordTag, hasShownPassword: true };
  }
  if (cookie === undefined || login.findSession(cookie) === undefined) throw wrongPassword();
  checkBrowserCall(input);
  return { isStillIn: () => login.hasSession(cookie), hasShownPassword: false };
}

/**
 * What a browser sends by itself is no proof of what its user wants: a change also needs a header
 * that no foreign page can add, and to come from a page of ours.
 * @throws GatewayError forbidden
 */
export function checkBrowserCall({ method, peer }: Pick<ConsoleInput, 'method' | 'peer'>): void {
  if (!isSamePage(peer)) throw foreignPage();
  if (method === 'GET' || method === 'HEAD') return;
  if (peer.headers[CONSOLE_HEADER] === '1') return;
  throw new GatewayError({
    kind: 'forbidden',
    source: 'client',
    message: told`A change with the session cookie needs the header "${CONSOLE_HEADER}: 1".`,
  });
}

const CONSOLE_HEADER = 'x-isthmus-console';

/**
 * Besides our own names and port: an allowed name on whatever port a proxy has it, and a page from
 * the very address it calls, where that is numeric.
 */
export function isSamePage(peer: PeerInput): boolean {
  const { origin, 'sec-fetch-site': site } = peer.headers;
  if (site === 'cross-site' || site === 'same-site') return false;
  if (origin === undefined || isOwnPage(peer)) return true;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const port = url?.port || (url?.protocol === 'https:' ? '443' : '80');
  const names = [url?.hostname, `${url?.hostname}:${port}`];
  if (peer.allowedHosts.some((allowed) => names.includes(allowed.toLowerCase()))) return true;
  return isOwnNumericPage(peer);
}

function foreignPage(): GatewayError {
  return new GatewayError({
    kind: 'forbidden',
    source: 'client',
    message: told`The admin API takes no requests of web pages from elsewhere. Behind a proxy, name the host under which the gateway is reached in proxy.allowed_hosts.`,
  });
}

function wrongPassword(): GatewayError {
  return refused(
    told`The admin API needs "Authorization: Bearer <console password>", or a browser that is signed in.`,
  );
}

function refused(message: string): GatewayError {
  return new GatewayError({ kind: 'unauthenticated', source: 'client', message });
}
