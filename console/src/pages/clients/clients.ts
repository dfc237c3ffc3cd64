// Every client the page knows, and finding one.

import type { Models } from '../../../../src/admin/contract.ts';
import { suggestModel } from '../playground/suggest-model.ts';
import type { Client, ClientGroup, Way } from './client.ts';
import { CODING_CLIS } from './coding-clis.ts';
import { OTHER_CLIENTS } from './other-clients.ts';
import { SDKS } from './sdks.ts';

export const CLIENTS: readonly [Client, ...Client[]] = [...CODING_CLIS, ...SDKS, ...OTHER_CLIENTS];

export const CLIENT_GROUPS: readonly ClientGroup[] = ['clis', 'sdks', 'others'];

/** The first one where none has that id. */
export function findClient(id: string | undefined): Client {
  return CLIENTS.find((client) => client.id === id) ?? CLIENTS[0];
}

/** Where no way is chosen: that of the system the page is looked at on, else the first. */
export function findWay({ ways }: Client, id: string | undefined, isWindows: boolean): Way {
  const chosen = ways.find((way) => way.id === id);
  const own = isWindows ? ways.find((way) => way.id === 'powershell') : undefined;
  return chosen ?? own ?? ways[0];
}

export function searchClients(search: string): readonly Client[] {
  const wanted = search.trim().toLowerCase();
  return CLIENTS.filter(({ name, words = '' }) =>
    `${name} ${words}`.toLowerCase().includes(wanted),
  );
}

/** That of the client's examples where it goes somewhere, else the first that answers in text. */
export function pickModel(models: Models['models'], { model }: Pick<Client, 'model'>): string {
  const known = models.filter(({ target }) => target !== null);
  const isOffered = known.some(({ id }) => id === model);
  return isOffered ? model : suggestModel(known, false) || model;
}
