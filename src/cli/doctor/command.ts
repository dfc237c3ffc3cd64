// `isthmus doctor`: its flags, and what it is given.

import { Option } from 'commander';
import { readEnvironment } from '../../config/env.ts';
import { thisMachine } from '../clients/place.ts';
import { type AddCommand, localCommand } from '../command.ts';
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
    const [{ examine }, { findClients }] = await Promise.all([
      import('./doctor.ts'),
      import('./find-clients.ts'),
    ]);
    const found = () => findClients(thisMachine());
    return (context, _argument, flags) =>
      examine({ ...context, readEnvironment, fetch, findClients: found }, flags);
  },
});
