// `isthmus status`: whether a gateway runs, what it does now, and what needs attention.

import type { JsonObject } from '../lib/json.ts';
import type { ConnectFlags } from './admin-client.ts';
import { type AddCommand, type Context, gatewayCommand } from './command.ts';
import { objectOf, objectsOf, plain, textOf } from './terminal.ts';

export const addStatusCommand: AddCommand = gatewayCommand({
  name: 'status',
  description: 'show whether the gateway runs, its accounts and what needs attention',
  examples: [
    [
      'status',
      'Ends with 0 when all is well, 5 when something needs attention, 1 when it cannot serve, 3 when nothing runs.',
    ],
    [
      'status --json --url http://gateway.internal:8045 --password-file password.txt',
      'The same of another machine, for a script.',
    ],
  ],
  load: async () => showStatus,
});

async function showStatus(
  { client, terminal, clock, answer }: Context,
  _argument: string,
  { local = false }: ConnectFlags,
): Promise<void> {
  const overview = await client.call('GET', '/api/overview');
  const { status = null, version = null, address = null, attention = [] } = overview;
  if (status === 'trouble') terminal.setFailed();
  else if (status === 'attention') terminal.setAttention();
  const startedAt = Number(overview.startedAt);
  const uptimeSeconds = Math.max(0, Math.floor((clock.now() - startedAt) / 1000));
  const live = objectOf(overview, 'live');
  const accounts = objectOf(overview, 'accounts');
  const body = { status, version, address, startedAt, uptimeSeconds, live, accounts, attention };
  answer(body, () => {
    const accountLine = `  Accounts  ${sayAccounts(accounts, overview.isSandbox === true)}`;
    const own = [`isthmus ${version} runs for this command alone, on the data folder`, accountLine];
    const running = [
      `isthmus ${version} runs at ${address}, for ${sayUptime(uptimeSeconds)}`,
      accountLine,
      `  Requests  ${textOf(live, 'inFlight')} in flight; in the last minute ${textOf(live, 'requestsPerMinute')}, ${textOf(live, 'errorsPerMinute')} of them failed`,
      `  Tokens    ${textOf(live, 'tokensPerMinute')} in the last minute`,
    ];
    terminal.print((local ? own : running).map(plain).join('\n'));
    for (const entry of objectsOf(overview, 'attention')) terminal.print(sayAttention(entry));
  });
}

const ACCOUNT_STATES = ['usable', 'untried', 'failing', 'cooling', 'disabled'] as const;

function sayAccounts(accounts: JsonObject, isSandbox: boolean): string {
  const states = ACCOUNT_STATES.filter((state) => Number(accounts[state]) > 0);
  const parts = states.map((state) => `${textOf(accounts, state)} ${state}`);
  const total = `${textOf(accounts, 'total')}${isSandbox ? ' of the built-in sandbox' : ''}`;
  return parts.length === 0 ? total : `${total}: ${parts.join(', ')}`;
}

function sayAttention(entry: JsonObject): string {
  const text = `${textOf(entry, 'severity')}: ${textOf(entry, 'message')} ${textOf(entry, 'wayOut')}`;
  return plain(text);
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** The two largest units. */
function sayUptime(seconds: number): string {
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  if (first === -1) return '0 s';
  let rest = seconds;
  const parts = UNITS.slice(first, first + 2).map(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest %= length;
    return `${count} ${unit}`;
  });
  return parts.join(' ');
}
