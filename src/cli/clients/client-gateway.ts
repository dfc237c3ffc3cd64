// What a client is given of a gateway (its address, a key that it takes, a model that it offers), and what is noted of it.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SetUp } from '../../clients/client-settings.ts';
import { isJsonObject, type JsonObject, parseJson, parseObject } from '../../lib/json.ts';
import { nearestName } from '../../lib/names.ts';
import { type AdminClient, type GatewayFetch, sayUnreached } from '../admin-client.ts';
import { makeDataDir } from '../data-folder.ts';
import { CommandError } from '../exit-codes.ts';
import {
  objectOf,
  objectsOf,
  readSecretLine,
  type Said,
  type Terminal,
  textOf,
  textsOf,
} from '../terminal.ts';
import { readText, replaceText, type WrittenFile } from './settings-file.ts';

export type SetUpFlags = Said<'key' | 'model', string>;

/** The flags with the key they name, as the standard input can be read only once. @throws CommandError; Error */
export async function withKey<Flags extends SetUpFlags & Said<'keyFile', string>>(
  { keyFile: file, ...flags }: Flags,
  terminal: Terminal,
) {
  if (file === undefined) return flags;
  if (flags.key !== undefined) {
    throw new CommandError('usage', '--key and --key-file do not go together.');
  }
  return {
    ...flags,
    key: await readSecretLine(terminal, { file, question: '', flag: '--key-file' }),
  };
}

export interface Asked {
  readonly id: string;
  readonly name: string;
  /** The model of its examples. */
  readonly model: string;
}

export interface ClientGateway {
  readonly url: string;
  readonly fetch: GatewayFetch;
  readonly admin: Pick<AdminClient, 'call'>;
}

interface SetUpOptions extends ClientGateway {
  readonly keys: readonly KnownKey[];
  /** False for a mere look: where a key would be made, a word stands for it. */
  readonly mayMakeKey: boolean;
}

interface FoundSetUp {
  readonly setUp: SetUp;
  /** To be kept for the next time. */
  readonly newKey: KnownKey | undefined;
}

/** Any word does where the gateway takes local requests without a key. */
const ANY_KEY = 'any-key';
/** Shorter than any of which the last characters are shown. */
const FUTURE_KEY = 'a-new-key';

/** @throws Error in words: nothing answers, or the key or the model cannot be used */
export async function findSetUp(
  asked: Asked,
  flags: SetUpFlags,
  options: SetUpOptions,
): Promise<FoundSetUp> {
  const { url } = options;
  const { key, newKey, models } = await findKey(asked, flags, options);
  const model = await findModel({ ...options, key, models }, asked, flags.model);
  return { setUp: { address: url, key, model }, newKey };
}

interface FoundKey {
  readonly key: string;
  readonly newKey: KnownKey | undefined;
  /** Undefined for a key that is still to be made. */
  readonly models: readonly string[] | undefined;
}

async function findKey(asked: Asked, flags: SetUpFlags, options: SetUpOptions): Promise<FoundKey> {
  const { url, admin, keys, mayMakeKey } = options;
  const { key: given } = flags;
  const known = keys.find((one) => one.client === asked.id && one.url === url);
  if (given !== undefined) {
    const models = await listModels(options, given);
    if (models === undefined) throw new Error(`The gateway at ${url} refuses this key.`);
    const newKey = { client: asked.id, url, id: null, secret: given };
    return { key: given, newKey: given === known?.secret ? undefined : newKey, models };
  }
  for (const key of [...(known === undefined ? [] : [known.secret]), ANY_KEY]) {
    const models = await listModels(options, key);
    if (models !== undefined) return { key, newKey: undefined, models };
  }
  if (!mayMakeKey) return { key: FUTURE_KEY, newKey: undefined, models: undefined };
  const newKey = await makeKey(asked, url, admin);
  const models = await listModels(options, newKey.secret);
  if (models === undefined) throw new Error(`The gateway at ${url} refuses the key it made.`);
  return { key: newKey.secret, newKey, models };
}

async function makeKey(
  { id, name }: Asked,
  url: string,
  admin: SetUpOptions['admin'],
): Promise<KnownKey> {
  const body = await admin.call('POST', '/api/keys', { name });
  const secret = textOf(body, 'secret');
  return { client: id, url, id: textOf(objectOf(body, 'key'), 'id'), secret };
}

