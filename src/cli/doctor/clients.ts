// What `isthmus doctor` says of the clients of this machine: where their settings point, and whether their key is taken.

import { isLoopbackHost } from '../../lib/net.ts';
import { type Finding, findingsOf } from './findings.ts';

/** A client that is installed, or has settings. */
export interface FoundClient {
  readonly id: string;
  readonly name: string;
  readonly isInstalled: boolean;
  /** Where its settings are: a file, or a variable of this shell. */
  readonly place: { readonly kind: 'file' | 'variable'; readonly name: string };
  /** The address in its settings; undefined where they name none. */
  readonly address: string | undefined;
  /** What has to stand behind the address of the gateway, such as `/v1`. */
  readonly basePath: string;
  readonly key: string | undefined;
}

interface ClientOptions {
  /** Of the gateway. */
  readonly url: string;
  /** Whether the gateway takes a key; undefined where none runs. */
  readonly takesKey: ((key: string) => Promise<boolean>) | undefined;
}

export async function checkClients(
  clients: readonly FoundClient[],
  options: ClientOptions,
): Promise<readonly Finding[]> {
  const found = clients.filter(({ isInstalled, address }) => isInstalled || address !== undefined);
  if (found.length === 0)
    return [findingsOf('clients').info('No client was found on this machine.')];
  return Promise.all(found.map((client) => checkClient(client, options)));
}

async function checkClient(
  { id, name, place, address, basePath, key }: FoundClient,
  { url, takesKey }: ClientOptions,
): Promise<Finding> {
  const { ok, info, error } = findingsOf('clients');
  const expected = url + basePath;
  const isVariable = place.kind === 'variable';
  const connect = isVariable ? `export ${place.name}=${expected}` : `isthmus connect ${id}`;
  if (address === undefined || !URL.canParse(address)) {
    return info(`${name} is not connected.`, connect);
  }
  const given = new URL(address);
  if (!isSameGateway(given, new URL(url))) {
    return info(`${name} points to ${given.origin}, not to this gateway (${place.name}).`, connect);
  }
  // Loopback has several names: the path alone can be wrong here.
  if (given.pathname.replace(/\/+$/, '') !== basePath) {
    return error(
      `${name} has the wrong base path: ${address} in ${place.name}; it must be ${expected}.`,
      connect,
    );
  }
  if (key !== undefined && takesKey !== undefined && !(await takesKey(key))) {
    return error(
      `The gateway does not accept the key of ${name} (${place.name}).`,
      isVariable ? 'Give it one that "isthmus keys add" makes.' : connect,
    );
  }
  return ok(`${name} is connected.`);
}

/** Loopback has several names. */
function isSameGateway(left: URL, right: URL): boolean {
  const isLoopback = [left, right].every(({ hostname }) => isLoopbackHost(hostname));
  return left.port === right.port && (isLoopback || left.hostname === right.hostname);
}
