// The clients of this machine: the address, key and model in their settings, and what `isthmus doctor` finds wrong with them.

import type { CodingClient, SettingEntry } from '../../clients/client-settings.ts';
import { CODING_CLIENTS, SDK_VARIABLES, type SdkVariables } from '../../clients/coding-clients.ts';
import { isLoopbackHost } from '../../lib/net.ts';
import { findFile, findProgram, type Machine } from '../clients/place.ts';
import { readTree } from '../clients/settings-editor.ts';
import { isTree, SettingsError, type Tree, valueAt } from '../clients/settings-formats.ts';
import { readText } from '../clients/text-file.ts';
import { type Finding, findingsOf } from './checks.ts';

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
    // Another server is a choice; another port of this machine was that of a gateway.
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

/** Stand for what settings are filled with: where they come out is where a client's own values are. */
const PROBE = {
  address: 'http://probe-address.invalid',
  key: 'probe-key-0123456789',
  model: 'probe-model-0123456789',
} as const;

/** Coding CLIs by their settings, and SDKs by the variables of this shell. */
export function findClients(machine: Machine): readonly FoundClient[] {
  return [
    ...CODING_CLIENTS.map((client) => findClient(client, machine)),
    ...SDK_VARIABLES.map((sdk) => findSdk(sdk, machine)),
  ];
}

function findClient(client: CodingClient, machine: Machine): FoundClient {
  const { id, name, program } = client;
  const found = { id, name, isInstalled: findProgram(program, machine) !== undefined };
  let values: Values = { basePath: '', address: undefined, key: undefined, model: undefined };
  let place: FoundClient['place'] = { kind: 'file', name: '' };
  let other: string | undefined;
  for (const file of client.files) {
    const { path, format } = findFile(file, machine);
    const entries = file.write(PROBE);
    try {
      const text = readText(path) ?? '';
      // What is set for every shell may as well stand in this one only.
      const isShell = file.format === 'posix';
      const tree = { ...(isShell ? machine.variables : {}), ...readTree(format, text) };
      const read = readValues(entries, tree);
      other ??= findOther(entries, tree);
      if (read.basePath !== undefined) place = { kind: 'file', name: path };
      values = { ...values, ...read };
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      return {
        ...{ ...found, ...values, place: { kind: 'file', name: path } },
        problem: error.message,
      };
    }
  }
  return { ...found, ...values, place, ...(other === undefined ? {} : { other }) };
}

function findSdk({ id, name, write, otherKeys }: SdkVariables, machine: Machine): FoundClient {
  const entries = write(PROBE).map(([name, value]) => ({ path: [name], value }));
  const values = readValues(entries, machine.variables);
  const others = otherKeys.map((one) => machine.variables[one]);
  return {
    ...{ id, name, isInstalled: false, basePath: '', address: undefined, model: undefined },
    ...values,
    key: [...others, values.key].find((value) => value),
    place: { kind: 'variable', name: write(PROBE)[0]?.[0] ?? '' },
  };
}

type Values = Pick<FoundClient, 'basePath' | 'address' | 'key' | 'model'>;

/** Only what these entries hold. */
function readValues(entries: readonly SettingEntry[], tree: Tree): Partial<Values> {
  const values: { -readonly [Name in keyof Values]?: Values[Name] } = {};
  for (const { path, value } of entries) {
    for (const { below, text } of leavesOf(value)) {
      const given = valueAt(valueAt(tree, path), below);
      const current = typeof given === 'string' && given !== '' ? given : undefined;
      if (text.startsWith(PROBE.address)) {
        values.basePath = text.slice(PROBE.address.length).replace(/\/+$/, '');
        values.address = current;
      } else if (text === PROBE.key) {
        values.key = current;
      } else if (text.endsWith(PROBE.model)) {
        const prefix = text.slice(0, -PROBE.model.length);
        values.model ??= current?.startsWith(prefix) ? current.slice(prefix.length) : undefined;
      }
    }
  }
  return values;
}

/** A setting by which it does not use the provider that is set up, in words. */
function findOther(entries: readonly SettingEntry[], tree: Tree): string | undefined {
  for (const { path, value, onlyIfMissing } of entries) {
    if (onlyIfMissing || typeof value !== 'string') continue;
    const current = valueAt(tree, path);
    // A model of another provider has its name before it.
    const prefix = value.endsWith(PROBE.model) ? value.slice(0, -PROBE.model.length) : undefined;
    const isProbe = Object.values(PROBE).some((text) => value.includes(text));
    if (prefix === '' || (isProbe && prefix === undefined)) continue;
    const isOurs =
      prefix === undefined ? current === value : String(current ?? '').startsWith(prefix);
    if (!isOurs) return `${path.join('.')} = ${JSON.stringify(current) ?? 'nothing'}`;
  }
  return undefined;
}

interface Leaf {
  readonly below: readonly string[];
  readonly text: string;
}

function leavesOf(value: unknown, below: readonly string[] = []): readonly Leaf[] {
  if (typeof value === 'string') return [{ below, text: value }];
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...below, name]));
}
