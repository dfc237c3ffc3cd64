// `isthmus connect` and `isthmus launch`: their flags, and what they are given.

import { Option } from 'commander';
import { resolveDataDir } from '../../config/effective.ts';
import { readEnvironment } from '../../config/env.ts';
import { createGatewayFetch, createHttpClient, findGateway } from '../admin-client.ts';
import { type AddCommand, CA, type LocalContext, localCommand } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import type { Said } from '../terminal.ts';
import type { ClientContext, ClientFlags } from './connect-client.ts';
import { thisMachine } from './place.ts';

const SET_UP_FLAGS: readonly Option[] = [
  new Option('--model <name>', 'the model it asks for'),
  new Option('--key-file <file>', 'file of an API key of the gateway; - is the standard input'),
  new Option('--key <key>', 'the key itself; other users of this machine may see it'),
  new Option('--url <address>', 'address of the gateway'),
  CA,
  new Option('--password-file <file>', 'file of the console password, where a key is to be made'),
  new Option('--data-dir <folder>', 'folder whose settings name the gateway, and of the record'),
];

type GivenFlags = ClientFlags & Said<'keyFile', string>;

const addConnect = localCommand<GivenFlags>({
  name: 'connect',
  description: 'write the gateway into the settings of clients; without one, list the clients',
  argument: ['[client]', 'the client, or sdk-openai, sdk-anthropic, sdk-google'],
  rest: ['[more...]', 'more clients'],
  options: [
    ...SET_UP_FLAGS,
    new Option('--undo', 'restore the previous settings'),
    new Option('--dry-run', 'only show the difference'),
    new Option('--scope <scope>', 'the settings of this user, or of the project here')
      .choices(['user', 'project'])
      .default('user'),
    // Not `--env-file`: node takes that one for itself, wherever it stands in a command line.
    new Option('--variables-file <file>', 'for an SDK: write its variables into this file'),
    new Option('-y, --yes', 'do not ask'),
  ],
  examples: [
    ['connect', 'Which clients are installed, and which are connected.'],
    ['connect claude-code', 'Shows what changes in its settings, asks, and writes it.'],
    ['connect claude-code codex gemini-cli --yes', 'Three at once, without a question.'],
    ['connect claude-code --undo', 'Restores the settings.'],
    [
      'connect sdk-openai --variables-file .env --yes',
      'OPENAI_BASE_URL and OPENAI_API_KEY in a file.',
    ],
  ],
  load: async () => {
    const { connectClient, findClient } = await import('./connect-client.ts');
    const { withKey } = await import('./client-gateway.ts');
    return async (context, id, flags, more) => {
      if (flags.json && more.length > 0) {
        throw new CommandError('usage', '--json answers for one client at a time.');
      }
      const clients = contextOf(context, flags);
      // An unknown name is refused before anything is written.
      for (const one of more) findClient(one);
      const asked = await withKey(flags, context.terminal);
      for (const one of [id, ...more]) await connectClient(clients, one, asked);
    };
  },
});

const addLaunch = localCommand<GivenFlags>({
  name: 'launch',
  description: 'start a client on the gateway, without changing its settings',
  argument: ['<client>', 'the client'],
  rest: ['[arguments...]', 'after --: arguments for the client'],
  options: SET_UP_FLAGS,
  examples: [
    ['launch claude-code', 'Claude Code on the gateway, this once.'],
    ['launch codex -- exec "Say hello."', 'With arguments of its own.'],
  ],
  load: async () => {
    const { prepareLaunch, start } = await import('./launch-client.ts');
    const { withKey } = await import('./client-gateway.ts');
    return async (context, id, flags, args) => {
      const client = contextOf(context, flags);
      const asked = await withKey(flags, context.terminal);
      process.exitCode = await start(await prepareLaunch(client, { id, args, flags: asked }));
    };
  },
});

export const addClientCommands: AddCommand = (program, parts) => {
  addConnect(program, parts);
  addLaunch(program, parts);
};

function contextOf({ terminal, answer }: LocalContext, flags: ClientFlags): ClientContext {
  const environment = readEnvironment();
  return {
    ...{ terminal, answer },
    dataDir: resolveDataDir(flags, environment),
    async findGateway() {
      const { url, password, trust } = await findGateway(flags, environment);
      const admin = createHttpClient({ url, password, trust });
      return { url, fetch: createGatewayFetch(trust), admin };
    },
    machine: thisMachine(),
  };
}
