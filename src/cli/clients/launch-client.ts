// `isthmus launch`: starts a client on the gateway with flags and variables, and leaves its own settings alone.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { LaunchFile, LaunchPlan } from '../../clients/client-settings.ts';
import { isLoopbackHost, withoutBrackets } from '../../lib/net.ts';
import {
  clientsFolder,
  findSetUp,
  keepKey,
  readConnections,
  type SetUpFlags,
} from './client-gateway.ts';
import { type ClientContext, findClient, inFile } from './connect-client.ts';
import { findFile, findProgram, type Machine } from './place.ts';
import { readText, replaceText } from './settings-file.ts';
import { readTree, setEntries, valueAt } from './settings-formats.ts';

/** A program with its arguments and all its variables. */
export interface Start {
  readonly path: string;
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** What is to be started; nothing else was done but that a key may have been made, and a file written for the client. */
export async function prepareLaunch(
  context: ClientContext,
  {
    id,
    args,
    flags,
  }: { readonly id: string; readonly args: readonly string[]; readonly flags: SetUpFlags },
): Promise<Start> {
  const { machine, dataDir } = context;
  const client = findClient(id);
  const path = findProgram(client.program, machine);
  if (path === undefined) {
    throw new Error(
      `${client.name} is not installed: there is no program "${client.program}" in PATH.`,
    );
  }
  const connections = readConnections(dataDir);
  const gateway = await context.findGateway();
  const options = { ...gateway, keys: connections.keys, mayMakeKey: true };
  const { setUp, newKey } = await findSetUp(client, flags, options);
  keepKey(dataDir, connections, newKey);
  const plan = withFile(context, id, client.launch(setUp));
  return {
    path,
    args: [...(plan.args ?? []), ...args],
    variables: {
      ...machine.variables,
      ...pastProxies(gateway.url, machine.variables),
      ...Object.fromEntries(plan.variables ?? []),
    },
  };
}

/** Clients obey the proxy of the environment, which mostly cannot reach this machine. */
function pastProxies(url: string, variables: Machine['variables']): Machine['variables'] {
  const { hostname } = new URL(url);
  const isProxied = Object.keys(variables).some((name) => /^(?:https?|all)_proxy$/i.test(name));
  if (!isProxied || !isLoopbackHost(hostname)) return {};
  const known = variables.no_proxy || variables.NO_PROXY;
  const host = withoutBrackets(hostname);
  const list = known ? `${known},${host}` : host;
  return { NO_PROXY: list, no_proxy: list };
}

/** With the file that the client is handed, which is in the data folder and written anew at each launch. */
function withFile({ machine, dataDir }: ClientContext, id: string, plan: LaunchPlan): LaunchPlan {
  const { file, args = [], variables = [] } = plan;
  const text = file === undefined ? undefined : writeContent(file.content, machine);
  if (file === undefined || text === undefined) return plan;
  const folder = join(clientsFolder(dataDir), 'launch', id);
  const path = join(folder, ...file.name.split('/'));
  replaceText(path, text);
  const handed = file.hand(path, folder);
  return {
    args: [...(handed.args ?? []), ...args],
    variables: [...variables, ...(handed.variables ?? [])],
  };
}

/** Undefined where the client's own file says the same. */
function writeContent(content: LaunchFile['content'], machine: Machine): string | undefined {
  if (typeof content === 'string') return content;
  const { path, format } = findFile(content.of, machine);
  return inFile(path, () => {
    const text = readText(path) ?? '';
    const tree = readTree(format, text);
    const isSo = content.entries.every(({ path, value }) =>
      isDeepStrictEqual(valueAt(tree, path), value),
    );
    return isSo ? undefined : setEntries(format, text, content.entries);
  });
}

/** Becomes the program; where the system cannot do that, starts it and waits. @returns the exit code */
export async function start({ path, args, variables }: Start): Promise<number> {
  const environment = Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  if (process.platform !== 'win32') process.execve?.(path, [path, ...args], environment);
  // Scripts of npm are run by a shell there.
  const shell = /\.(?:cmd|bat)$/i.test(path);
  const child = spawn(path, args, { stdio: 'inherit', env: environment, shell });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
