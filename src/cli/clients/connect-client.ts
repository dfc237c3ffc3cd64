// `isthmus connect`: writes the settings of a client after showing the difference, and takes them back.

import { rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { CodingClient, SettingEntry } from '../../clients/client-settings.ts';
import { CODING_CLIENTS, SDK_VARIABLES, type SdkVariables } from '../../clients/coding-clients.ts';
import { writeExport } from '../../clients/write-settings.ts';
import { compareLines } from '../../lib/difference.ts';
import type { JsonObject } from '../../lib/json.ts';
import { isExposed } from '../../lib/private-file.ts';
import type { ConnectFlags } from '../admin-client.ts';
import { CommandError } from '../exit-codes.ts';
import { confirm, type Said, type Terminal, unwritable, writeTable } from '../terminal.ts';
import {
  type Asked,
  type ClientGateway,
  type Connection,
  clientsFolder,
  connectionsOf,
  findSetUp,
  isIn,
  keepKey,
  readConnections,
  type SetUpFlags,
  saveConnections,
  withConnection,
} from './client-gateway.ts';
import { type FoundFile, findFile, findProgram, findProjectFile, type Machine } from './place.ts';
import {
  digestOf,
  readText,
  removeFolders,
  removeText,
  replaceText,
  takeBack,
  type WrittenFile,
  writeEntries,
} from './settings-file.ts';
import { SettingsError } from './settings-formats.ts';

export type ClientFlags = ConnectFlags &
  SetUpFlags &
  Said<'variablesFile' | 'scope', string> &
  Said<'undo' | 'yes' | 'dryRun' | 'json', boolean>;

export interface ClientContext {
  readonly terminal: Terminal;
  readonly machine: Machine;
  readonly dataDir: string;
  /** Asked where one is needed: to take something back none is. */
  findGateway(): Promise<ClientGateway>;
  answer(body: JsonObject, sayInWords: () => void): void;
}

/** @throws Error for an unknown client */
export function findClient(id: string): CodingClient {
  const client = CODING_CLIENTS.find((one) => one.id === id || one.program === id);
  if (client !== undefined) return client;
  const ids = [...CODING_CLIENTS, ...SDK_VARIABLES].map((one) => one.id).join(', ');
  throw new CommandError('usage', `There is no client "${id}". There are: ${ids}.`);
}

export async function connectClient(
  context: ClientContext,
  id: string,
  flags: ClientFlags,
): Promise<void> {
  if (id === '') {
    const { undo, yes, dryRun, model, key, variablesFile } = flags;
    if (!(undo || yes || dryRun || (model ?? key ?? variablesFile))) return listClients(context);
    throw new CommandError(
      'usage',
      'Name a client: "isthmus connect" without flags lists those there are.',
    );
  }
  const sdk = SDK_VARIABLES.find((one) => one.id === id);
  if (sdk !== undefined) return connectSdk(context, sdk, flags);
  if (flags.variablesFile !== undefined)
    throw new CommandError('usage', '--variables-file goes with an SDK only.');
  const client = findClient(id);
  const { files, place } = placesOf(client, context.machine, flags.scope);
  if (flags.undo) return disconnect(context, client, { files, place, flags });
  await write(context, { asked: client, files, place, hint: client.hint }, flags);
}

interface Target {
  readonly file: FoundFile;
  write(setUp: Parameters<SdkVariables['write']>[0]): readonly SettingEntry[];
}

function placesOf(client: CodingClient, machine: Machine, scope = 'user') {
  if (scope === 'user') {
    const files = client.files.map((file) => ({
      file: findFile(file, machine),
      write: file.write,
    }));
    return { files, place: undefined };
  }
  const { projectFile } = client;
  if (projectFile === undefined) {
    throw new CommandError(
      'usage',
      `${client.name} has no settings of a project that stay on this machine: a key would be shared with it.`,
    );
  }
  const file = findProjectFile(projectFile, machine);
  return { files: [{ file, write: projectFile.write }], place: file.path };
}

async function connectSdk(
  context: ClientContext,
  sdk: SdkVariables,
  flags: ClientFlags,
): Promise<void> {
  const { terminal, machine, answer } = context;
  const place =
    flags.variablesFile === undefined ? undefined : resolve(machine.folder, flags.variablesFile);
  if (flags.undo) return disconnect(context, sdk, { files: [], place, flags });
  if (place !== undefined) {
    const file: FoundFile = { path: place, format: 'dotenv' };
    const toEntries: Target['write'] = (setUp) =>
      sdk.write(setUp).map(([name, value]) => ({ path: [name], value }));
    return write(context, { asked: sdk, files: [{ file, write: toEntries }], place }, flags);
  }
  const connections = readConnections(context.dataDir);
  const { setUp, newKey } = await findSetUp(sdk, flags, {
    ...(await context.findGateway()),
    keys: connections.keys,
    mayMakeKey: flags.dryRun !== true,
  });
  keepKey(context.dataDir, connections, newKey);
  const variables = sdk.write(setUp);
  answer({ client: sdk.id, variables: Object.fromEntries(variables) }, () => {
    const shell = machine.platform === 'win32' ? 'powershell' : 'posix';
    terminal.print(variables.map((variable) => writeExport(variable, shell)).join('\n'));
  });
}

interface Wanted {
  readonly asked: Asked;
  readonly files: readonly Target[];
  readonly place: string | undefined;
  readonly hint?: string | undefined;
}

/** One file as it is, as it was before isthmus, and as it is to be. */
interface PlannedFile {
  readonly file: FoundFile;
  readonly current: string | undefined;
  readonly base: string | undefined;
  readonly next: string | undefined;
  readonly changes: WrittenFile['changes'];
}

async function write(
  context: ClientContext,
  { asked, files, place, hint }: Wanted,
  flags: ClientFlags,
): Promise<void> {
  const { terminal, dataDir, answer } = context;
  const connections = readConnections(dataDir);
  const known = connectionsOf(connections, asked.id, place).find((one) => isIn(one, files));
  // Whether a file can be edited is known before a key is made.
  const trial = { address: 'http://127.0.0.1', key: 'key', model: 'model' };
  for (const target of files) plan(target, known, trial);
  const gateway = await context.findGateway();
  const { url } = gateway;
  const options = { ...gateway, keys: connections.keys };
  const remembered = known?.url === url ? known.model : undefined;
  const named = { ...flags, model: flags.model ?? remembered };
  const look = await findSetUp(asked, named, { ...options, mayMakeKey: false });
  const first = files.map((target) => plan(target, known, look.setUp));
  const body = { client: asked.id, url, model: look.setUp.model };
  if (first.every(({ current, next }) => current === next)) {
    const said = `${asked.name} is already connected to ${url}, with the model ${look.setUp.model}.`;
    return answer({ ...body, state: 'connected', changed: false }, () => terminal.print(said));
  }
  const question = `Write this for ${asked.name}?`;
  const shown = { files: first, secrets: [look.setUp.key], question, body };
  if (!(await mayChange(context, shown, flags))) return;
  const { setUp, newKey } = await findSetUp(asked, named, { ...options, mayMakeKey: true });
  const kept = keepKey(dataDir, connections, newKey);
  const planned = files.map((target) => plan(target, known, setUp));
  const written = storeAll(planned, known, (path) => copyPath(dataDir, asked.id, path));
  const connection: Connection = {
    client: asked.id,
    ...(place === undefined ? {} : { place }),
    ...{ url, model: setUp.model, files: written },
  };
  saveConnections(dataDir, withConnection(kept, known, connection));
  const paths = written.map(({ path }) => path);
  answer({ ...body, state: 'connected', changed: true, files: paths }, () => {
    terminal.print(`${asked.name} is connected to ${url}, with the model ${setUp.model}.`);
    if (newKey?.id) terminal.note(`A key named "${asked.name}" was made for it.`);
    for (const { file, next } of planned) {
      if (!next?.includes(setUp.key) || !isExposed(file.path)) continue;
      terminal.note(`Other users of this machine may read the key in ${file.path}: chmod 600 it.`);
    }
    if (hint !== undefined) terminal.note(hint);
    const where = place === undefined ? '' : ' from the same folder with the same flags';
    terminal.note(`Take it back${where}: isthmus connect ${asked.id} --undo`);
  });
}

/** Each plan begins with the file as it was before isthmus: what was written last time is no part of it. */
function plan(
  { file, write: writeFor }: Target,
  known: Connection | undefined,
  setUp: Parameters<Target['write']>[0],
): PlannedFile {
  return inFile(file.path, () => {
    const current = readText(file.path);
    const earlier = known?.files.find(({ path }) => path === file.path);
    const base = earlier === undefined ? current : takeBack(current, earlier);
    const { text: next, changes } = writeEntries(file.format, base, writeFor(setUp));
    return { file, current, base, next, changes };
  });
}

/** A file that cannot be edited is named, and nothing was written then. */
export function inFile<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new Error(`${path} was left as it is. ${error.message}`, { cause: error });
  }
}

