// `isthmus accounts list | test | enable | disable | remove`.

import type { JsonObject } from '../lib/json.ts';
import { encodePath } from './admin-client.ts';
import {
  type Context,
  objectOf,
  objectsOf,
  plain,
  type Said,
  textOf,
  writeTable,
} from './terminal.ts';

const COLUMNS = {
  id: orDash('id'),
  label: orDash('label'),
  upstream: orDash('upstream'),
  kind: orDash('kind'),
  tier: orDash('tier'),
  priority: orDash('priority'),
  state: sayState,
  'least quota': sayQuota,
};

export async function listAccounts({ client, terminal, answer }: Context): Promise<void> {
  const body = await client.call('GET', '/api/accounts');
  answer(body, () => {
    const accounts = objectsOf(body, 'accounts');
    if (accounts.length === 0)
      return terminal.note('There is no account. Add one: isthmus accounts add');
    terminal.print(writeTable(COLUMNS, accounts));
    // What several accounts need is said once.
    const groups = Map.groupBy(accounts, (one) => textOf(objectOf(one, 'status'), 'wayOut'));
    for (const [wayOut, group] of groups) {
      const labels = group.map((account) => textOf(account, 'label')).join(', ');
      if (wayOut !== '') terminal.note(`\n${plain(`${labels}: ${wayOut}`)}`);
    }
  });
}

const STEP_COLUMNS = {
  '': (step: JsonObject) => (step.isGood === true ? 'good' : 'bad'),
  step: 'name',
  took: (step: JsonObject) => `${textOf(step, 'durationMs')} ms`,
  result: 'message',
};

export async function testAccount(
  context: Context,
  name: string,
  { generate = false }: Said<'generate', boolean>,
): Promise<void> {
  const { client, terminal, answer } = context;
  const path = await accountPath(context, name);
  const body = await client.call('POST', `${path}/test`, { generate });
  if (body.isUsable !== true) terminal.setFailed();
  answer(body, () => {
    terminal.print(writeTable(STEP_COLUMNS, objectsOf(body, 'steps')));
    const accepted = generate
      ? 'The account answers.'
      : 'Its credential is accepted. Whether it answers shows --generate, at the cost of one token.';
    terminal.note(body.isUsable === true ? accepted : 'The account cannot be used.');
  });
}

export function switchAccount(action: 'enable' | 'disable') {
  return async (context: Context, name: string): Promise<void> => {
    const path = await accountPath(context, name);
    printAccount(context, await context.client.call('POST', `${path}/${action}`), `is ${action}d.`);
  };
}

export type RemoveFlags = Said<'revoke' | 'yes', boolean>;

export async function removeAccount(
  context: Context,
  name: string,
  { revoke = false, yes = false }: RemoveFlags,
): Promise<void> {
  const { client, terminal, answer } = context;
  const account = await findAccount(context, name);
  const label = plain(textOf(account, 'label'));
  if (!yes) {
    if (!terminal.isInteractive)
      throw new Error('Nobody can be asked here: say --yes to remove it.');
    const agreed = await terminal.ask(`Remove ${label} and its credential? [y/N] `);
    if (!/^y(?:es)?$/i.test(agreed.trim())) throw new Error('Nothing was removed.');
  }
  const path = pathOf(account);
  const body = await client.call('DELETE', revoke ? `${path}?revoke=true` : path);
  answer({ removed: account.id ?? null, ...body }, () => {
    terminal.print(`${label} is removed.`);
    if (!revoke) return;
    terminal.note(
      body.revocation === 'revoked'
        ? 'Its grant was taken back at the provider.'
        : plain(`Its grant still stands at the provider: ${textOf(body, 'reason')}`),
    );
  });
}

/** The account, in a line or as JSON. */
export function printAccount({ terminal, answer }: Context, account: JsonObject, what: string) {
  const line = `${textOf(account, 'label')} (${textOf(account, 'id')}) ${what}`;
  answer(account, () => terminal.print(plain(line)));
}

/** By id, or by label where that is unique. @throws Error naming those that fit */
export async function findAccount({ client }: Context, name: string): Promise<JsonObject> {
  const accounts = objectsOf(await client.call('GET', '/api/accounts'), 'accounts');
  const byId = accounts.find(({ id }) => id === name);
  if (byId !== undefined) return byId;
  const lower = name.toLowerCase();
  const fitting = accounts.filter((account) => textOf(account, 'label').toLowerCase() === lower);
  const [found, ...more] = fitting;
  if (found === undefined) {
    throw new Error(`There is no account ${plain(name)}. "isthmus accounts list" shows them.`);
  }
  if (more.length === 0) return found;
  const ids = fitting.map((account) => textOf(account, 'id')).join(', ');
  const message = `${plain(name)} is the label of several accounts; name one by its id: ${plain(ids)}`;
  throw new Error(message);
}

async function accountPath(context: Context, name: string): Promise<string> {
  return pathOf(await findAccount(context, name));
}

function pathOf(account: JsonObject): string {
  return `/api/accounts/${encodePath(textOf(account, 'id'))}`;
}

function orDash(field: string): (account: JsonObject) => string {
  return (account) => textOf(account, field) || '-';
}

function sayState(account: JsonObject): string {
  const status = objectOf(account, 'status');
  const kind = textOf(status, 'kind');
  const reason = textOf(status, 'reason');
  if (kind === 'disabled' && account.origin === 'sandbox') return 'rests';
  if (kind !== 'active' || reason !== '') return reason === '' ? kind : `${kind} (${reason})`;
  const condition = objectOf(account, 'condition');
  const state = textOf(condition, 'state');
  if (state === 'untried') return 'not tried yet';
  if (state === 'degraded') return `degraded (${Math.round(Number(condition.share) * 100)} %)`;
  if (state !== 'healthy') return state.replace('-', ' ');
  const cooling = objectsOf(account, 'cooldowns');
  return cooling.length === 0 ? state : `${state}, ${cooling.length} models cooling down`;
}

function sayQuota(account: JsonObject): string {
  const quotas = objectsOf(account, 'quotas');
  const [least] = quotas.toSorted((left, right) => Number(left.percent) - Number(right.percent));
  return least === undefined ? '-' : `${textOf(least, 'percent')} % ${textOf(least, 'model')}`;
}
