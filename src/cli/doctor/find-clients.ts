// The clients of this machine with the address, the key and the model that stand in their settings.

import type { CodingClient, SettingEntry } from '../../clients/client-settings.ts';
import { CODING_CLIENTS } from '../../clients/coding-clients.ts';
import { SDK_VARIABLES, type SdkVariables } from '../../clients/sdk-variables.ts';
import { findFile, findProgram, type Machine } from '../clients/place.ts';
import { readTree } from '../clients/settings-editor.ts';
import { isTree, SettingsError, type Tree, valueAt } from '../clients/settings-tree.ts';
import { readText } from '../clients/text-file.ts';
import type { FoundClient } from './clients.ts';

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