/** All of them, or none. */
function storeAll(
  planned: readonly PlannedFile[],
  known: Connection | undefined,
  copyOf: (path: string) => string,
): readonly WrittenFile[] {
  const written: WrittenFile[] = [];
  for (const one of planned) {
    try {
      written.push(store(one, known, copyOf(one.file.path)));
    } catch (error) {
      for (const [index, { path, folders }] of written.entries()) {
        restoreText(path, planned[index]?.current);
        removeFolders(folders);
      }
      throw unwritable(one.file.path, error);
    }
  }
  return written;
}

function restoreText(path: string, text: string | undefined): void {
  if (text === undefined) removeText(path);
  else replaceText(path, text);
}

function store(
  { file, base, next = '', changes }: PlannedFile,
  known: Connection | undefined,
  copy: string,
): WrittenFile {
  if (base !== undefined) replaceText(copy, base);
  const made = replaceText(file.path, next);
  const earlier = known?.files.find(({ path }) => path === file.path);
  return {
    ...file,
    before: base ?? null,
    digest: digestOf(next),
    changes,
    folders: made.length > 0 ? made : (earlier?.folders ?? []),
  };
}

/** For people; the record has the text too. */
function copyPath(dataDir: string, id: string, path: string): string {
  return join(clientsFolder(dataDir), `${id}.${basename(path)}.before`);
}