/** The names that a key may ask for and that answer in text; undefined for a key that is refused. */
async function listModels(
  gateway: ClientGateway,
  key: string,
): Promise<readonly string[] | undefined> {
  const { url } = gateway;
  const { status, body } = await get(gateway, '/v1/models', key);
  if (status === 401 || status === 403) return undefined;
  const isOurs = objectsOf(body, 'data').every((model) => textOf(model, 'owned_by') === 'isthmus');
  if (status !== 200 || !isOurs || !Array.isArray(body.data)) {
    throw new Error(`What answers at ${url} is no isthmus gateway (status ${status}).`);
  }
  return objectsOf(body, 'models')
    .filter((model) => textsOf(model, 'supportedGenerationMethods').includes('generateContent'))
    .map((model) => textOf(model, 'name').replace(/^models\//, ''));
}

async function get({ url, fetch }: ClientGateway, path: string, key: string) {
  const headers = { authorization: `Bearer ${key}` };
  // A redirect would take the key elsewhere.
  const response = await fetch(url + path, { headers, redirect: 'error' }).catch((error) => {
    throw sayUnreached(url, error, 'or name another with --url');
  });
  return { status: response.status, body: parseObject(await response.text()) };
}

interface Offer extends ClientGateway {
  readonly key: string;
  readonly models: readonly string[] | undefined;
}

/** Where no model is asked for: that of the client's examples, else the first that draws no pictures. */
async function findModel(
  { key, models, ...gateway }: Offer,
  asked: Asked,
  named?: string,
): Promise<string> {
  const { admin } = gateway;
  const isTold = named !== undefined && models !== undefined;
  const catalogue = isTold ? undefined : await readCatalogue(admin);
  const offered = models ?? catalogue?.inText;
  if (offered === undefined) return named ?? asked.model;
  if (named === undefined) {
    const usable = offered.filter((name) => catalogue?.served.has(name) ?? true);
    const model = usable.includes(asked.model)
      ? asked.model
      : (usable.find((name) => !/image|audio|tts|live/.test(name)) ?? usable[0]);
    if (model !== undefined) return model;
    throw new Error('The gateway offers no model yet. Add an account first: isthmus accounts add');
  }
  // Aliases and mappings are not in the list.
  const name = encodeURIComponent(named);
  const isOffered =
    models === undefined
      ? textOf(await admin.call('GET', `/api/route?model=${name}`), 'target') !== ''
      : (await get(gateway, `/v1/models/${name}`, key)).status === 200;
  if (isOffered) return named;
  const meant = nearestName(named, offered);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  throw new Error(
    `The gateway does not offer the model ${named}.${hint} "isthmus models" lists those there are.`,
  );
}

/** Clients are told of names that no account serves now, too; undefined where the gateway does not tell. */
async function readCatalogue(admin: SetUpOptions['admin']) {
  try {
    const listed = objectsOf(await admin.call('GET', '/api/models'), 'models');
    const namesOf = (models: readonly JsonObject[]) => models.map((model) => textOf(model, 'id'));
    return {
      inText: namesOf(listed.filter((model) => textsOf(model, 'tasks').includes('generate'))),
      served: new Set(namesOf(listed.filter((model) => textOf(model, 'servedAs') !== ''))),
    };
  } catch (error) {
    if (error instanceof CommandError && error.reason === 'refused') return undefined;
    throw error;
  }
}

// The record of what `connect` wrote and which keys it made, in the data folder.

export interface KnownKey {
  readonly client: string;
  readonly url: string;
  /** Null for one that was given; else it was made. */
  readonly id: string | null;
  readonly secret: string;
}

export interface Connection {
  readonly client: string;
  /** Where its settings are those of one project, or a file that was named. */
  readonly place?: string;
  readonly url: string;
  readonly model: string;
  readonly files: readonly WrittenFile[];
}

interface Connections {
  readonly keys: readonly KnownKey[];
  readonly connections: readonly Connection[];
}

const FOLDER = 'isthmus-clients';

/** The folder of the record, and of files that clients are launched with. */
export function clientsFolder(dataDir: string): string {
  makeDataDir(dataDir);
  const folder = join(dataDir, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** @throws Error when the record cannot be read */
export function readConnections(dataDir: string): Connections {
  const path = join(dataDir, FOLDER, 'connections.json');
  const text = readText(path);
  if (text === undefined) return { keys: [], connections: [] };
  const stored = parseJson(text);
  if (!isJsonObject(stored) || !Array.isArray(stored.keys) || !Array.isArray(stored.connections)) {
    throw new Error(`${path} is not what isthmus wrote there. Move it away to begin a new record.`);
  }
  return stored as unknown as Connections;
}

export function saveConnections(dataDir: string, connections: Connections): void {
  const path = join(clientsFolder(dataDir), 'connections.json');
  replaceText(path, `${JSON.stringify(connections, null, 2)}\n`);
}

/** Several where variables of the client named one folder for its settings, and later another. */
export function connectionsOf(
  { connections }: Connections,
  client: string,
  place: string | undefined,
): readonly Connection[] {
  return connections.filter((one) => one.client === client && one.place === place);
}

export function isIn(
  { files }: Connection,
  targets: readonly { readonly file: Pick<WrittenFile, 'path'> }[],
) {
  return files.some(({ path }) => targets.some(({ file }) => file.path === path));
}

/** The record with this connection in place of the one before it; without one, that is taken out. */
export function withConnection(
  { keys, connections }: Connections,
  known: Connection | undefined,
  connection: Connection | undefined,
): Connections {
  const others = connections.filter((one) => one !== known);
  return { keys, connections: connection === undefined ? others : [...others, connection] };
}

/** A key takes the place of the one that the client had at the gateway. */
export function keepKey(
  dataDir: string,
  { keys, connections }: Connections,
  newKey: KnownKey | undefined,
): Connections {
  if (newKey === undefined) return { keys, connections };
  const isOther = ({ client, url }: KnownKey): boolean =>
    client !== newKey.client || url !== newKey.url;
  const kept = { keys: [...keys.filter(isOther), newKey], connections };
  saveConnections(dataDir, kept);
  return kept;
}
