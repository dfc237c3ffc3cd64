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
  readonly model: string | undefined;
  /** A setting that leads it elsewhere, whatever its address is. */
  readonly other?: string;
  /** Why its settings cannot be read. */
  readonly problem?: string;
}

interface ClientOptions {
  /** Of the gateway. */
  readonly url: string;
  /** Whether the gateway takes a key; undefined where none runs. */
  readonly takesKey: ((key: string) => Promise<boolean>) | undefined;
  /** Models that no account serves, as far as the gateway tells. */
  readonly unserved: ReadonlySet<string>;
}

export async function checkClients(
  clients: readonly FoundClient[],
  options: ClientOptions,
): Promise<readonly Finding[]> {
  const found = clients.filter(
    ({ isInstalled, address, problem }) => isInstalled || (address ?? problem) !== undefined,
  );
  if (found.length === 0)
    return [findingsOf('clients').info('No client was found on this machine.')];
  return Promise.all(found.map((client) => checkClient(client, options)));
}

async function checkClient(
  { id, name, place, address, basePath, key, model, other, problem }: FoundClient,
  { url, takesKey, unserved }: ClientOptions,
): Promise<Finding> {
  const { ok, info, warning, error } = findingsOf('clients');
  const expected = url + basePath;
  const isVariable = place.kind === 'variable';
  const connect = isVariable ? `export ${place.name}=${expected}` : `isthmus connect ${id}`;
  if (problem !== undefined) {
    return warning(`The settings of ${name} cannot be read (${place.name}): ${problem}`);
  }
  if (address === undefined || !URL.canParse(address)) {
    return info(`${name} is not connected.`, connect);
  }
  const [given, own] = [new URL(address), new URL(url)];
  if (!isSameGateway(given, own)) {
    // Another server is somebody's choice; another port of this machine was that of a gateway.
    const say = isSameMachine(given, own) ? warning : info;
    return say(`${name} points to ${given.origin}, not to this gateway (${place.name}).`, connect);
  }
  // Loopback has several names: the host cannot be wrong here.
  const isProtocol = given.protocol !== own.protocol;
  if (isProtocol || given.pathname.replace(/\/+$/, '') !== basePath) {
    const what = isProtocol ? 'protocol' : 'base path';
    return error(
      `${name} has the wrong ${what}: ${address} in ${place.name}; it must be ${expected}.`,
      connect,
    );
  }
  if (other !== undefined) {
    return warning(
      `${name} has the address of this gateway, but ${other} leads it elsewhere.`,
      connect,
    );
  }
  if (key !== undefined && takesKey !== undefined && !(await takesKey(key))) {
    return error(
      `The gateway does not accept the key of ${name} (${place.name}).`,
      isVariable ? 'Give it one that "isthmus keys add" makes.' : connect,
    );
  }
  if (model !== undefined && unserved.has(model)) {
    return error(
      `${name} asks for the model ${model}, which nobody serves (${place.name}).`,
      `isthmus connect ${id} --model …; "isthmus models" lists those there are.`,
    );
  }
  return ok(`${name} is connected.`);
}

function isSameGateway(left: URL, right: URL): boolean {
  return portOf(left) === portOf(right) && isSameMachine(left, right);
}

/** Loopback has several names. */
function isSameMachine(left: URL, right: URL): boolean {
  const isLoopback = [left, right].every(({ hostname }) => isLoopbackHost(hostname));
  return isLoopback || left.hostname === right.hostname;
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}