interface Shown {
  readonly files: readonly Pick<PlannedFile, 'file' | 'current' | 'next'>[];
  readonly secrets: readonly string[];
  readonly question: string;
  /** Of the answer where nothing is changed. */
  readonly body: JsonObject;
}

/** Shows what changes, and asks; false where it was only to be shown. @throws Error when the answer is no */
async function mayChange(
  { terminal, answer }: ClientContext,
  { files, secrets, question, body }: Shown,
  flags: ClientFlags,
): Promise<boolean> {
  const diff = files
    .filter(({ current, next }) => current !== next)
    .map(({ file, current, next }) =>
      writeDiff(file.path, { before: current, after: next }, secrets),
    )
    .join('\n');
  if (flags.dryRun) {
    answer({ ...body, changed: false, diff }, () => terminal.print(diff));
    return false;
  }
  if (!flags.json) terminal.print(diff);
  await confirm(terminal, { question, yes: flags.yes });
  return true;
}

async function disconnect(
  context: ClientContext,
  { id, name }: Asked,
  { files, place, flags }: Pick<Wanted, 'files' | 'place'> & { readonly flags: ClientFlags },
): Promise<void> {
  const { terminal, dataDir, answer } = context;
  const connections = readConnections(dataDir);
  const all = connectionsOf(connections, id, place);
  const known = all.find((one) => isIn(one, files)) ?? all.at(-1);
  if (known === undefined) {
    return answer({ client: id, state: 'not connected', changed: false }, () =>
      terminal.print(`${name} is not connected: there is nothing to take back.`),
    );
  }
  const plans = known.files.map((file) =>
    inFile(file.path, () => {
      const current = readText(file.path);
      return { file, current, next: takeBack(current, file) };
    }),
  );
  const secrets = connections.keys.map(({ secret }) => secret);
  const question = `Take this back for ${name}?`;
  const shown = { files: plans, secrets, question, body: { client: id } };
  if (!(await mayChange(context, shown, flags))) return;
  for (const { file, current, next } of plans) {
    if (next !== current) restoreText(file.path, next);
    rmSync(copyPath(dataDir, id, file.path), { force: true });
  }
  removeFolders(plans.flatMap(({ file }) => file.folders));
  saveConnections(dataDir, withConnection(connections, known, undefined));
  answer({ client: id, state: 'not connected', changed: true }, () =>
    terminal.print(`${name} has the settings it had before.`),
  );
}

