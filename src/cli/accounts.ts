// `isthmus accounts`: its commands and their flags.

import { Option } from 'commander';
import { type AddCommand, gatewayCommand } from './command.ts';
import { readWholeNumber } from './flag-values.ts';

/** Loaded when one is given: `serve` needs none of them. */
const commands = () => import('./admin-commands.ts');

const ACCOUNT = ['<account>', 'id or label of the account'] as const;
const GENERATE = new Option('--generate', 'also ask for a one-token answer, which costs that');
const FORMATS = ['export', 'refresh-tokens', 'service-accounts'] as const;

const COMMANDS: readonly AddCommand[] = [
  gatewayCommand({
    name: 'list',
    description: 'list the accounts with their state',
    isDefault: true,
    load: async () => (await commands()).listAccounts,
  }),
  gatewayCommand({
    name: 'add',
    description: 'add an account; asks for an API key unless another way is named',
    options: [
      new Option('--upstream <id>', 'the upstream; may be left out when there is one'),
      new Option('--key-file <file>', 'file of the API key; - is the standard input'),
      GENERATE,
      new Option('--add-anyway', 'store a key also when the upstream refuses it'),
      new Option('--oauth', 'sign in in a browser'),
      new Option('--manual', 'with --oauth: paste the answer, wait for no callback'),
      new Option('--account <name>', 'with --oauth: sign this account in again'),
      new Option('--service-account <file>', 'key file of a service account'),
      new Option('--refresh-token-file <file>', 'file of a refresh token; - is the standard input'),
      new Option('--label <text>', 'name of the account'),
      new Option('--project <id>', 'project of the account'),
      new Option('--tier <tier>', 'plan of the account').choices(['ultra', 'pro', 'free']),
      new Option('--priority <number>', 'higher goes first').argParser(readWholeNumber),
      new Option('--notes <text>', 'for people'),
      new Option('--proxy-file <file>', 'file of the proxy address of the account'),
    ],
    load: async () => (await commands()).addAccount,
  }),
  gatewayCommand({
    name: 'test',
    description: 'try credential, model list and quota of an account',
    argument: ACCOUNT,
    options: [GENERATE],
    load: async () => (await commands()).testAccount,
  }),
  gatewayCommand({
    name: 'enable',
    description: 'let an account serve again',
    argument: ACCOUNT,
    load: async () => (await commands()).switchAccount('enable'),
  }),
  gatewayCommand({
    name: 'disable',
    description: 'take an account out',
    argument: ACCOUNT,
    load: async () => (await commands()).switchAccount('disable'),
  }),
  gatewayCommand({
    name: 'remove',
    description: 'remove an account and its credential',
    argument: ACCOUNT,
    options: [
      new Option('--revoke', 'also take its grant back at the provider'),
      new Option('-y, --yes', 'do not ask'),
    ],
    load: async () => (await commands()).removeAccount,
  }),
  gatewayCommand({
    name: 'import',
    description: 'add many accounts at once',
    argument: ['<file>', 'the file; - is the standard input'],
    options: [
      new Option('--format <format>', 'what the file holds').choices(FORMATS).default('export'),
      new Option('--upstream <id>', 'where they belong; an export knows it itself'),
      new Option('--passphrase-file <file>', 'file of the passphrase of a sealed export'),
    ],
    load: async () => (await commands()).importAccounts,
  }),
  gatewayCommand({
    name: 'export',
    description: 'write the stored accounts, sealed with a passphrase',
    argument: ['<file>', 'a new file; - is the standard output'],
    options: [
      new Option('--passphrase-file <file>', 'file of the passphrase'),
      new Option('--force', 'replace the file when it is there'),
    ],
    load: async () => (await commands()).exportAccounts,
  }),
];

export const addAccountCommands: AddCommand = (program, parts) => {
  const accounts = program
    .command('accounts')
    .description('list, add, test and remove accounts of upstreams');
  for (const add of COMMANDS) add(accounts, parts);
};
