// `isthmus doctor`: its flags, and what it is given.

import { Option } from 'commander';
import { readClientVariables, readEnvironment } from '../../config/env.ts';
import { type AddCommand, localCommand } from '../command.ts';
import type { FoundClient } from './clients.ts';
import type { DoctorFlags } from './doctor.ts';

export const addDoctorCommand: AddCommand = localCommand<DoctorFlags>({
  name: 'doctor',
  description:
    'look for what is wrong with machine, settings, gateway and clients, and say the way out',
  options: [
    new Option('--generate', 'also ask each account for a one-token answer, which costs that'),
    new Option('--url <address>', 'address of the gateway'),
    new Option('--password-file <file>', 'file of the console password'),
    new Option('--data-dir <folder>', 'folder whose settings name the gateway'),
  ],
  examples: [
    ['doctor', 'Ends with 1 when it finds an error, with 5 when it finds a warning.'],
    ['doctor --generate --json', 'With a real request to each account, for a script.'],
  ],
  load: async () => {
    const { examine } = await import('./doctor.ts');
    return (context, _argument, flags) =>
      examine({ ...context, readEnvironment, fetch, findClients: findInEnvironment }, flags);
  },
});

/** Programs of this shell that take their address from its variables. */
function findInEnvironment(): readonly FoundClient[] {
  return readClientVariables().map(({ id, name, variable, address, key, basePath }) => ({
    ...{ id, name, address, key, basePath },
    place: { kind: 'variable', name: variable },
    isInstalled: false,
  }));
}