function listClients({ terminal, machine, dataDir, answer }: ClientContext): void {
  const { connections } = readConnections(dataDir);
  const clients = CODING_CLIENTS.map((client) => {
    const program = findProgram(client.program, machine);
    const known = connections.filter((one) => one.client === client.id);
    return {
      id: client.id,
      name: client.name,
      program: program ?? null,
      connections: known.map((one) => ({
        url: one.url,
        model: one.model,
        files: one.files.map(({ path }) => path),
        state: stateOf(one),
      })),
    };
  });
  answer({ clients }, () => {
    const columns = {
      client: 'id',
      name: 'name',
      installed: (row: object) => ('program' in row && row.program ? 'yes' : 'no'),
      state: (row: object) => describeConnections(row),
    };
    terminal.print(writeTable(columns, clients));
    const sdks = SDK_VARIABLES.map(({ id }) => id).join(', ');
    terminal.note(`Connect one: isthmus connect <client>. Variables of SDKs: ${sdks}.`);
  });
}

function describeConnections(row: object): string {
  const { connections } = row as {
    readonly connections: readonly { url: string; model: string; state: string }[];
  };
  if (connections.length === 0) return 'not connected';
  return connections.map(({ url, model, state }) => `${state} to ${url} (${model})`).join('; ');
}

/** Whether what was written still stands there. */
function stateOf({ files }: Connection) {
  const states = files.map(stateOfFile);
  const worst = ['settings unreadable', 'settings gone', 'edited since'] as const;
  return worst.find((state) => states.includes(state)) ?? 'connected';
}

function stateOfFile({ path, digest }: WrittenFile) {
  try {
    const text = readText(path);
    if (text === undefined) return 'settings gone';
    return digestOf(text) === digest ? 'connected' : 'edited since';
  } catch (error) {
    if (error instanceof SettingsError) return 'settings unreadable';
    throw error;
  }
}

const CONTEXT = 3;

type Line = ReturnType<typeof compareLines>[number];

const SIGNS: Readonly<Record<Line['kind'], string>> = { same: ' ', removed: '-', added: '+' };

/** @param secrets texts that are shown by their last characters only, beside what looks like a secret by its name */
function writeDiff(
  path: string,
  { before, after }: { readonly before: string | undefined; readonly after: string | undefined },
  secrets: readonly string[],
): string {
  const lines = compareLines(splitLines(before ?? ''), splitLines(after ?? ''));
  const head = [
    `--- ${before === undefined ? '/dev/null' : path}`,
    `+++ ${after === undefined ? '/dev/null' : path}`,
  ];
  const hunks = listHunks(lines).flatMap(([start, end]) => {
    const part = lines.slice(start, end);
    const ahead = lines.slice(0, start);
    const at = (kind: 'removed' | 'added') => {
      const count = part.filter((line) => line.kind !== kind).length;
      const first = ahead.filter((line) => line.kind !== kind).length + (count === 0 ? 0 : 1);
      return count === 1 ? `${first}` : `${first},${count}`;
    };
    const body = part.map(({ kind, text }) => SIGNS[kind] + hideSecrets(text, secrets));
    return [`@@ -${at('added')} +${at('removed')} @@`, ...body];
  });
  return [...head, ...hunks].join('\n');
}

function splitLines(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Ranges of lines around the changes, which are joined where they would touch. */
function listHunks(lines: readonly Line[]): readonly (readonly [number, number])[] {
  const hunks: [number, number][] = [];
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    const start = Math.max(0, index - CONTEXT);
    const end = Math.min(lines.length, index + CONTEXT + 1);
    const last = hunks.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = end;
    else hunks.push([start, end]);
  }
  return hunks;
}

/** A field whose name says that its value is nobody else's; not the name of a variable that holds one. */
const SECRET_FIELD =
  /(?<![\w.-])((?=[\w.-]*?(?:key|token|secret|password))[\w.-]+["']?\s*[:=]\s*["']?)([^"'\s,{}[\]]{4,})/gi;
const NAME_OF_SECRET = /^(?:env_?key|tokenSource|.*tokens)["']?\s*[:=]/i;

function hideSecrets(line: string, secrets: readonly string[]): string {
  let text = line;
  for (const secret of secrets) {
    if (secret.length >= 8) text = text.replaceAll(secret, hide(secret));
  }
  return text.replace(SECRET_FIELD, (whole, field: string, value: string) =>
    NAME_OF_SECRET.test(field) || value.includes('…') ? whole : field + hide(value),
  );
}

function hide(secret: string): string {
  return secret.length >= 12 ? `…${secret.slice(-4)}` : '…';
}
