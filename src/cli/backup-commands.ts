// `isthmus backup` and `isthmus restore`: their flags.

import { Option } from 'commander';
import { readEnvironment } from '../config/env.ts';
import type { BackupFlags } from './backup.ts';
import { type AddCommand, localCommand } from './command.ts';
import type { RestoreFlags } from './restore.ts';

const DATA_DIR = new Option('--data-dir <folder>', 'the data folder');

const addBackup = localCommand<BackupFlags>({
  name: 'backup',
  description:
    'write database, settings and secret key of a data folder into one file, also while the gateway runs',
  argument: ['[file]', 'a new file, named by the time when absent; - is the standard output'],
  options: [
    DATA_DIR,
    new Option(
      '--passphrase-file <file>',
      'file of a passphrase that seals secret key and settings',
    ),
    new Option('--plain', 'have secret key and settings in it as they are').conflicts(
      'passphraseFile',
    ),
    new Option('--without-secret-key', 'leave the secret key out'),
    new Option('--force', 'replace the file when it is there'),
  ],
  examples: [
    ['backup isthmus.tar.gz --passphrase-file passphrase.txt', 'For a job that runs at night.'],
    ['backup - --plain', 'To the standard output, such as out of a container.'],
  ],
  load: async () => {
    const { makeBackup } = await import('./backup.ts');
    return (context, file, flags) =>
      makeBackup({ ...context, environment: readEnvironment() }, file, flags);
  },
});

const addRestore = localCommand<RestoreFlags>({
  name: 'restore',
  description: 'put a backup into an empty data folder, after checking all of it',
  argument: ['<file>', 'a file of isthmus backup; - is the standard input'],
  options: [
    DATA_DIR,
    new Option('--passphrase-file <file>', 'file of the passphrase that sealed it'),
    new Option('--force', 'replace what is in the data folder, and keep a copy of it there'),
    new Option('--check', 'check the backup alone, change nothing'),
  ],
  examples: [
    ['restore isthmus.tar.gz --data-dir ~/restored', 'Into a folder of its own.'],
    [
      'restore isthmus.tar.gz --check --passphrase-file passphrase.txt',
      'Whether it could be restored.',
    ],
  ],
  load: async () => {
    const { restoreBackup } = await import('./restore.ts');
    return (context, file, flags) =>
      restoreBackup({ ...context, environment: readEnvironment() }, file, flags);
  },
});

export const addBackupCommands: AddCommand = (program, parts) => {
  addBackup(program, parts);
  addRestore(program, parts);
};
