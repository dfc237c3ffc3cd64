// `isthmus accounts list | show | test | enable | disable | remove`.

import type { JsonObject } from '../lib/json.ts';
import { encodePath } from './admin-client.ts';
import { type CommandContext, objectOf, objectsOf, plain, textOf, writeTable } from './terminal.ts';

export async function listAccounts({ client, terminal, isJson }: CommandContext): Promise<void> {
  const body = await client.call({ method: 'GET', path: '/api/accounts' });
  if (isJson) return terminal.print(JSON.stringify(body, null, 2));
  const accounts = objectsOf(body, 'accounts');
  if (accounts.length === 0)
    return terminal.note('There is no account. Add one: isthmus accounts add');
  const head = ['id', 'label', 'upstream', 'kind', 'tier', 'priority', 'state', 'least quota'];
  terminal.print(writeTable(head, accounts.map(accountRow)));
  for (const [wayOut, labels] of groupByWayOut(accounts)) {
    terminal.note(`\n${plain(`${labels.join(', ')}: ${wayOut}`)}`);
  }
}

/** What several accounts need is said once. */
function groupByWayOut(accounts: readonly JsonObject[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const account of accounts) {
    const wayOut = textOf(objectOf(account, 'status'), 'wayOut');
    if (wayOut === '') continue;
    groups.set(wayOut, [...(groups.get(wayOut) ?? []), textOf(account, 'label')]);
  }
  return groups;
}

export async function testAccount(
  context: CommandContext,
  name: string,
  { generate = false }: { readonly generate?: boolean | undefined } = {},
): Promise<void> {
  const { client, terminal, isJson } = context;
  const path = await accountPath(context, name);
  const body = await client.call({ method: 'POST', path: `${path}/test`, body: { generate } });
  if (body.isUsable !== true) terminal.setFailed();
  if (isJson) return terminal.print(JSON.stringify(body, null, 2));
  const rows = objectsOf(body, 'steps').map((step) => [
    step.isGood === true ? 'good' : 'bad',
    textOf(step, 'name'),
    `${textOf(step, 'durationMs')} ms`,
    textOf(step, 'message'),
  ]);
  terminal.print(writeTable(['', 'step', 'took', 'result'], rows));
  terminal.note(
    body.isUsable === true
      ? generate
        ? 'The account answers.'
        : 'Its credential is accepted. Whether it answers shows --generate, at the cost of one token.'
      : 'The account cannot be used.',
  );
}

export async function switchAccount(
  context: CommandContext,
  name: string,
  action: 'enable' | 'disable',
): Promise<void> {
  const path = await accountPath(context, name);
  const body = await context.client.call({ method: 'POST', path: `${path}/${action}` });
  printAccount(context, body, action === 'enable' ? 'is enabled.' : 'is disabled.');
}

export interface RemoveFlags {
  readonly revoke?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

export async function removeAccount(
  context: CommandContext,
  name: string,
  { revoke = false, yes = false }: RemoveFlags,
): Promise<void> {
  const { client, terminal, isJson } = context;
  const account = await findAccount(context, name);
  const label = plain(textOf(account, 'label'));
  if (!yes) {
    if (!terminal.isInteractive)
      throw new Error('Nobody can be asked here: say --yes to remove it.');
    const answer = await terminal.ask(`Remove ${label} and its credential? [y/N] `);
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new Error('Nothing was removed.');
  }
  const path = `/api/accounts/${encodePath(textOf(account, 'id'))}${revoke ? '?revoke=true' : ''}`;
  const body = await client.call({ method: 'DELETE', path });
  if (isJson)
    return terminal.print(JSON.stringify({ removed: account.id ?? null, ...body }, null, 2));
  terminal.print(`${label} is removed.`);
  if (!revoke) return;
  const reason = textOf(body, 'reason');
  const revocation = textOf(body, 'revocation');
  terminal.note(
    revocation === 'revoked'
      ? 'Its grant was taken back at the provider.'
      : plain(`Its grant still stands at the provider: ${reason}`),
  );
}

/** The account, in a line or as JSON. */
export function printAccount(
  { terminal, isJson }: CommandContext,
  account: JsonObject,
  what: string,
): void {
  const line = plain(`${textOf(account, 'label')} (${textOf(account, 'id')}) ${what}`);
  terminal.print(isJson ? JSON.stringify(account, null, 2) : line);
}

/** By id, or by label where that is unique. @throws Error naming those that fit */
export async function findAccount({ client }: CommandContext, name: string): Promise<JsonObject> {
  const body = await client.call({ method: 'GET', path: '/api/accounts' });
  const accounts = objectsOf(body, 'accounts');
  const byId = accounts.find(({ id }) => id === name);
  if (byId !== undefined) return byId;
  const lower = name.toLowerCase();
  const [found, ...more] = accounts.filter(
    (account) => textOf(account, 'label').toLowerCase() === lower,
  );
  if (found === undefined) {
    throw new Error(`There is no account ${plain(name)}. "isthmus accounts list" shows them.`);
  }
  if (more.length === 0) return found;
  const ids = [found, ...more].map((account) => textOf(account, 'id')).join(', ');
  throw new Error(
    `${plain(name)} is the label of several accounts; name one by its id: ${plain(ids)}`,
  );
}

async function accountPath(context: CommandContext, name: string): Promise<string> {
  const account = await findAccount(context, name);
  return `/api/accounts/${encodePath(textOf(account, 'id'))}`;
}

function accountRow(account: JsonObject): string[] {
  const columns = ['id', 'label', 'upstream', 'kind', 'tier', 'priority'];
  return [
    ...columns.map((field) => textOf(account, field) || '-'),
    sayState(account),
    sayQuota(account),
  ];
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
