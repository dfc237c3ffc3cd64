// The record of what `connect` wrote and which keys it made, in the data folder.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { makeDataDir } from '../data-folder.ts';
import { readText, replaceText } from './text-file.ts';
import type { WrittenFile } from './written-file.ts';

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

export function findConnection(
  { connections }: Connections,
  client: string,
  place: string | undefined,
): Connection | undefined {
  return connections.find((one) => one.client === client && one.place === place);
}

/** The record with this connection in place of the one before it; without one, that is taken out. */
export function withConnection(
  { keys, connections }: Connections,
  { client, place }: Pick<Connection, 'client' | 'place'>,
  connection: Connection | undefined,
): Connections {
  const others = connections.filter((one) => one.client !== client || one.place !== place);
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
